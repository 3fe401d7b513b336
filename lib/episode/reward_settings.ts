import type { TerminalPotential } from "./shaping.ts";

/** The reward part of an experiment's configuration. Source: protocol/policy-and-training.md sections 6 and 12. */
export interface RewardSettings {
  /** Paid once on success. */
  readonly task_success: number;
  /** Paid once when the episode ends without success. */
  readonly task_failure: number;
  /** Paid every step. */
  readonly step: number;
  /** Paid for a rejected call. */
  readonly invalid_action: number;
  /** Paid every step while a forbidden side effect is recorded. */
  readonly forbidden_effect: number;
  /** Weight of potential-based shaping. */
  readonly progress_beta: number;
  /** Discount factor, in [0, 1]. */
  readonly gamma: number;
  /** Phi of the state in which an episode ended; `zero` where left out. */
  readonly terminal_potential?: TerminalPotential;
}
