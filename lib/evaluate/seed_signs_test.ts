import assert from "node:assert/strict";
import { sumTable } from "./paired_table.ts";
import { seedSigns } from "./seed_signs.ts";

/** A table whose seeds have these sums. */
function tableOf(sums: readonly number[]) {
  const width = Math.max(1, ...sums.map(Math.abs));
  return sumTable({
    seeds: sums.map((_, s) => s),
    cases: Array.from({ length: width }, (_, c) => `c${c}`),
    rows: sums.map((sum) =>
      Int8Array.from({ length: width }, (_, c) => c < Math.abs(sum) ? Math.sign(sum) : 0)
    ),
  });
}

const ratio = (numerator: number, denominator: number) => ({
  numerator,
  denominator,
  value: numerator / denominator,
});

Deno.test("seedSigns() of four against one is 2 (1 + 5) / 32", () => {
  assert.deepEqual(seedSigns(tableOf([9, 1, 1, 1, -9])), {
    positive: 4,
    negative: 1,
    zero: 0,
    p_value: ratio(3, 8),
    smallest_attainable_p: ratio(1, 16),
  });
});

Deno.test("seedSigns() leaves seeds without a difference out", () => {
  assert.deepEqual(seedSigns(tableOf([2, 3, 0])), {
    positive: 2,
    negative: 0,
    zero: 1,
    p_value: ratio(1, 2),
    smallest_attainable_p: ratio(1, 2),
  });
  assert.deepEqual(seedSigns(tableOf([0])).p_value, ratio(1, 1));
  assert.deepEqual(seedSigns(tableOf([1, -1])).p_value, ratio(1, 1)); // 2 (1 + ...) / 4 is capped
});
