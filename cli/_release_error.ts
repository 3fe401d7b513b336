import { type ErrorDetails, TracewrightError } from "../lib/core/error.ts";

/** What can be wrong with a release, besides what is wrong with the bundle or the run in it. */
export type ReleaseCode = "bad_allowlist" | "release_mismatch" | "missing_attestation";

/** The error of a release. */
export function releaseError(code: ReleaseCode, details: ErrorDetails): TracewrightError<"cli", ReleaseCode> {
  return new TracewrightError<"cli", ReleaseCode>(code, details);
}
