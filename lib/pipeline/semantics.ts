import type { ProgressLabels } from "../episode/progress_labels.ts";
import type { TerminalPotential } from "../episode/shaping.ts";
import type { ActionFeatureKind, EncoderSettings } from "../policy/encoder.ts";
import type { ExperimentConfig } from "./config.ts";

/** The rules of learning that differ between the published results and the present protocol. */
export interface Semantics {
  /** What an action's features are made of. */
  readonly action_features: ActionFeatureKind;
  /** How the states that the progress estimator learns from are labelled. */
  readonly progress_labels: ProgressLabels;
  /** Phi of the state in which an episode ended. */
  readonly terminal_potential: TerminalPotential;
}

/** The two generations of the protocol (policy and training, preamble), by the names a config selects them with. */
export const SEMANTICS = {
  current: {
    action_features: "schema",
    progress_labels: "absorbing-error",
    terminal_potential: "zero",
  },
  "frozen-v1.3": {
    action_features: "arguments",
    progress_labels: "noisy-continuation",
    terminal_potential: "estimated",
  },
} as const satisfies Readonly<Record<string, Semantics>>;

/** Name of a generation. */
export type SemanticsName = keyof typeof SEMANTICS;

/** All names, in the order in which the protocol went. */
export const SEMANTICS_NAMES = ["current", "frozen-v1.3"] as const satisfies readonly SemanticsName[];

/** The rules that an experiment learns by. */
export function semanticsOf(config: Pick<ExperimentConfig, "semantics">): Semantics {
  return SEMANTICS[config.semantics];
}

/** The encoder of an experiment, from its config. */
export function encoderSettings(config: Pick<ExperimentConfig, "semantics" | "policy">): EncoderSettings {
  return {
    stateWidth: config.policy.state_width,
    actionWidth: config.policy.action_width,
    actionFeatures: semanticsOf(config).action_features,
  };
}

/** The rewards of an experiment, as episodes take them. */
export function rewardSettings(config: Pick<ExperimentConfig, "semantics" | "reward" | "ppo">) {
  return {
    ...config.reward,
    gamma: config.ppo.gamma,
    terminal_potential: semanticsOf(config).terminal_potential,
  };
}
