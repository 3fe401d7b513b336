import assert from "node:assert/strict";
import { percentileInterval, quantile } from "./quantile.ts";

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
