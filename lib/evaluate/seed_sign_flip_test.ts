import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import { sumTable } from "./paired_table.ts";
import { MAX_FLIPPED_SEEDS, seedSignFlip } from "./seed_sign_flip.ts";

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

Deno.test("seedSignFlip() of 3, 1, -1 is 6 of 8 by hand", () => {
  // |sum| is 3. With +3: 5, 3, 3, 1, of which three reach it; with -3 the same three.
  assert.deepEqual(seedSignFlip(tableOf([3, 1, -1])), {
    p_value: ratio(3, 4),
    smallest_attainable_p: ratio(1, 4),
  });
});

Deno.test("seedSignFlip() of five seeds that agree gives 2 of 32, the smallest p that five seeds can give", () => {
  // The published per-seed differences E - B, in tenths of a point.
  const result = seedSignFlip(tableOf([52, 103, 97, 43, 31]));
  assert.deepEqual(result, { p_value: ratio(1, 16), smallest_attainable_p: ratio(1, 16) });
  assert.ok(result.smallest_attainable_p.value > 0.05);
});

Deno.test("seedSignFlip() without any difference is 1", () => {
  assert.deepEqual(seedSignFlip(tableOf([0, 0, 0])), {
    p_value: ratio(1, 1),
    smallest_attainable_p: ratio(1, 1),
  });
});

Deno.test("seedSignFlip() equals plain enumeration", () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 8 }), (sums) => {
    const observed = Math.abs(sums.reduce((a, b) => a + b, 0));
    let extreme = 0;
    for (let flip = 0; flip < 2 ** sums.length; flip++) {
      const sum = sums.reduce((total, d, s) => total + ((flip >> s) & 1 ? -d : d), 0);
      if (Math.abs(sum) >= observed) extreme++;
    }
    const { p_value, smallest_attainable_p } = seedSignFlip(tableOf(sums));
    assert.equal(p_value.value, extreme / 2 ** sums.length);
    assert.ok(p_value.value >= smallest_attainable_p.value);
  }));
});

Deno.test("seedSignFlip() enumerates twenty seeds and refuses more", () => {
  const twenty = Array.from({ length: MAX_FLIPPED_SEEDS }, () => 1);
  assert.deepEqual(seedSignFlip(tableOf(twenty)).p_value, ratio(1, 2 ** 19));
  assert.throws(() => seedSignFlip(tableOf([...twenty, 1])), (error) => hasCode(error, "too_many_seeds"));
});
