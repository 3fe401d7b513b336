import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/** Everything that can go wrong in this room. */
export type LearnCode =
  | "arena_busy"
  | "arena_closed"
  | "arena_exhausted"
  | "bad_batch"
  | "bad_shape"
  | "bad_option"
  | "bad_checkpoint"
  | "checkpoint_mismatch"
  | "duplicate_state"
  | "masked_choice"
  | "no_candidate"
  | "no_positive"
  | "not_floating"
  | "non_finite"
  | "non_finite_gradient";

/** An error of this room. */
export function learnError(code: LearnCode, details: ErrorDetails): TracewrightError<"learn", LearnCode> {
  return new TracewrightError<"learn", LearnCode>(code, details);
}
