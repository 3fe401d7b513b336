import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/** Everything that can go wrong in this room. */
export type ReportCode = "bad_record";

/** An error of this room. */
export function reportError(code: ReportCode, details: ErrorDetails): TracewrightError<"report", ReportCode> {
  return new TracewrightError<"report", ReportCode>(code, details);
}
