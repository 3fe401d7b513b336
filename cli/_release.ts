import { z } from "zod";
import { parseCanonical } from "../lib/core/canonical_json.ts";
import { schemaProblem } from "../lib/core/schema_problem.ts";
import { type Digest, digestOf, DigestWriter } from "../lib/core/digest.ts";
import { digestSchema } from "../lib/store/action_record.ts";
import { verifyEnvelope } from "../lib/store/dsse.ts";
import { diskLayer, type FileLayer } from "../lib/store/file_layer.ts";
import { readVerifyingKey } from "../lib/store/signing_key.ts";
import { PROVENANCE, TEST_RESULT } from "../lib/store/statement.ts";
import { unpackBundle } from "../lib/store/unpack_bundle.ts";
import type { VerifyResult } from "../lib/verify/verify_run.ts";
import { releaseError } from "./_release_error.ts";
import { usageError } from "./_usage_error.ts";

/** Schema id of the list of releases. */
export const ALLOWLIST_SCHEMA = "tracewright.release-allowlist.v1";
/** The list, in the folder of the releases. */
export const ALLOWLIST_FILE = "allowlist.json";
/** Largest list, in bytes. */
const MAX_ALLOWLIST = 1024 * 1024;

const fileName = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,99}$/);
const size = z.int().positive();

const pinsSchema = z.strictObject({
  /** The file as it lies there, and the archive inside, whose digest is the bundle's identity. */
  bundle: z.strictObject({
    name: fileName,
    size_bytes: size,
    digest: digestSchema,
    archive: z.strictObject({ digest: digestSchema, size_bytes: size, members: size }),
  }),
  run: z.strictObject({ run_id: digestSchema, result_id: digestSchema }),
  signer: z.strictObject({ name: fileName, digest: digestSchema }),
  verification: z.strictObject({ steps: z.array(z.string()).min(1), decisions: size }),
});
const allowlistSchema = z.strictObject({
  schema: z.literal(ALLOWLIST_SCHEMA),
  releases: z.record(fileName, pinsSchema),
});

/** What the program knows of a release before it looks at it. */
export type ReleasePins = Readonly<z.infer<typeof pinsSchema>>;

/** What a release was checked with. Nothing of it comes from the release. */
export interface CheckReleaseOptions {
  readonly release: string;
  /** Folder of the list, the bundles and the public keys. */
  readonly folder: string;
  /** A folder to work in that does not exist; it is gone afterwards. */
  readonly workspace: string;
  /** Verifies a run by its manifest. */
  verify(manifest: string): Promise<VerifyResult>;
  /** Called before each part of the work, for people. */
  note?(line: string): void;
  /** Where the workspace lies. */
  readonly layer?: FileLayer;
}

/** A release in which everything is as it should be. */
export interface CheckedRelease {
  readonly pins: ReleasePins;
  readonly result: VerifyResult;
  readonly key_id: string;
}

/**
 * The pins of one release, from the list.
 *
 * @throws TracewrightError "bad_allowlist" where the list is not canonical JSON of exactly this form, "unknown_release"
 */
export function pinsOf(release: string, list: Uint8Array): ReleasePins {
  let releases;
  try {
    releases = allowlistSchema.parse(parseCanonical(list)).releases;
  } catch (cause) {
    const { field, message } = schemaProblem(cause);
    throw releaseError("bad_allowlist", {
      message: `the list of releases is not as it must be: ${message}`,
      field,
      cause,
    });
  }
  const pins = Object.hasOwn(releases, release) ? releases[release] : undefined;
  if (pins !== undefined) return pins;
  throw usageError("unknown_release", {
    message: "this version of the program knows no such release",
    expected: `one of ${Object.keys(releases).join(", ")}`,
    actual: release,
  });
}

function agree<T>(field: string, { expected, actual }: { expected: T; actual: T }): void {
  if (JSON.stringify(expected) === JSON.stringify(actual)) return;
  throw releaseError("release_mismatch", {
    message: "the release is not what this version of the program knows it to be",
    field,
    expected,
    actual,
  });
}

function fileDigest(path: string): Digest {
  using file = diskLayer.open(path);
  const hash = new DigestWriter();
  const buffer = new Uint8Array(1024 * 1024);
  for (let count = file?.read(buffer) ?? 0; count > 0; count = file?.read(buffer) ?? 0) {
    hash.write(buffer.subarray(0, count));
  }
  return hash.finish();
}

function required(path: string, limit: number): Uint8Array<ArrayBuffer> {
  const facts = diskLayer.facts(path);
  const bytes = facts?.kind === "file" && facts.size <= limit ? diskLayer.read(path) : undefined;
  if (bytes !== undefined) return bytes;
  throw releaseError("bad_allowlist", {
    message: "a file of the releases is not there, or is no file of a sensible size",
    path,
    hint: "releases are checked from a checkout of the repository, which holds them",
  });
}

/**
 * Checks a release in this order, and stops at the first thing that is wrong: the pins, by name; size and digest of the
 * file, before a byte of it is decompressed; the key; the archive with every member while it is written; identity of
 * archive, run and result; who signed, and what; then all of `verify`.
 *
 * @throws TracewrightError "bad_allowlist", "unknown_release", "release_mismatch", "missing_attestation",
 * "unknown_signer", "bad_signature", and the codes of `unpackBundle` and `verify`
 */
export async function checkRelease(options: CheckReleaseOptions): Promise<CheckedRelease> {
  const { release, folder, workspace, note = () => {}, layer = diskLayer } = options;
  const pins = pinsOf(release, required(`${folder}/${ALLOWLIST_FILE}`, MAX_ALLOWLIST));
  const file = `${folder}/${pins.bundle.name}`;

  note("bundle …");
  const facts = diskLayer.facts(file);
  agree("bundle", { expected: "file", actual: facts?.kind ?? "absent" });
  agree("bundle.size_bytes", { expected: pins.bundle.size_bytes, actual: facts?.size });
  agree("bundle.digest", { expected: pins.bundle.digest, actual: fileDigest(file) });
  const pem = required(`${folder}/${pins.signer.name}`, 16 * 1024);
  agree("signer.digest", { expected: pins.signer.digest, actual: digestOf(pem) });
  const key = await readVerifyingKey(new TextDecoder().decode(pem));

  try {
    note("members …");
    const { path, runId, resultId, archive, attestations } = await unpackBundle({
      bundle: file,
      target: `${workspace}/run`,
      layer,
      limits: {
        file: pins.bundle.size_bytes,
        size: pins.bundle.archive.size_bytes,
        members: pins.bundle.archive.members,
      },
    });
    const actual = { digest: archive.digest, size_bytes: archive.size, members: archive.members };
    agree("bundle.archive", { expected: sorted(pins.bundle.archive), actual: sorted(actual) });
    agree("run.run_id", { expected: pins.run.run_id, actual: runId });
    agree("run.result_id", { expected: pins.run.result_id, actual: resultId });

    note("signatures …");
    for (const { envelope } of attestations) await verifyEnvelope(envelope, key);
    for (const predicate of [PROVENANCE, TEST_RESULT]) {
      if (attestations.some(({ statement }) => statement.predicateType === predicate)) continue;
      throw releaseError("missing_attestation", {
        message: "a release states where it comes from and that it was verified",
        expected: predicate,
        actual: attestations.map(({ statement }) => statement.predicateType),
      });
    }

    const result = await options.verify(`${path}/manifest.json`);
    agree("run.run_id", { expected: pins.run.run_id, actual: result.run_id });
    agree("run.result_id", { expected: pins.run.result_id, actual: result.result_id });
    agree("verification", {
      expected: sorted(pins.verification),
      actual: sorted({ steps: result.steps.map(({ step }) => step), decisions: result.decisions }),
    });
    return { pins, result, key_id: key.id };
  } finally {
    layer.removeTree(workspace);
  }
}

function sorted(record: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
