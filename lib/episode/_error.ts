import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/** Everything that can go wrong in this room. */
export type EpisodeCode =
  | "bad_answer"
  | "bad_choice"
  | "bad_demonstration"
  | "bad_lanes"
  | "bad_prefixes"
  | "bad_shaping"
  | "missing_evidence"
  | "unbalanced_labels";

/** An error of this room. */
export function episodeError(
  code: EpisodeCode,
  details: ErrorDetails,
): TracewrightError<"episode", EpisodeCode> {
  return new TracewrightError<"episode", EpisodeCode>(code, details);
}
