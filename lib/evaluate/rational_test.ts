import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import { meanOf, rational, subtract } from "./rational.ts";

Deno.test("rational() reduces and divides once", () => {
  assert.deepEqual(rational(6, 8), { numerator: 3, denominator: 4, value: 0.75 });
  assert.deepEqual(rational(0, 7), { numerator: 0, denominator: 1, value: 0 });
  assert.deepEqual(rational(-3, 6), { numerator: -1, denominator: 2, value: -0.5 });
});

Deno.test("rational() refuses a zero denominator and numbers that are no longer exact", () => {
  assert.throws(() => rational(1, 0), (error) => hasCode(error, "zero_denominator"));
  assert.throws(() => rational(2n ** 53n, 1n), (error) => hasCode(error, "metric_overflow"));
  assert.throws(() => rational(1n, 2n ** 53n + 1n), (error) => hasCode(error, "metric_overflow"));
});

Deno.test("meanOf() averages fractions exactly: (1/3 + 1/4) / 2 = 7/24", () => {
  assert.deepEqual(meanOf([rational(1, 3), rational(1, 4)]), rational(7, 24));
});

Deno.test("subtract() is exact and antisymmetric", () => {
  const number = fc.integer({ min: -1000, max: 1000 });
  const positive = fc.integer({ min: 1, max: 1000 });
  fc.assert(fc.property(number, positive, number, positive, (a, b, c, d) => {
    const forward = subtract(rational(a, b), rational(c, d));
    assert.equal(forward.numerator * b * d, (a * d - c * b) * forward.denominator);
    assert.equal(subtract(rational(c, d), rational(a, b)).numerator, -forward.numerator + 0);
  }));
});
