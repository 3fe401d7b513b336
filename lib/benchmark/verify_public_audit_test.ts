import assert from "node:assert/strict";
import { canonicalBytes } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import { hasCode, TracewrightError } from "../core/error.ts";
import { generateSplit } from "./generate.ts";
import { publicAudit } from "./public_audit.ts";
import { verifyPublicAudit } from "./verify_public_audit.ts";

const SEED = 20260808;
const TASKS = generateSplit({ split: "test", size: 4, baseSeed: SEED });
const { trace, manifest } = publicAudit(TASKS, { baseSeed: SEED });
const TRACE = new TextDecoder().decode(trace);
const GOOD = { trace, manifest: canonicalBytes(manifest) };
const bytes = (text: string) => new TextEncoder().encode(text);

/** What verification says of a trace: file, line and field, the first that differs. */
function problem(recorded: typeof GOOD): unknown[] {
  try {
    verifyPublicAudit(recorded, TASKS, { baseSeed: SEED });
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    const { file, line, field } = error.details;
    return [error.code, file, line, field].filter((part) => part !== undefined);
  }
  return [];
}

Deno.test("verifyPublicAudit() accepts what publicAudit() made, tasks in any order", () => {
  const steps = TASKS.reduce((sum, task) => sum + task.optimal_steps, 0);
  assert.deepEqual(verifyPublicAudit(GOOD, [...TASKS].reverse(), { baseSeed: SEED }), {
    cases: 4,
    decisions: steps,
  });
});

Deno.test("verifyPublicAudit() finds an edited trace and names the line and the field", () => {
  const [first, second] = TRACE.split("\n") as [string, string];
  const edited = (from: string, to: string) => problem({ ...GOOD, trace: bytes(TRACE.replace(from, to)) });
  assert.deepEqual(edited('"accepted":true', '"accepted":false'), [
    "audit_mismatch",
    "trace",
    1,
    "decisions.0.accepted",
  ]);
  assert.deepEqual(edited(second, second.replace('"steps":', '"steps":1')), [
    "audit_mismatch",
    "trace",
    2,
    "steps",
  ]);
  assert.deepEqual(edited('"accepted"', ' "accepted"'), ["audit_mismatch", "trace", 1]);
  assert.deepEqual(edited(first + "\n", ""), ["audit_mismatch", "trace", 1, "case_id"]);
  assert.deepEqual(problem({ ...GOOD, trace: bytes(TRACE + first + "\n") }), ["audit_mismatch", "trace", 5]);
  assert.deepEqual(problem({ ...GOOD, trace: trace.subarray(0, -1) }), ["audit_mismatch", "trace", 4]);
  assert.deepEqual(problem({ ...GOOD, trace: bytes("") }), ["audit_mismatch", "trace", 1]);
});

Deno.test("verifyPublicAudit() is not convinced by a manifest that was edited along", () => {
  const forged = bytes(TRACE.replace('"action_index":', '"action_index":1'));
  const alongside = { ...manifest, trace: { ...manifest.trace, sha256: digestOf(forged) } };
  const [code, file] = problem({ trace: forged, manifest: canonicalBytes(alongside) });
  assert.deepEqual([code, file], ["audit_mismatch", "trace"]);
});

Deno.test("verifyPublicAudit() finds an edited manifest and names the field", () => {
  const edited = (change: object) =>
    problem({ ...GOOD, manifest: canonicalBytes({ ...manifest, ...change }) });
  assert.deepEqual(edited({ successful_cases: 3 }), ["audit_mismatch", "manifest", "successful_cases"]);
  assert.deepEqual(edited({ remark: "" }), ["audit_mismatch", "manifest", "remark"]);
  assert.deepEqual(edited({ base_seed: 1 }), ["audit_mismatch", "manifest", "base_seed"]);
  assert.deepEqual(problem({ ...GOOD, manifest: bytes("{}\n") }), ["audit_mismatch", "manifest"]);
});

Deno.test("verifyPublicAudit() refuses the wrong seed before it replays anything", () => {
  assert.throws(
    () => verifyPublicAudit(GOOD, TASKS, { baseSeed: SEED + 1 }),
    (error) => hasCode(error, "other_benchmark"),
  );
});
