import { z } from "zod";

/** Widths of the network, as stages take them. The config has checked ranges; here only the form counts. */
export const policyParams = z.strictObject({
  state_width: z.int(),
  action_width: z.int(),
  hidden_width: z.int(),
});

/** Rewards, as stages take them. */
export const rewardParams = z.strictObject({
  task_success: z.number(),
  task_failure: z.number(),
  invalid_action: z.number(),
  forbidden_effect: z.number(),
  step: z.number(),
  progress_beta: z.number(),
});
