import { canonicalJson, type Json, parseCanonical } from "../core/canonical_json.ts";
import type { Digest } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import type { BlobReader } from "../store/blob_reader.ts";
import type { Run } from "../store/read_run.ts";
import { inPlace, type VerifyCode } from "./verify_code.ts";
import type { OutputName } from "./verify_subject.ts";

/** The largest blob that is taken into memory whole, in bytes. Traces and tasks are read line by line instead. */
export const MAX_RECORD = 16 * 1024 * 1024;
/** The largest configuration, in bytes. */
export const MAX_CONFIG = 1024 * 1024;

/** The recorded digest of an output. The structure step has made sure that it is there. */
export function digestOfOutput(run: Run, { node, output }: OutputName): Digest {
  const found = run.dag.nodes.find(({ id }) => id === node)?.outputs[output];
  if (found === undefined) throw new TypeError(`the plan names ${node}/${output}, which the run lacks`);
  return found.digest;
}

/**
 * The bytes of an output, hashed again.
 *
 * @param limit most bytes
 * @throws TracewrightError "blob_too_large"
 */
export function bytesOf(run: Run, name: OutputName, limit = MAX_RECORD): Uint8Array<ArrayBuffer> {
  return bounded(run.open(digestOfOutput(run, name)), { ...name }, limit);
}

/**
 * The record that an output is.
 *
 * @throws TracewrightError "blob_too_large", "not_canonical"
 */
export function recordOf(run: Run, name: OutputName): Json {
  const bytes = bytesOf(run, name);
  return inPlace({ ...name }, () => parseCanonical(bytes));
}

/**
 * The configuration that a run says it follows.
 *
 * @throws TracewrightError "blob_too_large", "not_canonical"
 */
export function configOf(run: Run): Json {
  const place = { what: "config" };
  const bytes = bounded(run.open(run.dag.config), place, MAX_CONFIG);
  return inPlace(place, () => parseCanonical(bytes));
}

function bounded(
  blob: BlobReader,
  place: { readonly [where: string]: string },
  limit: number,
): Uint8Array<ArrayBuffer> {
  if (blob.size <= limit) return blob.bytes();
  throw new TracewrightError<"verify", VerifyCode>("blob_too_large", {
    ...place,
    expected: `at most ${limit} bytes`,
    actual: blob.size,
  });
}

/** The lines of an output, hashed again; not all in memory. */
export function linesOf(run: Run, name: OutputName): Iterable<string> {
  return run.open(digestOfOutput(run, name)).lines();
}

/** A value as JSON that has been through text, as records have. */
export function asJson(value: unknown): Json {
  return JSON.parse(canonicalJson(value)) as Json;
}
