import { z } from "zod";
import { canonicalBytes } from "../../core/canonical_json.ts";
import { RandomStream } from "../../core/random_stream.ts";
import { exactPotential } from "../../episode/potential.ts";
import { type Episode, runEpisodes } from "../../episode/run_episodes.ts";
import { rolloutSchedule } from "../../episode/schedule.ts";
import { ActorCritic } from "../../learn/actor_critic.ts";
import { Adam } from "../../learn/adam.ts";
import { KernelArena } from "../../learn/arena.ts";
import { decisionBatch } from "../../learn/decision_batch.ts";
import { exportActorCritic } from "../../learn/export_policy.ts";
import { updatePpo } from "../../learn/ppo.ts";
import { combinePpoMetrics, type PpoMetrics } from "../../learn/ppo_epochs.ts";
import { rolloutBatch } from "../../learn/rollout_batch.ts";
import { sequenceBatch } from "../../learn/sequence_batch.ts";
import { SEQUENCE_MINIBATCHES, sequenceMinibatches } from "../../learn/sequence_minibatch.ts";
import { updateSequencePpo } from "../../learn/sequence_ppo.ts";
import { samplingActor } from "../../learn/sampling_actor.ts";
import { openSession } from "../../policy/open_runtime.ts";
import { defineStage } from "../../stage/define_stage.ts";
import { admitFor } from "../admit_for.ts";
import { stageRuntime } from "../execution.ts";
import { actorCriticCheckpoint, restoreActorCritic } from "../checkpoints.ts";
import { MEDIA } from "../media_types.ts";
import { actionFeaturesParam, encoderOf, policyParams, rewardParams } from "../stage_params.ts";
import { tasksOf } from "../task_memory.ts";
import { AGREEMENT_DECISIONS, trainingRecord } from "../training_record.ts";

const ppoParams = z.strictObject({
  iterations: z.int(),
  episodes_per_iteration: z.int(),
  epochs: z.int(),
  minibatch_size: z.int(),
  sequence_minibatch: z.enum(SEQUENCE_MINIBATCHES),
  learning_rate: z.number(),
  gamma: z.number(),
  gae_lambda: z.number(),
  clip_ratio: z.number(),
  value_clip: z.number(),
  value_coefficient: z.number(),
  entropy_coefficient: z.number(),
  max_grad_norm: z.number(),
  target_kl: z.number().nullable(),
});

const params = z.strictObject({
  seed: z.int(),
  algorithm: z.enum(["action_ppo", "sequence_ppo"]),
  action_mask: z.boolean(),
  progress_reward: z.boolean(),
  policy: policyParams,
  action_features: actionFeaturesParam,
  ppo: ppoParams,
  reward: rewardParams,
});

/** What both algorithms are told, in the words of the learner. */
function updateOptions(ppo: z.infer<typeof ppoParams>) {
  return {
    epochs: ppo.epochs,
    clipRatio: ppo.clip_ratio,
    valueClip: ppo.value_clip,
    valueCoefficient: ppo.value_coefficient,
    entropyCoefficient: ppo.entropy_coefficient,
    maxGradientNorm: ppo.max_grad_norm,
    ...(ppo.target_kl === null ? {} : { targetKl: ppo.target_kl }),
  };
}

/** One update on the episodes of an iteration. */
function update(
  { algorithm, ppo, episodes, ...rest }: {
    readonly algorithm: "action_ppo" | "sequence_ppo";
    readonly ppo: z.infer<typeof ppoParams>;
    readonly episodes: readonly Episode[];
    readonly network: ActorCritic;
    readonly optimizer: Adam;
    readonly stream: RandomStream;
  },
): PpoMetrics {
  const options = updateOptions(ppo);
  const { shape } = rest.network;
  const minibatchSize = ppo.minibatch_size;
  if (algorithm === "action_ppo") {
    const rollout = rolloutBatch(episodes, { ...shape, gamma: ppo.gamma, lambda: ppo.gae_lambda });
    return updatePpo({ ...rest, rollout, options: { ...options, minibatchSize } });
  }
  const minibatches = sequenceMinibatches(ppo.sequence_minibatch, {
    episodes: episodes.length,
    decisions: outcome(episodes).rollout_steps,
    minibatchSize,
  });
  const batch = sequenceBatch(episodes, { ...shape, gamma: ppo.gamma });
  return updateSequencePpo({ ...rest, batch, options: { ...options, minibatches } });
}

/** How an iteration's episodes went. */
function outcome(episodes: readonly Episode[]) {
  return {
    episodes: episodes.length,
    successes: episodes.filter(({ evaluation }) => evaluation.success).length,
    rollout_steps: episodes.reduce((sum, { steps }) => sum + steps.length, 0),
  };
}

/**
 * Trains the cloned policy further by PPO, with credit per action or per episode. Each iteration rolls out a fresh schedule of train tasks, then updates. No
 * stream names the variant, so variants see the same tasks and draw the same numbers.
 */
export const ppoStage = defineStage({
  name: "ppo",
  version: 1,
  params,
  inputs: {
    train: { media_type: MEDIA.tasks },
    initial: { media_type: MEDIA.checkpoint },
    "estimators/*": { media_type: MEDIA.estimator, optional: true },
  },
  outputs: {
    "checkpoint.bin": { media_type: MEDIA.checkpoint },
    "policy.onnx": { media_type: MEDIA.policy },
    "training.json": { media_type: MEDIA.training },
  },
  async run({ params, input, output, progress }) {
    const { seed, algorithm, policy, ppo, ...variant } = params;
    const encoder = encoderOf(params);
    const tasks = tasksOf(input("train"));
    using estimator = variant.progress_reward
      ? await openSession({
        graph: admitFor(encoder, { kind: "estimator", bytes: input("estimators/progress").bytes() }),
        runtime: stageRuntime(),
      })
      : undefined;
    using arena = new KernelArena();
    const network = new ActorCritic(arena, {
      stateWidth: encoder.stateWidth,
      actionWidth: encoder.actionWidth,
      hidden: policy.hidden_width,
    });
    restoreActorCritic(network, input("initial").bytes(), encoder);
    const before = network.parameters.get();
    const optimizer = new Adam(network.parameters, { learningRate: ppo.learning_rate });
    const settings = {
      encoder,
      reward: { ...variant.reward, gamma: ppo.gamma },
      selection: variant.action_mask ? "public" : "none",
      ...(estimator === undefined ? {} : { potential: exactPotential(estimator) }),
    } as const;
    const reports: PpoMetrics[] = [];
    const curve: Record<string, number | boolean | null>[] = [];
    let rolloutSteps = 0;
    let last: readonly Episode[] = [];
    for (let iteration = 0; iteration < ppo.iterations; iteration++) {
      const schedule = rolloutSchedule(
        tasks,
        ppo.episodes_per_iteration,
        new RandomStream(seed, "schedule", iteration),
      );
      const actor = samplingActor({
        network,
        streamOf: (episode) => new RandomStream(seed, "rollout", iteration, episode),
      });
      last = await Array.fromAsync(runEpisodes(schedule, actor, settings));
      const metrics = update({
        algorithm,
        ppo,
        episodes: last,
        network,
        optimizer,
        stream: new RandomStream(seed, "ppo", "permutations", iteration),
      });
      const facts = outcome(last);
      rolloutSteps += facts.rollout_steps;
      reports.push(metrics);
      curve.push({ iteration, ...facts, ...metrics });
      const count = (iteration + 1) * ppo.episodes_per_iteration;
      const total = ppo.iterations * ppo.episodes_per_iteration;
      progress(count / total, { unit: "episodes", count, total });
    }
    const { updates, ...metrics } = combinePpoMetrics(reports);
    const graph = exportActorCritic(network);
    const seen = last.flatMap(({ steps }) => steps.map(({ features }) => features));
    const record = await trainingRecord({
      stage: "ppo",
      seed,
      network,
      graph,
      before,
      sample: decisionBatch(seen.slice(0, AGREEMENT_DECISIONS), encoder),
      updates,
      rollout_steps: rolloutSteps,
      metrics,
      curve,
    });
    output("checkpoint.bin").write(actorCriticCheckpoint(network, encoder));
    output("policy.onnx").write(graph.bytes());
    output("training.json").write(canonicalBytes(record));
  },
});
