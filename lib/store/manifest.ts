import { z } from "zod";
import { canonicalBytes, type Json, parseCanonical } from "../core/canonical_json.ts";
import { type Digest, digestOf, digestOfJson } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import {
  ACTION_SCHEMA,
  type ActionKey,
  type ActionRecord,
  digestSchema,
  type Outputs,
  type Params,
  paramsSchema,
  type StageIdentity,
  stageIdentitySchema,
  typedDescriptorSchema,
} from "./action_record.ts";
import { foldersOf } from "./folders_of.ts";
import { parseRunName } from "./run_name.ts";
import { type StoreCode, storeError } from "./store_error.ts";

/** Schema id of a DAG manifest. */
export const DAG_SCHEMA = "tracewright.dag.v1";
/** Largest DAG manifest, in bytes. */
export const MAX_MANIFEST = 16 * 1024 * 1024;
/** Most nodes in one DAG. */
export const MAX_NODES = 10_000;
/** What an input may come from besides a node. No node id may be one of these or lie below one. */
export const OUTSIDE_PRODUCERS = ["config", "source"] as const;

/** One input of a node: its content, and the node it came from, or `config`, or `source` for content from outside. */
export interface DagInput {
  readonly digest: Digest;
  readonly producer: string;
}

/** One stage that has been run. */
export interface DagNode {
  /** E.g. `bc/17`. */
  readonly id: string;
  readonly key: ActionKey;
  readonly stage: StageIdentity;
  readonly params: Params;
  readonly inputs: { readonly [name: string]: DagInput };
  readonly outputs: Outputs;
}

/** A finished experiment: which stages made what from what. Nothing in it depends on where or when it was made. */
export interface DagManifest {
  readonly schema: typeof DAG_SCHEMA;
  /** The canonical configuration, a blob. */
  readonly config: Digest;
  /** Ids of the exact arithmetic in force, sorted; part of every key. */
  readonly numerics: readonly string[];
  /** In topological order. */
  readonly nodes: readonly DagNode[];
  /** Ids of the nodes the experiment was run for, sorted. */
  readonly roots: readonly string[];
  /** Readable copies in the run folder: path to content; null where a view is made for people and not covered. */
  readonly views: { readonly [path: string]: Digest | null };
}

const dagSchema = z.strictObject({
  schema: z.literal(DAG_SCHEMA),
  config: digestSchema,
  numerics: z.array(z.string().min(1)),
  nodes: z.array(z.strictObject({
    id: z.string(),
    key: digestSchema.transform((digest) => digest as ActionKey),
    stage: stageIdentitySchema,
    params: paramsSchema,
    inputs: z.record(z.string(), z.strictObject({ digest: digestSchema, producer: z.string() })),
    outputs: z.record(z.string(), typedDescriptorSchema),
  })).max(MAX_NODES),
  roots: z.array(z.string()),
  views: z.record(z.string(), digestSchema.nullable()),
});

/**
 * Reads a DAG manifest strictly: size, canonical form, fields, names, order and references. Whether keys and blobs
 * are right is for later steps.
 *
 * @throws TracewrightError "too_large", "not_canonical", "bad_manifest", "path_not_allowed"
 */
export function parseDagManifest(bytes: Uint8Array): DagManifest {
  const value = parseStrictJson(bytes, "DAG manifest");
  const parsed = dagSchema.safeParse(value);
  if (!parsed.success) {
    throw badManifest("the DAG manifest does not have the right form", parsed.error, value);
  }
  checkDag(parsed.data);
  if (digestOfJson(parsed.data) !== digestOf(bytes)) refuse("a field was read as something else", {});
  return parsed.data;
}

/** The canonical bytes of a DAG manifest, after the same checks as {@link parseDagManifest}. */
export function dagManifestBytes(dag: DagManifest): Uint8Array<ArrayBuffer> {
  const bytes = canonicalBytes(dag);
  parseDagManifest(bytes);
  return bytes;
}

/** The action a node stands for; its digest must be the node's key. */
export function actionOf(node: DagNode, numerics: readonly string[]): ActionRecord {
  const inputs: Record<string, Digest> = {};
  for (const [name, input] of Object.entries(node.inputs)) inputs[name] = input.digest;
  return { schema: ACTION_SCHEMA, stage: node.stage, numerics, params: node.params, inputs };
}

/** True for a node id that could be taken for something from outside. */
export function isReservedId(id: string): boolean {
  return (OUTSIDE_PRODUCERS as readonly string[]).includes(id.split("/", 1)[0]!);
}

/** Output digests by `<node id>/<output name>`. */
export function outputDigests(dag: DagManifest): { [title: string]: Digest } {
  const digests: Record<string, Digest> = {};
  for (const node of dag.nodes) {
    for (const [name, output] of Object.entries(node.outputs)) digests[`${node.id}/${name}`] = output.digest;
  }
  return digests;
}

/** The identity of what an experiment found: the digest of canonical {config, output digests by name}; no code in it. */
export function resultId(dag: DagManifest): Digest {
  return digestOfJson({ config: dag.config, outputs: outputDigests(dag) });
}

/**
 * Canonical JSON of bounded size from outside.
 *
 * @throws TracewrightError "too_large", "not_canonical"
 */
export function parseStrictJson(bytes: Uint8Array, what: string): Json {
  if (bytes.length > MAX_MANIFEST) {
    throw storeError("too_large", { what, expected: `at most ${MAX_MANIFEST} bytes`, actual: bytes.length });
  }
  try {
    return parseCanonical(bytes);
  } catch (cause) {
    const details = cause instanceof TracewrightError ? cause.details : {};
    throw storeError("not_canonical", {
      ...details,
      message: `the ${what} is not canonical JSON${details.message ? `: ${details.message}` : ""}`,
      what,
      cause,
    });
  }
}

/** A `bad_manifest` that names the first field zod objects to, and what stands there. */
export function badManifest(
  message: string,
  cause: z.ZodError,
  value: Json,
): TracewrightError<"store", StoreCode> {
  const issue = cause.issues[0];
  let actual: unknown = value;
  for (const key of issue?.path ?? []) actual = (actual as { readonly [key: PropertyKey]: unknown })[key];
  return storeError("bad_manifest", {
    message,
    field: issue?.path.join(".") ?? "",
    expected: issue?.message.replace(/^Invalid input: expected /, "") ?? "another form",
    actual,
    cause,
  });
}

function refuse(message: string, place: { readonly [where: string]: unknown }): never {
  throw storeError("bad_manifest", { message, ...place });
}

function checkSorted(names: readonly string[], field: string): void {
  for (let i = 1; i < names.length; i++) {
    if (!(names[i - 1]! < names[i]!)) {
      refuse("a list is not sorted or repeats itself", { field, actual: names[i] });
    }
  }
}

function checkDag(dag: DagManifest): void {
  const producedBy = new Map<string, ReadonlySet<Digest>>();
  const titles = new Set<string>();
  const digests = new Set<Digest>([dag.config]);
  for (const node of dag.nodes) {
    parseRunName(node.id, { field: "id" });
    if (producedBy.has(node.id)) refuse("two nodes have one id", { node: node.id });
    if (isReservedId(node.id)) refuse("an id is reserved", { node: node.id });
    for (const [name, { digest, producer }] of Object.entries(node.inputs)) {
      const place = { node: node.id, input: name };
      parseRunName(name, place);
      digests.add(digest);
      if (producer === "source") {
        const title = `source/${node.id}/${name}`;
        if (titles.has(title)) refuse("two inputs from outside have one name", { actual: title });
        titles.add(title);
        continue;
      }
      if (producer === "config") {
        if (digest !== dag.config) {
          refuse("an input is not the configuration it names", {
            ...place,
            expected: dag.config,
            actual: digest,
          });
        }
        continue;
      }
      const produced = producedBy.get(producer);
      if (produced === undefined) {
        refuse("an input comes from no earlier node", { ...place, actual: producer });
      }
      if (!produced.has(digest)) {
        refuse("its producer did not make an input", { ...place, producer, actual: digest });
      }
    }
    const outputs = new Set<Digest>();
    for (const [name, output] of Object.entries(node.outputs)) {
      parseRunName(name, { node: node.id, field: "outputs" });
      const title = `${node.id}/${name}`;
      if (titles.has(title)) refuse("two outputs have one name", { actual: title });
      titles.add(title);
      outputs.add(output.digest);
      digests.add(output.digest);
    }
    producedBy.set(node.id, outputs);
  }
  checkSorted(dag.numerics, "numerics");
  checkSorted(dag.roots, "roots");
  for (const root of dag.roots) if (!producedBy.has(root)) refuse("a root is no node", { actual: root });
  const folders = foldersOf(Object.keys(dag.views));
  for (const [path, digest] of Object.entries(dag.views)) {
    parseRunName(path, { field: "views" });
    if (/^(blobs|oci-layout|index\.json|manifest\.json)(\/|$)/.test(path)) {
      refuse("a view takes the place of a part of the layout", { actual: path });
    }
    if (folders.has(path)) refuse("a view lies below another", { actual: path });
    if (digest !== null && !digests.has(digest)) {
      refuse("a view shows what the run does not hold", { view: path, actual: digest });
    }
  }
}
