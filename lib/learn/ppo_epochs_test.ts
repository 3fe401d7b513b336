import assert from "node:assert/strict";
import { combinePpoMetrics, type PpoMetrics, standardised } from "./ppo_epochs.ts";

Deno.test("standardised() uses the deviation of the population, and leaves a single advantage alone", () => {
  // mean 3, deviations -2, 0, 2, variance 8 / 3
  const third = Math.fround(-2 / (Math.sqrt(8 / 3) + 1e-8));
  assert.deepEqual(standardised(Float32Array.of(1, 3, 5)), Float32Array.of(third, 0, -third));
  assert.deepEqual(standardised(Float32Array.of(7)), Float32Array.of(7));
  assert.deepEqual(standardised(Float32Array.of(2, 2)), Float32Array.of(0, 0));
});

Deno.test("combinePpoMetrics() averages, sums updates, and remembers a stop", () => {
  const one: PpoMetrics = {
    policy_loss: 1,
    value_loss: 2,
    entropy: 3,
    approx_kl: 4,
    clip_fraction: 0.5,
    grad_norm: 6,
    updates: 4,
    stopped_early: false,
  };
  const other = { ...one, policy_loss: 3, updates: 2, stopped_early: true };
  assert.deepEqual(combinePpoMetrics([one, other]), {
    ...one,
    policy_loss: 2,
    updates: 6,
    stopped_early: true,
  });
});
