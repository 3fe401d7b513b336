import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import type { CaseCounts } from "./case_counts.ts";
import { caseClusterIntervals } from "./case_cluster_bootstrap.ts";
import { type Outcomes, pairedComparison } from "./paired_comparison.ts";
import { percentileInterval, quantile } from "./quantile.ts";

function row(case_id: string, success: 0 | 1, family = "f"): CaseCounts {
  return {
    case_id,
    family,
    success,
    forbidden: 0,
    steps: 4,
    executed: 4,
    executedInvalid: 1,
    efficiency: 0,
    successMs: 0,
    costMs: 1000,
  };
}

const SETTINGS = { samples: 200, confidence: 0.95, seed: 7 };

Deno.test("quantile() interpolates linearly: of 1, 2, 3, 4 the first quartile is 1.75", () => {
  assert.equal(quantile([1, 2, 3, 4], 0.25), 1.75);
  assert.equal(quantile([1, 2, 3, 4], 0), 1);
  assert.equal(quantile([1, 2, 3, 4], 1), 4);
  assert.equal(quantile([5], 0.3), 5);
});

Deno.test("percentileInterval() of 0..100 at 95 % is 2.5 to 97.5", () => {
  const values = Float64Array.from({ length: 101 }, (_, i) => 100 - i);
  const { low, high } = percentileInterval(values, { confidence: 0.95, method: "test" });
  assert.ok(Math.abs(low - 2.5) < 1e-12 && Math.abs(high - 97.5) < 1e-12, `${low} ${high}`);
});

Deno.test("caseClusterIntervals() does not depend on the order of rows and repeats for the same seed", () => {
  const rows = Array.from({ length: 40 }, (_, i) => row(`case-${i}`, i % 3 === 0 ? 1 : 0, `f${i % 4}`));
  const once = caseClusterIntervals(rows, SETTINGS);
  assert.deepEqual(caseClusterIntervals(rows.toReversed(), SETTINGS), once);
  assert.notDeepEqual(caseClusterIntervals(rows, { ...SETTINGS, seed: 8 }), once);
  const { tsr } = once;
  assert.ok(tsr!.low < 14 / 40 && 14 / 40 < tsr!.high);
});

Deno.test("caseClusterIntervals() keeps the rows of a case together", () => {
  // Every case holds one success and one failure: if a draw split a case, some replicate would leave 1/2.
  const rows = Array.from({ length: 20 }, (_, i) => [row(`c${i}`, 0), row(`c${i}`, 1)]).flat();
  const { tsr } = caseClusterIntervals(rows, SETTINGS);
  assert.deepEqual([tsr!.low, tsr!.high], [0.5, 0.5]);
});

Deno.test("caseClusterIntervals() of identical cases has no width, and none is made for 0 samples", () => {
  const { invalid_action_rate, mean_steps } = caseClusterIntervals([row("a", 1), row("b", 1)], SETTINGS);
  assert.deepEqual([invalid_action_rate!.low, invalid_action_rate!.high], [0.25, 0.25]);
  assert.deepEqual([mean_steps!.low, mean_steps!.high], [4, 4]);
  assert.deepEqual(caseClusterIntervals([row("a", 1)], { ...SETTINGS, samples: 0 }), {});
});

function outcomes(table: Record<number, Record<string, boolean>>): Outcomes {
  return new Map(
    Object.entries(table).map(([seed, cases]) => [Number(seed), new Map(Object.entries(cases))]),
  );
}

// Hand computation: differences per (seed, case) are 1 1 0 0 | 1 0 1 -1, so 3 of 8 = 0.375.
const TREATMENT = outcomes({
  17: { a: true, b: true, c: true, d: false },
  29: { a: true, b: true, c: true, d: false },
});
const BASELINE = outcomes({
  17: { a: false, b: false, c: true, d: false },
  29: { a: false, b: true, c: false, d: true },
});

Deno.test("pairedComparison() gives 0.375 over 8 paired observations", () => {
  const result = pairedComparison(TREATMENT, BASELINE, SETTINGS);
  assert.equal(result.difference.value, 0.375);
  assert.equal(result.paired_observations, 8);
  assert.deepEqual([result.seed_count, result.case_count], [2, 4]);
  assert.ok(result.interval!.low <= 0.375 && 0.375 <= result.interval!.high);
});

Deno.test("pairedComparison() of a variant with itself is exactly zero", () => {
  const result = pairedComparison(TREATMENT, TREATMENT, SETTINGS);
  assert.deepEqual([result.difference.value, result.interval!.low, result.interval!.high], [0, 0, 0]);
});

Deno.test("pairedComparison() refuses differing seeds, differing cases and non-booleans", () => {
  const unpaired = (a: Outcomes, b: Outcomes) =>
    assert.throws(() => pairedComparison(a, b, SETTINGS), (error) => hasCode(error, "unpaired_outcomes"));
  unpaired(TREATMENT, outcomes({ 17: { a: true, b: true, c: true, d: false } }));
  unpaired(outcomes({ 17: { a: true } }), outcomes({ 17: { b: true } }));
  unpaired(outcomes({ 17: { a: true } }), outcomes({ 17: { a: true, b: true } }));
  unpaired(outcomes({ 17: { a: true } }), new Map([[17, new Map([["a", 1 as unknown as boolean]])]]));
  unpaired(new Map(), new Map());
});
