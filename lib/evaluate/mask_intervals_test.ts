import assert from "node:assert/strict";
import { maskIntervals } from "./mask_intervals.ts";
import type { MaskCounts } from "./mask_scores.ts";

const NONE = { schema: 0, grounding: 0, precondition: 0, safety: 0 };
const ALL_VALID: MaskCounts = {
  truePositive: 4,
  falseNegative: 0,
  trueNegative: 0,
  falsePositive: 0,
  kindRows: NONE,
  kindFound: NONE,
};
const ALL_INVALID: MaskCounts = {
  truePositive: 0,
  falseNegative: 0,
  trueNegative: 3,
  falsePositive: 1,
  kindRows: { ...NONE, schema: 4 },
  kindFound: { ...NONE, schema: 3 },
};
const SETTINGS = { samples: 400, confidence: 0.9, seed: 5 };

Deno.test("maskIntervals() leaves out replicates without a class, and says how many were used", () => {
  const { balanced_accuracy, valid_recall, invalid_kind_recall } = maskIntervals(
    [ALL_VALID, ALL_INVALID],
    SETTINGS,
  );
  // Half of the replicates draw the same case twice; of the others each has recalls 1 and 3/4.
  const { low, high, samples, requested_samples, confidence, method, seed } = balanced_accuracy!;
  assert.deepEqual([low, high, requested_samples, confidence, seed], [0.875, 0.875, 400, 0.9, 5]);
  assert.equal(method, "case_cluster_percentile");
  assert.ok(samples > 150 && samples < 250, String(samples));
  assert.equal(valid_recall!.samples, samples);
  // Three of four replicates hold the invalid case at least once.
  const schema = invalid_kind_recall.schema!;
  assert.ok(schema.samples > 250 && schema.samples < 350, String(schema.samples));
  assert.deepEqual([schema.low, schema.high], [0.75, 0.75]);
  assert.equal(invalid_kind_recall.safety, null);
});

Deno.test("maskIntervals() gives nothing where nothing was asked for or no replicate has a score", () => {
  assert.equal(maskIntervals([ALL_VALID, ALL_INVALID], { ...SETTINGS, samples: 0 }).valid_recall, null);
  const { balanced_accuracy, invalid_kind_recall } = maskIntervals([ALL_VALID], SETTINGS);
  assert.deepEqual([balanced_accuracy, invalid_kind_recall.schema], [null, null]);
});

Deno.test("maskIntervals() depends on the seed and on nothing else", () => {
  const cases = Array.from({ length: 20 }, (_, i) => i % 3 === 0 ? ALL_INVALID : ALL_VALID);
  assert.deepEqual(maskIntervals(cases, SETTINGS), maskIntervals(cases, SETTINGS));
  assert.notDeepEqual(
    maskIntervals(cases, SETTINGS).macro_f1,
    maskIntervals(cases, { ...SETTINGS, seed: 6 }).macro_f1,
  );
});
