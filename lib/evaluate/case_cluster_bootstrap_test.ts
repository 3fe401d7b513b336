import assert from "node:assert/strict";
import type { CaseCounts } from "./case_counts.ts";
import { caseClusterIntervals } from "./case_cluster_bootstrap.ts";

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
