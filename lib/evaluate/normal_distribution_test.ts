import assert from "node:assert/strict";
import fc from "fast-check";
import { normalCdf, normalQuantile } from "./normal_distribution.ts";

function near(actual: number, { expected, relative }: { expected: number; relative: number }): void {
  assert.ok(Math.abs(actual - expected) <= relative * Math.abs(expected), `${actual} is not ${expected}`);
}

// Tables: Abramowitz and Stegun, tables 26.1 and 26.2; further digits from DLMF 7.17 and series in 40 digits.
Deno.test("normalCdf() gives the table's values, far into the lower tail", () => {
  for (
    const [x, expected] of [
      [0, 0.5],
      [1, 0.8413447460685429],
      [1.96, 0.9750021048517795],
      [-1.96, 0.024997895148220435],
      [-3, 0.0013498980316300933],
      [-6, 9.865876450376946e-10],
      [-10, 7.619853024160527e-24],
    ] as const
  ) near(normalCdf(x), { expected, relative: 1e-12 });
  assert.equal(normalCdf(-40), 0);
  assert.equal(normalCdf(40), 1);
});

Deno.test("normalCdf() has no step where its two formulas meet", () => {
  near(normalCdf(-2.9999999999), { expected: normalCdf(-3.0000000001), relative: 1e-8 });
  assert.ok(normalCdf(-3.0000000001) < normalCdf(-2.9999999999));
});

Deno.test("normalQuantile() gives the table's values", () => {
  for (
    const [p, expected] of [
      [0.8, 0.8416212335729143],
      [0.95, 1.6448536269514722],
      [0.975, 1.959963984540054],
      [0.995, 2.5758293035489004],
      [1e-10, -6.361340902404056],
    ] as const
  ) near(normalQuantile(p), { expected, relative: 1e-13 });
  assert.equal(normalQuantile(0.5), 0);
});

Deno.test("normalQuantile() inverts normalCdf() and is odd", () => {
  fc.assert(fc.property(fc.double({ min: 1e-9, max: 0.5, noNaN: true }), (p) => {
    near(normalCdf(normalQuantile(p)), { expected: p, relative: 1e-11 });
    assert.ok(Math.abs(normalQuantile(1 - p) + normalQuantile(1 - (1 - p))) <= 1e-15);
  }));
});
