import assert from "node:assert/strict";
import fc from "fast-check";
import { holm } from "./holm.ts";

Deno.test("holm() of 0.01, 0.04, 0.03, 0.005 by hand", () => {
  // Ascending: 0.005 x 4 = 0.02, 0.01 x 3 = 0.03, 0.03 x 2 = 0.06, 0.04 x 1 -> 0.06, for it may not fall.
  assert.deepEqual(holm([0.01, 0.04, 0.03, 0.005], 0.05), [
    { adjusted_p: 0.03, rejected: true },
    { adjusted_p: 0.06, rejected: false },
    { adjusted_p: 0.06, rejected: false },
    { adjusted_p: 0.02, rejected: true },
  ]);
});

Deno.test("holm() gives the adjusted values of ten comparisons of five published models", () => {
  const p = [
    3.66609e-7,
    5.27445e-13,
    1.20691e-13,
    4.05057e-110,
    0.0218224,
    0.00431231,
    3.02327e-76,
    0.494501,
    1.31347e-72,
    1.33825e-36,
  ];
  const expected = [
    1.46644e-6,
    2.63723e-12,
    7.24144e-13,
    4.05057e-109,
    0.0436447,
    0.0129369,
    2.72095e-75,
    0.494501,
    1.05078e-71,
    9.36777e-36,
  ];
  holm(p, 0.05).forEach(({ adjusted_p }, i) =>
    assert.ok(Math.abs(adjusted_p / expected[i]! - 1) < 1e-5, `${adjusted_p}`)
  );
});

Deno.test("holm() never adjusts downwards or above 1, follows the order of p, and leaves a single test alone", () => {
  fc.assert(fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 }), (p) => {
    const results = holm(p, 0.05);
    results.forEach(({ adjusted_p, rejected }, i) => {
      assert.ok(adjusted_p >= p[i]! && adjusted_p <= 1);
      assert.equal(rejected, adjusted_p <= 0.05);
      p.forEach((other, j) => {
        if (other > p[i]!) assert.ok(results[j]!.adjusted_p >= adjusted_p);
      });
    });
  }));
  assert.deepEqual(holm([0.04], 0.05), [{ adjusted_p: 0.04, rejected: true }]);
});
