import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/** Everything that can go wrong in this room. */
export type EvaluateCode =
  | "bad_settings"
  | "duplicate_run"
  | "metric_overflow"
  | "no_cases"
  | "too_many_seeds"
  | "trace_schema"
  | "unexpected_case"
  | "unknown_family"
  | "unpaired_outcomes"
  | "zero_denominator";

/** An error of this room. */
export function evaluateError(
  code: EvaluateCode,
  details: ErrorDetails,
): TracewrightError<"evaluate", EvaluateCode> {
  return new TracewrightError<"evaluate", EvaluateCode>(code, details);
}
