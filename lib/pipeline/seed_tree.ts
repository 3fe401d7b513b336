import { ACTION_VALIDITY } from "../benchmark/action_validity.ts";
import { STREAM_V13 } from "../benchmark/task_v13.ts";
import { CONTINUATION_POLICY } from "../episode/continuation.ts";
import { NOISY_CONTINUATION_POLICY } from "../episode/noisy_continuation.ts";
import { CASE_CLUSTER_METHOD } from "../evaluate/case_draws.ts";
import { CASE_SIGN_FLIP_STREAM } from "../evaluate/case_sign_flip.ts";
import { RESAMPLING_METHODS } from "../evaluate/paired_resampling.ts";
import type { ExperimentConfig } from "./config.ts";

/** One stream or draw below a seed root. */
export interface SeedPath {
  /** Names that are hashed with the root, in order; `<…>` stands for each of many. */
  readonly path: readonly string[];
  /** What it decides. */
  readonly decides: string;
}

/** The three roots of a config; nothing else is a source of chance. */
export type SeedRoot = keyof ExperimentConfig["seeds"];

/**
 * Every stream and draw of an experiment, by the root it hangs on. No path names a variant below the run seeds: variants
 * of one seed see the same tasks and draw the same numbers. A test finds each path in the code, and no other. The seeds
 * that tasks themselves carry are added up, not hashed, as protocol/benchmark-v1.3.md section 2 has it; they choose the
 * topology and name the operations.
 */
export const SEED_PATHS: Readonly<Record<SeedRoot, readonly SeedPath[]>> = {
  benchmark_seed: [
    {
      path: [STREAM_V13, "<split>", "<family>", "tiers"],
      decides: "in which order a family's short, medium and long tasks come",
    },
    {
      path: [STREAM_V13, "<split>", "<family>", "<ordinal>"],
      decides: "the facts and service times of a task",
    },
    {
      path: [ACTION_VALIDITY, "<case>", "<state>"],
      decides: "in which order the labelled calls of a state come",
    },
  ],
  run_seeds: [
    { path: ["bc", "initialisation"], decides: "the first weights of the policy" },
    { path: ["bc", "permutations"], decides: "the order of demonstrations in each epoch" },
    { path: ["progress", "initialisation"], decides: "the first weights of the estimator" },
    { path: ["progress", "permutations"], decides: "the order of labelled states in each epoch" },
    {
      path: ["tracewright.progress-selection.v1", "<stratum or task>"],
      decides: "which train tasks are labelled",
    },
    {
      path: [CONTINUATION_POLICY.schema, "<case>", "<prefix>", "<trial>"],
      decides: "what the labelling policy does (semantics: current)",
    },
    {
      path: [NOISY_CONTINUATION_POLICY.schema, "<case>", "<prefix>", "<trial>"],
      decides: "what the labelling policy does (semantics: frozen-v1.3)",
    },
    { path: ["schedule", "<iteration>"], decides: "which tasks an iteration of PPO rolls out" },
    { path: ["rollout", "<iteration>", "<episode>"], decides: "which actions an episode samples" },
    { path: ["ppo", "permutations", "<iteration>"], decides: "the order of decisions in each update" },
  ],
  bootstrap_seed: [
    { path: [CASE_CLUSTER_METHOD], decides: "which cases each replicate draws" },
    {
      path: [CASE_CLUSTER_METHOD, "action-validity"],
      decides: "which cases each replicate of the mask's measure draws",
    },
    {
      path: [RESAMPLING_METHODS.cases],
      decides: "which cases each paired replicate draws, for new cases",
    },
    {
      path: [RESAMPLING_METHODS.seeds],
      decides: "which seeds each paired replicate draws, for newly trained seeds",
    },
    {
      path: [RESAMPLING_METHODS.seeds_and_cases],
      decides: "which seeds and cases each paired replicate draws",
    },
    { path: [CASE_SIGN_FLIP_STREAM], decides: "which cases change their sign under no difference" },
  ],
};
