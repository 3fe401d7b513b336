import assert from "node:assert/strict";
import { RandomStream } from "../core/random_stream.ts";
import { quantile } from "./quantile.ts";
import { quantileError } from "./quantile_error.ts";

Deno.test("quantileError() is half the distance of the order statistics one binomial deviation away", () => {
  // 100 values, q = 1/2: deviation sqrt(100 / 4) = 5, ranks 45 and 55.
  assert.equal(quantileError(Array.from({ length: 100 }, (_, i) => i + 1), 0.5), 5);
  // 10,000 values, q = 0.025: deviation 15.6, ranks 234 and 266.
  assert.equal(quantileError(Array.from({ length: 10_000 }, (_, i) => i + 1), 0.025), 16);
  assert.equal(quantileError([7, 7, 7], 0.025), 0);
});

Deno.test("quantileError() keeps to the values there are", () => {
  assert.equal(quantileError([1, 3], 0.025), 0); // ranks 0 and 1, of which 0 does not exist
  assert.equal(quantileError([1, 3], 0.5), 1);
});

Deno.test("quantileError() tells how much the quantile moves from one stream of draws to the next", () => {
  const ends = Array.from({ length: 200 }, (_, repeat) => {
    const stream = new RandomStream(repeat, "quantile_error_test");
    const values = Float64Array.from({ length: 400 }, () => stream.normal()).sort();
    return { end: quantile(values, 0.025), error: quantileError(values, 0.025) };
  });
  const mean = ends.reduce((sum, { end }) => sum + end, 0) / ends.length;
  const moved = Math.sqrt(ends.reduce((sum, { end }) => sum + (end - mean) ** 2, 0) / (ends.length - 1));
  const stated = ends.reduce((sum, { error }) => sum + error, 0) / ends.length;
  assert.ok(stated / moved > 0.8 && stated / moved < 1.35, `stated ${stated}, moved ${moved}`);
});
