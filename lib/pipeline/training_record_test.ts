import assert from "node:assert/strict";
import { canonicalBytes } from "../core/canonical_json.ts";
import { hexOf } from "../core/digest.ts";
import { RandomStream } from "../core/random_stream.ts";
import { ActorCritic } from "../learn/actor_critic.ts";
import { KernelArena } from "../learn/arena.ts";
import { decisionBatch } from "../learn/decision_batch.ts";
import { exportActorCritic } from "../learn/export_policy.ts";
import { parameterDigest } from "../learn/parameter_block.ts";
import { parseTrainingRecord } from "../report/run_records.ts";
import { trainingRecord } from "./training_record.ts";

const WIDTHS = { stateWidth: 16, actionWidth: 16 };

Deno.test("trainingRecord() says how far training went and how well its graph stands for it", async () => {
  using arena = new KernelArena();
  const network = new ActorCritic(arena, { ...WIDTHS, hidden: 8 });
  network.initialise(new RandomStream(1, "test"));
  const before = network.parameters.get();
  const after = before.slice();
  // Moved by 3/8 and 1/2 in two directions: 5/8 in all, up to the rounding of two float32.
  after[0] = Math.fround(before[0]! + 0.375);
  after[1] = Math.fround(before[1]! - 0.5);
  network.parameters.set(after);
  const graph = exportActorCritic(network);
  const features = (n: number) => Int32Array.from({ length: n }, (_, i) => (i * 37) % 1024);
  const sample = decisionBatch(
    [{ state: features(16), actions: features(48), mask: [true, true, false] }],
    WIDTHS,
  );
  const facts = { stage: "ppo", seed: 17, updates: 4, rollout_steps: 9 } as const;
  const metrics = { policy_loss: -0.5, stopped_early: false };
  const record = await trainingRecord({
    ...facts,
    network,
    graph,
    before,
    sample,
    metrics,
    curve: [{ iteration: 0 }],
  });
  assert.deepEqual({ ...record, ...facts }, record);
  assert.equal(record.parameter_before_sha256, hexOf(parameterDigest(before)));
  assert.equal(record.parameter_after_sha256, hexOf(parameterDigest(after)));
  assert.ok(Math.abs(record.parameter_l2_delta - 0.625) < 1e-6);
  assert.equal(record.policy, graph.digest);
  assert.deepEqual([record.agreement.states, record.agreement.agreeing], [1, 1]);
  assert.ok(record.agreement.logit_error.max < 0.01 && record.agreement.value_error!.max < 0.01);
  assert.deepEqual([record.metrics, record.curve], [metrics, [{ iteration: 0 }]]);
  // What is written can be read.
  assert.deepEqual(parseTrainingRecord(canonicalBytes(record)), record);
});
