import { type Json, parseCanonical } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import { type ErrorDetails, TracewrightError } from "../core/error.ts";
import { jsonDifference } from "../core/json_difference.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import type { BenchmarkCode } from "./_error.ts";
import { publicAudit } from "./public_audit.ts";

function mismatch(details: ErrorDetails): never {
  throw new TracewrightError<"benchmark", BenchmarkCode>("audit_mismatch", {
    hint: "the rule, played again over the same tasks, gives something else; the file was edited",
    ...details,
  });
}

function read(bytes: Uint8Array, place: Readonly<Record<string, unknown>>): Json {
  try {
    return parseCanonical(bytes);
  } catch (cause) {
    return mismatch({ ...place, message: cause instanceof Error ? cause.message : String(cause), cause });
  }
}

const NEWLINE = 0x0a;

/** The lines of a trace, each with its newline where it has one. */
function* linesOf(trace: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < trace.length;) {
    const end = trace.indexOf(NEWLINE, from);
    yield trace.subarray(from, end < 0 ? trace.length : end + 1);
    from = end < 0 ? trace.length : end + 1;
  }
}

/** Says where two traces that differ do so first. */
function traceMismatch(expected: Uint8Array, actual: Uint8Array): never {
  const recorded = linesOf(actual);
  let line = 0;
  for (const ours of linesOf(expected)) {
    line++;
    const { value: theirs, done } = recorded.next();
    if (!done && digestOf(ours) === digestOf(theirs)) continue;
    const row = parseCanonical(ours.subarray(0, -1)) as { readonly case_id: string };
    const place = { file: "trace", line, case: row.case_id };
    if (done) mismatch({ ...place, expected: "a row", actual: "nothing" });
    if (theirs.at(-1) !== NEWLINE) mismatch({ ...place, expected: "a newline at the end", actual: "none" });
    const { path, expected: ourValue, actual: theirValue } = jsonDifference(
      row,
      read(theirs.subarray(0, -1), place),
    )!;
    mismatch({ ...place, field: path, expected: ourValue, actual: theirValue });
  }
  return mismatch({ file: "trace", line: line + 1, expected: "the end", actual: "more rows" });
}

/**
 * Plays all cases again and compares every byte of a recorded audit with what comes out.
 *
 * @param recorded the bytes of both files
 * @param tasks the test split that was audited, in any order
 * @returns how many cases and decisions were replayed
 * @throws TracewrightError "audit_mismatch" with the case and field that differ first; as `publicAudit` does where the tasks
 * are not those of the seed
 */
export function verifyPublicAudit(
  recorded: { readonly trace: Uint8Array; readonly manifest: Uint8Array },
  tasks: readonly WorkflowTask[],
  { baseSeed }: { readonly baseSeed: number },
): { readonly cases: number; readonly decisions: number } {
  const { trace, manifest } = publicAudit(tasks, { baseSeed });
  // The trace first: what was edited there names itself better than a digest in the manifest does.
  if (digestOf(trace) !== digestOf(recorded.trace)) traceMismatch(trace, recorded.trace);
  const place = { file: "manifest" };
  const difference = jsonDifference(manifest as unknown as Json, read(recorded.manifest, place));
  if (difference !== null) {
    const { path: field, expected, actual } = difference;
    mismatch({ ...place, field, expected, actual });
  }
  return { cases: manifest.case_count, decisions: manifest.total_steps };
}
