import assert from "node:assert/strict";
import { rolloutBatch, type TrainingEpisode } from "./rollout_batch.ts";

/** A step with two candidates of one feature each. */
function step(done: boolean, { reward, value }: { readonly reward: number; readonly value: number }) {
  return {
    features: { state: Int32Array.of(512), actions: Int32Array.of(1024, -1024), mask: [true, false] },
    choice: { index: 0, logProb: -0.25, value },
    outcome: { done },
    reward: { task: reward, progress: 0, step: -0.5, invalid: 0, forbidden: 0 },
  };
}

Deno.test("rolloutBatch() joins episodes and keeps their advantages apart", () => {
  const episodes: TrainingEpisode[] = [
    { steps: [step(false, { reward: 0, value: 1 }), step(true, { reward: 2, value: 0.5 })] },
    { steps: [step(true, { reward: -1, value: 0 })] },
  ];
  const batch = rolloutBatch(episodes, { stateWidth: 1, actionWidth: 1, gamma: 0.5, lambda: 1 });
  // A_1 = 1.5 - .5 = 1; A_0 = -.5 + .5 * .5 - 1 + .5 * 1 = -.75; the second episode: -1.5
  assert.deepEqual(batch.advantages, Float32Array.of(-0.75, 1, -1.5));
  assert.deepEqual(batch.returns, Float32Array.of(0.25, 1.5, -1.5));
  assert.deepEqual(batch.values, Float32Array.of(1, 0.5, 0));
  assert.deepEqual(batch.logProbs, Float64Array.of(-0.25, -0.25, -0.25));
  assert.deepEqual(batch.decisions.offsets, Int32Array.of(0, 2, 4, 6));
  assert.deepEqual(batch.decisions.state, Float32Array.of(0.5, 0.5, 0.5));
  assert.deepEqual(batch.decisions.mask, Uint8Array.of(1, 0, 1, 0, 1, 0));
});
