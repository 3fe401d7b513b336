import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { raggedBatch } from "./_ragged_batch.ts";
import {
  checkSequenceBatch,
  episodeSamples,
  selectEpisodes,
  type SequenceBatch,
  sequenceBatch,
} from "./sequence_batch.ts";
import { selectDecisions } from "./decision_batch.ts";

const DECISIONS = raggedBatch({
  sizes: [3, 2, 4, 1, 5],
  stateWidth: 2,
  actionWidth: 3,
  stream: new RandomStream(1, "sequence"),
});

/** Episodes of two and of three steps; everything in it can be worked out by hand. */
const GOLDEN: SequenceBatch = {
  decisions: DECISIONS,
  chosen: Int32Array.from(
    [0, 1, 2, 3, 4],
    (d) => DECISIONS.mask.subarray(DECISIONS.offsets[d]!, DECISIONS.offsets[d + 1]!).indexOf(1),
  ),
  logProbs: Float64Array.of(-0.25, -0.25, -0.125, -0.25, -0.325),
  values: Float32Array.of(0.4, 1e6, -0.5, -1e6, 1e6),
  rewards: Float64Array.of(0.5, 1, 0, 0, 2),
  taskRewards: Float64Array.of(0, 1, 0, 0, 1),
  episodes: Int32Array.of(0, 0, 1, 1, 1),
  dones: Uint8Array.of(0, 1, 0, 0, 1),
  starts: Int32Array.of(0, 2),
  returns: Float32Array.of(1, 0.5), // .5 + .5 * 1;  .25 * 2
  gamma: 0.5,
};

Deno.test("episodeSamples() sums log-probabilities, and takes the first value for the baseline", () => {
  checkSequenceBatch(GOLDEN);
  const { logProbs, initialValues, advantages } = episodeSamples(GOLDEN);
  assert.deepEqual(logProbs, Float64Array.of(-0.5, -0.7));
  assert.deepEqual(initialValues, Float32Array.of(0.4, -0.5));
  assert.deepEqual(advantages, Float32Array.of(1 - Math.fround(0.4), 1)); // .6 and 1.0
});

Deno.test("checkSequenceBatch() refuses each fault by its code", () => {
  const refused = (changed: Partial<SequenceBatch>, code: string) =>
    assert.throws(() => checkSequenceBatch({ ...GOLDEN, ...changed }), (error) => hasCode(error, code));
  const one = (length: number) => new Float64Array(length);
  refused({ rewards: one(4) }, "bad_batch");
  refused({ returns: new Float32Array(3) }, "bad_batch");
  refused({ rewards: GOLDEN.rewards.with(1, NaN) }, "bad_batch");
  refused({ logProbs: GOLDEN.logProbs.with(0, -Infinity) }, "bad_batch");
  refused({ values: GOLDEN.values.with(4, Infinity) }, "bad_batch");
  refused({ gamma: 1.5 }, "bad_option");
  refused({ chosen: GOLDEN.chosen.with(0, 9) }, "masked_choice");
  refused({ episodes: Int32Array.of(0, 1, 0, 1, 1) }, "scattered_episode");
  refused({ episodes: Int32Array.of(1, 1, 2, 2, 2) }, "scattered_episode");
  refused({ episodes: Int32Array.of(0, 0, 2, 2, 2) }, "scattered_episode");
  refused({ episodes: Int32Array.of(-1, -1, 0, 0, 0) }, "scattered_episode");
  refused({ starts: Int32Array.of(0, 1) }, "bad_start");
  refused({ starts: Int32Array.of(1, 2) }, "bad_start");
  refused({ starts: Int32Array.of(0), returns: Float32Array.of(1) }, "bad_start");
  refused({ dones: GOLDEN.dones.with(0, 1) }, "bad_end");
  refused({ dones: GOLDEN.dones.with(4, 0) }, "bad_end"); // a truncated episode
  refused({ dones: GOLDEN.dones.with(1, 0) }, "bad_end");
  refused({ taskRewards: Float64Array.of(1, 1, 0, 0, 1) }, "early_task_reward");
  refused({ returns: Float32Array.of(1, 0.5001) }, "bad_return");
  refused({ gamma: 0.25 }, "bad_return");
});

Deno.test("selectEpisodes() takes whole episodes in the order asked for", () => {
  const { decisions, chosen, bounds } = selectEpisodes(GOLDEN, Int32Array.of(1, 0));
  assert.deepEqual(bounds, Int32Array.of(0, 3, 5));
  assert.deepEqual(decisions, selectDecisions(DECISIONS, Int32Array.of(2, 3, 4, 0, 1)));
  assert.deepEqual(chosen, Int32Array.from([2, 3, 4, 0, 1], (step) => GOLDEN.chosen[step]!));
});

Deno.test("sequenceBatch() joins episodes and discounts all their rewards, shaping included", () => {
  const step = (parts: { readonly done: boolean; readonly task: number; readonly progress: number }) => ({
    features: { state: Int32Array.of(512), actions: Int32Array.of(1024, -1024), mask: [true, false] },
    choice: { index: 0, logProb: -0.25, value: 0.5 },
    outcome: { done: parts.done },
    reward: { task: parts.task, progress: parts.progress, step: -0.5, invalid: 0, forbidden: 0 },
  });
  const batch = sequenceBatch([
    { steps: [step({ done: false, task: 0, progress: 1 }), step({ done: true, task: 2, progress: 0 })] },
    { steps: [step({ done: true, task: -1, progress: 0 })] },
  ], { stateWidth: 1, actionWidth: 1, gamma: 0.5 });
  checkSequenceBatch(batch);
  assert.deepEqual(batch.returns, Float32Array.of(1.25, -1.5)); // .5 + .5 * 1.5; -1.5
  assert.deepEqual(batch.starts, Int32Array.of(0, 2));
  assert.deepEqual(batch.episodes, Int32Array.of(0, 0, 1));
  assert.deepEqual(batch.taskRewards, Float64Array.of(0, 2, -1));
  assert.throws(
    () => checkSequenceBatch(sequenceBatch([], { stateWidth: 1, actionWidth: 1, gamma: 0.5 })),
    (error) => hasCode(error, "bad_batch"),
  );
});
