import assert from "node:assert/strict";
import { canonicalBytes, canonicalJson, parseCanonical } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import { CALIBRATION, TRAINING } from "./_example_records.ts";
import { parseCalibrationRecord, parseTrainingRecord } from "./run_records.ts";

type Parse = (bytes: Uint8Array) => unknown;

/** A deep copy with one value replaced, or removed where it is undefined. */
function changed(record: unknown, path: readonly string[], value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(record)) as Record<string, unknown>; // shares nothing
  let at = copy;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
  if (value === undefined) delete at[path.at(-1)!];
  else at[path.at(-1)!] = value;
  return copy;
}

function refuses(parse: Parse, record: unknown, cases: readonly (readonly [string, unknown])[]): void {
  for (const [path, value] of cases) {
    assert.throws(() => parse(canonicalBytes(changed(record, path.split("."), value))), (error) => {
      assert.ok(hasCode(error, "bad_record"), String(error));
      const field = String(error.details["field"]);
      // An unknown key is reported at the object that holds it, a bad part of a value at the part.
      assert.ok(path.startsWith(field) || field.startsWith(path), `${path} reported as ${field}`);
      return true;
    }, `${path} ${value}`);
  }
}

Deno.test("parseTrainingRecord() gives back what was written", () => {
  assert.deepEqual(parseTrainingRecord(canonicalBytes(TRAINING)), TRAINING);
  const bc = { ...TRAINING, stage: "bc", curve: [] };
  assert.deepEqual(parseTrainingRecord(canonicalBytes(bc)), bc);
});

Deno.test("parseTrainingRecord() refuses missing, unknown, mistyped and impossible fields", () => {
  refuses(parseTrainingRecord, TRAINING, [
    ["schema", "tracewright.training.v2"],
    ["stage", "sequence"],
    ["seed", 1.5],
    ["updates", -1],
    ["updates", true],
    ["rollout_steps", "431"],
    ["rollout_steps", undefined],
    ["parameter_before_sha256", "sha256:" + "0".repeat(64)],
    ["parameter_after_sha256", "0".repeat(63)],
    ["parameter_l2_delta", -0.5],
    ["metrics.policy_loss", "low"],
    ["curve", {}],
    ["policy", "0".repeat(64)],
    ["agreement.agreeing", null],
    ["agreement.logit_error.max", -1],
    ["agreement.surplus", 1],
    ["surplus", 1],
  ]);
});

Deno.test("parseCalibrationRecord() gives back what was written, an undefined AUROC too", () => {
  assert.deepEqual(parseCalibrationRecord(canonicalBytes(CALIBRATION)), CALIBRATION);
  const none = { ...CALIBRATION, dev: { ...CALIBRATION.dev, auroc: null } };
  assert.deepEqual(parseCalibrationRecord(canonicalBytes(none)), none);
});

Deno.test("parseCalibrationRecord() refuses missing, unknown, mistyped and impossible fields", () => {
  refuses(parseCalibrationRecord, CALIBRATION, [
    ["dev_gate_scope", "all"],
    ["quality_status", "excellent"],
    ["gate.ece", 1],
    ["dev.brier", 1.01],
    ["dev.auroc", undefined],
    ["dev.prevalence", -0.1],
    ["fit.loss", null],
    ["labels.train.case_ids", ["a1", 2]],
    ["labels.train.terminal_rows", undefined],
    ["labels.dev.families", { a: { continuations: 1 } }],
    ["labels.dev.policy", "oracle"],
    ["estimator", "sha256:00"],
    ["surplus", 1],
  ]);
});

Deno.test("records that are not canonical JSON are refused before they are looked at", () => {
  for (const parse of [parseTrainingRecord, parseCalibrationRecord] as Parse[]) {
    for (const text of [JSON.stringify(TRAINING, null, 1), "", "{", '{"a":1,"a":1}']) {
      assert.throws(() => parse(new TextEncoder().encode(text)), (error) => hasCode(error, "not_canonical"));
    }
    assert.throws(() => parse(canonicalBytes([])), (error) => hasCode(error, "bad_record"));
  }
});

Deno.test("parseTrainingRecord() refuses a key that its result could not hold", () => {
  const text = canonicalJson(TRAINING).replace('"metrics":{', '"metrics":{"__proto__":0.5,');
  assert.deepEqual(Object.keys((parseCanonical(text) as { metrics: object }).metrics)[0], "__proto__");
  assert.throws(() => parseTrainingRecord(new TextEncoder().encode(text)), { code: "bad_record" });
});
