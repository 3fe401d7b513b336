import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/** Everything that can go wrong in this room. */
export type LearnCode =
  | "arena_busy"
  | "arena_closed"
  | "arena_exhausted"
  | "bad_batch"
  | "bad_end"
  | "bad_shape"
  | "bad_option"
  | "bad_checkpoint"
  | "bad_return"
  | "bad_start"
  | "checkpoint_mismatch"
  | "duplicate_state"
  | "early_task_reward"
  | "masked_choice"
  | "no_candidate"
  | "no_positive"
  | "not_floating"
  | "non_finite"
  | "non_finite_gradient"
  | "scattered_episode";

/** An error of this room. */
export function learnError(code: LearnCode, details: ErrorDetails): TracewrightError<"learn", LearnCode> {
  return new TracewrightError<"learn", LearnCode>(code, details);
}
