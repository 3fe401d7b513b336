import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { outcomesOf, reversed } from "./_example_outcomes.ts";
import { caseStability } from "./case_stability.ts";
import type { Outcomes } from "./paired_comparison.ts";

/** Outcomes of four seeds in which so many cases succeed with 0, 1, 2, 3, 4 of them. */
function withHistogram(histogram: readonly number[]): Outcomes {
  const counts = histogram.flatMap((cases, successes) => Array.from({ length: cases }, () => successes));
  return outcomesOf(
    Object.fromEntries([0, 1, 2, 3].map((s) => [s, counts.map((c) => s < c ? "+" : "-").join("")])),
  );
}

Deno.test("caseStability() of 50 published tasks with four trials each", () => {
  // 14 12 10 4 10: 26 of 50 flip; 88 of 300 pairs disagree; B = 0.54530612244898, W = 0.14666666666666667.
  const stability = caseStability(withHistogram([14, 12, 10, 4, 10]));
  assert.deepEqual(stability.histogram, [14, 12, 10, 4, 10]);
  assert.equal(stability.flip_rate.value, 26 / 50);
  assert.equal(stability.disagreement?.value, 88 / 300);
  assert.ok(Math.abs(stability.icc!.value - 0.40458436895885136) < 1e-15);
});

Deno.test("caseStability() gives the correlations of further published histograms", () => {
  for (
    const [histogram, icc] of [
      [[22, 18, 9, 22, 44], 0.5298969072],
      [[30, 7, 6, 2, 5], 0.5187752744],
      [[17, 11, 11, 4, 7], 0.3667320119],
      [[26, 4, 7, 5, 8], 0.5879204893],
    ] as const
  ) assert.ok(Math.abs(caseStability(withHistogram(histogram)).icc!.value - icc) < 1e-10);
});

Deno.test("caseStability(): the case decides alone, or the seed does", () => {
  const byCase = caseStability(outcomesOf({ 1: "+-+-", 2: "+-+-" }));
  assert.deepEqual([byCase.icc?.value, byCase.flip_rate.value], [1, 0]);
  const bySeed = caseStability(outcomesOf({ 1: "++++", 2: "----" }));
  assert.deepEqual([bySeed.icc?.value, bySeed.flip_rate.value, bySeed.disagreement?.value], [-1, 1, 1]);
});

Deno.test("caseStability() has no correlation without variance, with one seed, or with one case", () => {
  assert.equal(caseStability(outcomesOf({ 1: "+++", 2: "+++" })).icc, null);
  assert.equal(caseStability(outcomesOf({ 1: "---", 2: "---" })).icc, null);
  const one = caseStability(outcomesOf({ 1: "+-+" }));
  assert.deepEqual([one.icc, one.disagreement, one.flip_rate.value], [null, null, 0]);
  assert.equal(caseStability(outcomesOf({ 1: "+", 2: "-" })).icc, null);
});

Deno.test("caseStability() does not depend on order and refuses gaps", () => {
  const outcomes = withHistogram([3, 1, 0, 2, 1]);
  assert.deepEqual(caseStability(reversed(outcomes)), caseStability(outcomes));
  assert.throws(() => caseStability(new Map()), (error) => hasCode(error, "no_cases"));
  for (const broken of [outcomesOf({ 1: "+-", 2: "+" }), new Map([[1, new Map([["a", 1 as never]])]])]) {
    assert.throws(() => caseStability(broken), (error) => hasCode(error, "unpaired_outcomes"));
  }
});
