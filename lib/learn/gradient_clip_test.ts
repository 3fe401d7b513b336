import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { clipGradient } from "./gradient_clip.ts";

Deno.test("clipGradient() scales down to the norm and returns the norm before", () => {
  const gradient = Float32Array.of(3, 4);
  assert.equal(clipGradient(gradient, 1), 5);
  gradient.forEach((value, i) => assert.ok(Math.abs(value - [0.6, 0.8][i]!) < 1e-6));
});

Deno.test("clipGradient() leaves a gradient within the norm as it is", () => {
  const gradient = Float32Array.of(0.3, -0.4, 0);
  clipGradient(gradient, 1);
  assert.deepEqual(gradient, Float32Array.of(0.3, -0.4, 0));
  assert.equal(clipGradient(new Float32Array(3), 1), 0);
  assert.equal(clipGradient(Float32Array.of(1e6), Infinity), 1e6);
});

Deno.test("clipGradient() refuses a norm that is not finite, and scales nothing", () => {
  for (const bad of [NaN, Infinity, -Infinity, 1e30]) {
    const gradient = Float32Array.of(2, bad, 2);
    assert.throws(() => clipGradient(gradient, 1), (e) => hasCode(e, "non_finite_gradient"));
    assert.deepEqual(gradient, Float32Array.of(2, bad, 2));
  }
});
