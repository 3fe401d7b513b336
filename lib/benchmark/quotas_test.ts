import assert from "node:assert/strict";
import fc from "fast-check";
import { familyQuotas, TIER_LENGTHS, tierQuotas } from "./quotas.ts";

Deno.test("familyQuotas() gives equal shares and the remainder to the lowest indices", () => {
  assert.deepEqual(familyQuotas(32), [4, 4, 3, 3, 3, 3, 3, 3, 3, 3]);
  assert.deepEqual(familyQuotas(7), [1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
  assert.deepEqual(familyQuotas(1000), Array(10).fill(100));
});

Deno.test("tierQuotas() gives the goldens of section 2", () => {
  assert.deepEqual(tierQuotas(100), { short: 30, medium: 40, long: 30 });
  assert.deepEqual(tierQuotas(20), { short: 6, medium: 8, long: 6 });
  assert.deepEqual(tierQuotas(200), { short: 60, medium: 80, long: 60 });
});

Deno.test("tierQuotas() settles ties medium, short, long", () => {
  // 1: remainders .3 .4 .3 -> medium. 2: .6 .8 .6, two left -> medium, then short before long.
  // 3: .9 .2 .9, floors 0 1 0, two left -> short, long. 4: 1.2 1.6 1.2 -> medium. 5: 1.5 2.0 1.5, one left -> short.
  assert.deepEqual(tierQuotas(1), { short: 0, medium: 1, long: 0 });
  assert.deepEqual(tierQuotas(2), { short: 1, medium: 1, long: 0 });
  assert.deepEqual(tierQuotas(3), { short: 1, medium: 1, long: 1 });
  assert.deepEqual(tierQuotas(4), { short: 1, medium: 2, long: 1 });
  assert.deepEqual(tierQuotas(5), { short: 2, medium: 2, long: 1 });
  assert.deepEqual(tierQuotas(0), { short: 0, medium: 0, long: 0 });
});

Deno.test("familyQuotas() and tierQuotas() add up, and stay within one of the exact share", () => {
  fc.assert(fc.property(fc.nat({ max: 100_000 }), (size) => {
    const families = familyQuotas(size);
    assert.equal(families.reduce((a, b) => a + b), size);
    assert.ok(Math.max(...families) - Math.min(...families) <= 1);
    const tiers = tierQuotas(size);
    assert.equal(tiers.short + tiers.medium + tiers.long, size);
    for (const [tier, tenths] of [["short", 3], ["medium", 4], ["long", 3]] as const) {
      assert.ok(Math.abs(10 * tiers[tier] - tenths * size) < 10);
    }
  }));
});

Deno.test("TIER_LENGTHS cover 6 to 15 without overlap", () => {
  assert.deepEqual(Object.values(TIER_LENGTHS).flat(), [6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
});
