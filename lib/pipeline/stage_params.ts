import { z } from "zod";
import { TERMINAL_POTENTIALS } from "../episode/shaping.ts";
import { ACTION_FEATURES, encoderFor, type FeatureEncoder } from "../policy/encoder.ts";

/** Widths of the network, as stages take them. The config has checked ranges; here only the form counts. */
export const policyParams = z.strictObject({
  state_width: z.int(),
  action_width: z.int(),
  hidden_width: z.int(),
});

/** What an action's features are made of, as stages take it. */
export const actionFeaturesParam = z.enum(ACTION_FEATURES);

/** Rewards, as stages take them. */
export const rewardParams = z.strictObject({
  task_success: z.number(),
  task_failure: z.number(),
  invalid_action: z.number(),
  forbidden_effect: z.number(),
  step: z.number(),
  progress_beta: z.number(),
  terminal_potential: z.enum(TERMINAL_POTENTIALS),
});

/** The encoder that a stage's parameters ask for. */
export function encoderOf(
  { policy, action_features }: {
    readonly policy: z.infer<typeof policyParams>;
    readonly action_features: z.infer<typeof actionFeaturesParam>;
  },
): FeatureEncoder {
  return encoderFor({
    stateWidth: policy.state_width,
    actionWidth: policy.action_width,
    actionFeatures: action_features,
  });
}
