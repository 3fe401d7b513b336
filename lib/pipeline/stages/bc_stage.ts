import { z } from "zod";
import { canonicalBytes } from "../../core/canonical_json.ts";
import { RandomStream } from "../../core/random_stream.ts";
import { demonstrations } from "../../episode/demonstrations.ts";
import { ActorCritic } from "../../learn/actor_critic.ts";
import { Adam } from "../../learn/adam.ts";
import { KernelArena } from "../../learn/arena.ts";
import { trainBc } from "../../learn/bc.ts";
import { decisionBatch, firstDecisions } from "../../learn/decision_batch.ts";
import { exportActorCritic } from "../../learn/export_policy.ts";
import type { FeatureEncoder } from "../../policy/encoder.ts";
import { defineStage } from "../../stage/define_stage.ts";
import type { WorkflowTask } from "../../world/contracts.ts";
import { actorCriticCheckpoint } from "../checkpoints.ts";
import { MEDIA } from "../media_types.ts";
import { actionFeaturesParam, encoderOf, policyParams } from "../stage_params.ts";
import { tasksOf } from "../task_memory.ts";
import { AGREEMENT_DECISIONS, trainingRecord } from "../training_record.ts";

/** What the oracle decided, as one batch; the decisions as they were encoded are let go, for they are as large again. */
function lesson(tasks: readonly WorkflowTask[], encoder: FeatureEncoder) {
  const shown = [...demonstrations(tasks, encoder)];
  return {
    decisions: decisionBatch(shown.map(({ features }) => features), encoder),
    labels: Int32Array.from(shown, ({ label }) => label),
  };
}

/** Clones the oracle's first plan. The result serves masked and unmasked variants and is where PPO starts. */
export const bcStage = defineStage({
  name: "bc",
  version: 1,
  params: z.strictObject({
    seed: z.int(),
    policy: policyParams,
    action_features: actionFeaturesParam,
    behaviour_cloning: z.strictObject({
      epochs: z.int(),
      batch_size: z.int(),
      learning_rate: z.number(),
      max_grad_norm: z.number(),
    }),
  }),
  inputs: { train: { media_type: MEDIA.tasks } },
  outputs: {
    "checkpoint.bin": { media_type: MEDIA.checkpoint },
    "policy.onnx": { media_type: MEDIA.policy },
    "training.json": { media_type: MEDIA.training },
  },
  async run({ params, input, output, progress }) {
    const { seed, policy, behaviour_cloning: bc } = params;
    const encoder = encoderOf(params);
    const { decisions, labels } = lesson(tasksOf(input("train")), encoder);
    using arena = new KernelArena();
    const network = new ActorCritic(arena, {
      stateWidth: encoder.stateWidth,
      actionWidth: encoder.actionWidth,
      hidden: policy.hidden_width,
    });
    network.initialise(new RandomStream(seed, "bc", "initialisation"));
    const before = network.parameters.get();
    const metrics = trainBc({
      network,
      optimizer: new Adam(network.parameters, { learningRate: bc.learning_rate }),
      demonstrations: { kind: "single_label", decisions, labels },
      options: { epochs: bc.epochs, batchSize: bc.batch_size, maxGradientNorm: bc.max_grad_norm },
      stream: new RandomStream(seed, "bc", "permutations"),
      onEpoch: (count) => progress(count / (bc.epochs + 1), { unit: "epochs", count, total: bc.epochs }), // then it is exported
    });
    const graph = exportActorCritic(network);
    const { updates, ...rest } = metrics;
    const record = await trainingRecord({
      stage: "bc",
      seed,
      network,
      graph,
      before,
      sample: firstDecisions(decisions, AGREEMENT_DECISIONS),
      updates,
      rollout_steps: 0,
      metrics: rest,
      curve: [],
    });
    output("checkpoint.bin").write(actorCriticCheckpoint(network, encoder));
    output("policy.onnx").write(graph.bytes());
    output("training.json").write(canonicalBytes(record));
  },
});
