import type { RewardSettings } from "./reward_settings.ts";

/** The five parts of a step's reward, in the order in which they are summed. */
export interface RewardComponents {
  readonly task: number;
  readonly progress: number;
  readonly step: number;
  readonly invalid: number;
  readonly forbidden: number;
}

/** What of a step the reward depends on. */
export interface RewardedStep {
  readonly success: boolean;
  readonly done: boolean;
  readonly accepted: boolean;
  /** Whether any forbidden side effect is recorded in the state after the step. */
  readonly forbiddenActive: boolean;
  /** The shaping term, 0 for variants without progress reward. */
  readonly progress: number;
}

/**
 * The reward of one step, part by part (protocol/policy-and-training.md section 6).
 *
 * @returns components; a zero part is +0, so that it has a canonical form
 */
export function rewardComponents(step: RewardedStep, settings: RewardSettings): RewardComponents {
  return {
    forbidden: step.forbiddenActive ? settings.forbidden_effect : 0,
    invalid: step.accepted ? 0 : settings.invalid_action,
    progress: step.progress + 0,
    step: settings.step,
    task: step.success ? settings.task_success : step.done ? settings.task_failure : 0,
  };
}

/** The sum of the components in their listed order; one defined sequence of additions. */
export function totalReward(parts: RewardComponents): number {
  return parts.task + parts.progress + parts.step + parts.invalid + parts.forbidden + 0;
}
