import assert from "node:assert/strict";
import { type MaskCounts, maskScores } from "./mask_scores.ts";

const KINDS = { schema: 0, grounding: 0, precondition: 0, safety: 0 };
const counts = (tp: number, fn: number, tn: number, fp: number, safety: [number, number]): MaskCounts => ({
  truePositive: tp,
  falseNegative: fn,
  trueNegative: tn,
  falsePositive: fp,
  kindRows: { ...KINDS, safety: safety[0] },
  kindFound: { ...KINDS, safety: safety[1] },
});

Deno.test("maskScores() adds up its parts and stays exact", () => {
  // TP 3, FN 1, TN 4, FP 2: recalls 3/4 and 4/6, their mean 17/24; F1 6/9 and 8/11, their mean 23/33
  const scores = maskScores([counts(1, 1, 4, 0, [4, 3]), counts(2, 0, 0, 2, [2, 0])]);
  const exact = (score: { numerator: number; denominator: number } | null) =>
    score === null ? null : [score.numerator, score.denominator];
  assert.deepEqual(exact(scores.valid_recall), [3, 4]);
  assert.deepEqual(exact(scores.invalid_recall), [2, 3]);
  assert.deepEqual(exact(scores.balanced_accuracy), [17, 24]);
  assert.deepEqual(exact(scores.macro_f1), [23, 33]);
  assert.deepEqual(exact(scores.invalid_kind_recall.safety), [1, 2]);
});

Deno.test("maskScores() has no score of a class or kind that is absent", () => {
  const valid = maskScores([counts(4, 0, 0, 0, [0, 0])]);
  assert.deepEqual(
    [valid.valid_recall?.value, valid.invalid_recall, valid.balanced_accuracy, valid.macro_f1],
    [1, null, null, null],
  );
  assert.deepEqual(Object.values(valid.invalid_kind_recall), [null, null, null, null]);
  assert.equal(maskScores([]).valid_recall, null);
});
