import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { type Outcomes, pairedComparison } from "./paired_comparison.ts";

const SETTINGS = { samples: 200, confidence: 0.95, seed: 7 };

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
