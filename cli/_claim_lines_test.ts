import assert from "node:assert/strict";
import type { ClaimCheck } from "../lib/evaluate/claim_check.ts";
import { claimLines } from "./_claim_lines.ts";

const entry = (name: string, passed: boolean) =>
  ({
    name,
    passed,
    actual: passed ? 5 : 4,
    comparator: "==",
    threshold: 5,
    detail: "trained seeds",
  }) as const;

/** As much of a claim as is printed. */
function claim(
  facts: { readonly canonical: boolean; readonly hypothesis_passed: boolean; readonly low: number },
) {
  return {
    preregistered_hypothesis: "paired_tsr_difference_ci_lower_gt_zero",
    ...facts,
    primary_comparison: {
      treatment: "E",
      baseline: "B",
      tsr_difference: { numerator: 326, denominator: 5000, value: 0.0652 },
      interval: facts.canonical
        ? { low: facts.low, high: 0.09782, confidence: 0.95, method: "m", samples: 10_000 }
        : null,
    },
    checks: [entry("seed_count", facts.canonical), entry("hypothesis", facts.hypothesis_passed)],
  } as unknown as ClaimCheck;
}

Deno.test("claimLines() says apart whether a run is canonical and whether it found the effect", () => {
  assert.deepEqual(claimLines(claim({ canonical: true, hypothesis_passed: true, low: 0.034195 })), [
    "canonical   yes: 1 of 1 structural checks passed",
    "hypothesis  passed: paired_tsr_difference_ci_lower_gt_zero",
    "            E - B: +6.52 points, 95 % interval [+3.42, +9.78] of 10000 draws",
  ]);
  assert.deepEqual(claimLines(claim({ canonical: true, hypothesis_passed: false, low: -0.01 })).slice(1), [
    "hypothesis  not passed: paired_tsr_difference_ci_lower_gt_zero",
    "            E - B: +6.52 points, 95 % interval [-1.00, +9.78] of 10000 draws",
    "            a null result of a canonical run is a result",
  ]);
  assert.deepEqual(claimLines(claim({ canonical: false, hypothesis_passed: false, low: 0 })), [
    "canonical   no: 0 of 1 structural checks passed",
    "            seed_count: 4, not == 5 (trained seeds)",
    "hypothesis  not passed: paired_tsr_difference_ci_lower_gt_zero",
    "            E - B: +6.52 points",
  ]);
});
