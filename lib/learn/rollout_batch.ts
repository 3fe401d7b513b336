import { totalReward } from "../episode/reward.ts";
import type { EpisodeStep } from "../episode/run_episodes.ts";
import { decisionBatch, type FeatureWidths } from "./decision_batch.ts";
import { gae } from "./gae.ts";
import type { RolloutBatch } from "./ppo.ts";

/** The part of a finished episode that a policy learns from. */
export interface TrainingEpisode {
  readonly steps: readonly (Pick<EpisodeStep, "features" | "choice" | "reward"> & {
    readonly outcome: Pick<EpisodeStep["outcome"], "done">;
  })[];
}

/**
 * Finished episodes as one batch for PPO, with advantages by GAE. Steps lie in episode order; every episode ended, so
 * nothing is bootstrapped.
 */
export function rolloutBatch(
  episodes: readonly TrainingEpisode[],
  { gamma, lambda, ...widths }: FeatureWidths & { readonly gamma: number; readonly lambda: number },
): RolloutBatch {
  const steps = episodes.flatMap((episode, trajectory) =>
    episode.steps.map((step) => ({ ...step, trajectory }))
  );
  const values = Float32Array.from(steps, ({ choice }) => choice.value);
  const { advantages, returns } = gae({
    rewards: Float64Array.from(steps, ({ reward }) => totalReward(reward)),
    values,
    dones: Uint8Array.from(steps, ({ outcome }) => outcome.done ? 1 : 0),
    trajectories: steps.map(({ trajectory }) => trajectory),
    gamma,
    lambda,
  });
  return {
    decisions: decisionBatch(steps.map(({ features }) => features), widths),
    chosen: Int32Array.from(steps, ({ choice }) => choice.index),
    logProbs: Float64Array.from(steps, ({ choice }) => choice.logProb),
    values,
    advantages,
    returns,
  };
}
