import { type ErrorDetails, TracewrightError } from "../lib/core/error.ts";

/** What can be wrong with a request before anything is computed. */
export type UsageCode =
  | "bad_command_line"
  | "unknown_variant"
  | "unknown_stage"
  | "wrong_variant"
  | "no_such_case"
  | "no_such_checkpoint"
  | "ambiguous_checkpoint"
  | "wrong_checkpoint"
  | "missing_estimator"
  | "needless_estimator"
  | "other_inputs"
  | "output_not_allowed"
  | "not_a_file"
  | "no_such_entry"
  | "no_key_yet"
  | "unknown_release"
  | "no_such_name"
  | "file_exists"
  | "key_in_repository";

/** An error of the command line: exit code 2. */
export function usageError(code: UsageCode, details: ErrorDetails): TracewrightError<"cli", UsageCode> {
  return new TracewrightError<"cli", UsageCode>(code, details);
}
