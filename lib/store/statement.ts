import { z } from "zod";
import { canonicalBytes, canonicalJson, parseCanonical } from "../core/canonical_json.ts";
import { type Digest, hexOf } from "../core/digest.ts";
import { schemaProblem } from "../core/schema_problem.ts";
import { bundleError } from "./bundle_error.ts";
import type { DagManifest } from "./manifest.ts";

/** Predicate of a statement on how a run was made (slsa.dev/spec/v1.0/provenance). */
export const PROVENANCE = "https://slsa.dev/provenance/v1";
/** Predicate of a statement on what a verifier found (in-toto attestation framework, predicates/test-result.md). */
export const TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1";
/** What a run is built by, in SLSA's words: the format of the DAG says which parameters there are. */
export const BUILD_TYPE = "pkg:npm/%40tracewright/tracewright#experiment/v1";
/** The file that statements are about. */
const SUBJECT = "manifest.json";

/** The identity of a version of this program, a package URL. */
export function programUri(version: string): string {
  return `pkg:npm/%40tracewright/tracewright@${version}`;
}

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const sha256 = z.strictObject({ sha256: hex });
const named = z.strictObject({ name: z.string().min(1), digest: sha256 });
const version = z.string().regex(/^pkg:npm\/%40tracewright\/tracewright@[0-9A-Za-z.+-]+$/);

/** A moment that the caller stated, in UTC: RFC 3339 with whole seconds. */
export const momentSchema = z.string().regex(/^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\dZ$/);

const provenanceSchema = z.strictObject({
  buildDefinition: z.strictObject({
    buildType: z.literal(BUILD_TYPE),
    externalParameters: z.strictObject({ config: sha256, roots: z.array(z.string()) }),
    internalParameters: z.strictObject({ numerics: z.array(z.string()) }),
    resolvedDependencies: z.array(named),
  }),
  runDetails: z.strictObject({
    builder: z.strictObject({ id: version }),
    metadata: z.strictObject({ invocationId: hex, finishedOn: momentSchema.optional() }),
    byproducts: z.tuple([z.strictObject({ name: z.literal("result_id"), digest: sha256 })]),
  }),
});

const testResultSchema = z.strictObject({
  result: z.enum(["PASSED", "WARNED"]),
  configuration: z.tuple([
    z.strictObject({
      name: z.literal("verifier"),
      uri: version,
      annotations: z.strictObject({
        runtime: z.string(),
        decisions: z.int().nonnegative(),
        result_id: hex,
        other_code: z.array(z.string()),
      }),
    }),
    z.strictObject({ name: z.literal("codes.json"), digest: sha256 }),
  ]),
  passedTests: z.array(z.string()),
  warnedTests: z.array(z.string()),
  failedTests: z.tuple([]),
});

const head = {
  _type: z.literal("https://in-toto.io/Statement/v1"),
  subject: z.tuple([z.strictObject({ name: z.literal(SUBJECT), digest: sha256 })]),
};
const statementSchema = z.discriminatedUnion("predicateType", [
  z.strictObject({ ...head, predicateType: z.literal(PROVENANCE), predicate: provenanceSchema }),
  z.strictObject({ ...head, predicateType: z.literal(TEST_RESULT), predicate: testResultSchema }),
]);

/** An in-toto statement (v1) about a run, of one of the two kinds this program makes. */
export type Statement = Readonly<z.infer<typeof statementSchema>>;

/** What a statement says of a run, besides what the run says of itself. */
export interface ProvenanceFacts {
  /** Of this program. */
  readonly version: string;
  /** RFC 3339 in UTC. Nothing is stated without it: a program may not believe the clock it happens to run beside. */
  readonly finishedOn?: string;
}

/** A run as statements name it. */
export interface StatementSubject {
  readonly runId: Digest;
  readonly resultId: Digest;
  readonly dag: DagManifest;
}

/** What a verification found. */
export interface Verdict {
  readonly version: string;
  readonly runtime: string;
  /** Digest of the code digests that the verifier compared with. */
  readonly codes: Digest;
  /** Decisions made again and found equal. */
  readonly decisions: number;
  readonly passed: readonly string[];
  readonly skipped: readonly string[];
  /** Stages that other code made. */
  readonly otherCode: readonly string[];
}

function subjectOf(runId: Digest): Statement["subject"] {
  return [{ name: SUBJECT, digest: { sha256: hexOf(runId) } }];
}

/**
 * SLSA provenance of a run: the configuration and the roots it was run for; and as dependencies the configuration, the
 * code of every stage and all content from outside. The same run and facts give the same bytes.
 */
export function provenanceStatement(run: StatementSubject, facts: ProvenanceFacts): Uint8Array<ArrayBuffer> {
  const { dag, runId, resultId } = run;
  const dependencies = new Map<string, string>([["config.json", hexOf(dag.config)]]);
  for (const { id, stage, inputs } of dag.nodes) {
    dependencies.set(`stage/${stage.name}@${stage.version}`, hexOf(stage.code));
    for (const [name, { digest, producer }] of Object.entries(inputs)) {
      if (producer === "source") dependencies.set(`source/${id}/${name}`, hexOf(digest));
    }
  }
  return statementBytes({
    _type: "https://in-toto.io/Statement/v1",
    subject: subjectOf(runId),
    predicateType: PROVENANCE,
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { config: { sha256: hexOf(dag.config) }, roots: [...dag.roots] },
        internalParameters: { numerics: [...dag.numerics] },
        resolvedDependencies: [...dependencies].map(([name, sha256]) => ({ name, digest: { sha256 } }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      },
      runDetails: {
        builder: { id: programUri(facts.version) },
        metadata: {
          invocationId: hexOf(runId),
          ...(facts.finishedOn === undefined ? {} : { finishedOn: facts.finishedOn }),
        },
        byproducts: [{ name: "result_id", digest: { sha256: hexOf(resultId) } }],
      },
    },
  });
}

/** The in-toto test result of a verification that passed; `WARNED` where other code gave the same bytes. */
export function testResultStatement(run: StatementSubject, verdict: Verdict): Uint8Array<ArrayBuffer> {
  const warned = verdict.otherCode.length > 0;
  return statementBytes({
    _type: "https://in-toto.io/Statement/v1",
    subject: subjectOf(run.runId),
    predicateType: TEST_RESULT,
    predicate: {
      result: warned ? "WARNED" : "PASSED",
      configuration: [
        {
          name: "verifier",
          uri: programUri(verdict.version),
          annotations: {
            runtime: verdict.runtime,
            decisions: verdict.decisions,
            result_id: hexOf(run.resultId),
            other_code: [...verdict.otherCode],
          },
        },
        { name: "codes.json", digest: { sha256: hexOf(verdict.codes) } },
      ],
      passedTests: verdict.passed.filter((step) => !(warned && step === "keys")),
      warnedTests: warned ? ["keys"] : [],
      failedTests: [],
    },
  });
}

function statementBytes(statement: Statement): Uint8Array<ArrayBuffer> {
  return canonicalBytes(statementSchema.parse(statement));
}

/**
 * Reads a statement strictly and compares it with the run it lies beside: subject, result, and for a provenance all of it.
 *
 * @throws TracewrightError "bad_attestation"
 */
export function parseStatement(bytes: Uint8Array, run: StatementSubject): Statement {
  let statement: Statement;
  try {
    statement = statementSchema.parse(parseCanonical(bytes));
  } catch (cause) {
    const { field, message } = schemaProblem(cause);
    throw bundleError("bad_attestation", {
      message: `this is not a statement that tracewright makes: ${message}`,
      field,
      cause,
    });
  }
  const agree = (field: string, expected: string, actual: string) => {
    if (expected === actual) return;
    throw bundleError("bad_attestation", {
      message: "a statement says of the run what is not so",
      predicate: statement.predicateType,
      field,
      expected,
      actual,
    });
  };
  agree("subject", hexOf(run.runId), statement.subject[0].digest.sha256);
  if (statement.predicateType === TEST_RESULT) {
    const [{ annotations }] = statement.predicate.configuration;
    agree("result_id", hexOf(run.resultId), annotations.result_id);
  } else {
    const { builder, metadata } = statement.predicate.runDetails;
    const facts = {
      version: builder.id.slice(builder.id.lastIndexOf("@") + 1),
      ...(metadata.finishedOn === undefined ? {} : { finishedOn: metadata.finishedOn }),
    };
    const expected = new TextDecoder().decode(provenanceStatement(run, facts));
    agree("predicate", expected, canonicalJson(statement));
  }
  return statement;
}
