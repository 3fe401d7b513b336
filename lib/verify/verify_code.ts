import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/** The steps of a verification, in order. The first failure ends it. */
export const VERIFY_STEPS = [
  "structure",
  "completeness",
  "keys",
  "regenerate",
  "environment",
  "policy",
  "metrics",
  "claim",
  "training",
] as const;
export type VerifyStep = (typeof VERIFY_STEPS)[number];

/** Everything that `verify` can find wrong by itself; codes of the store, the config and admission pass unchanged. */
export const VERIFY_CODES = [
  "blob_too_large",
  "size_mismatch",
  "plan_mismatch",
  "action_key_mismatch",
  "code_version_mismatch",
  "numerics_mismatch",
  "benchmark_mismatch",
  "trace_not_canonical",
  "trace_schema",
  "trace_case_mismatch",
  "trace_environment_mismatch",
  "trace_policy_mismatch",
  "policy_kind_mismatch",
  "training_mismatch",
  "calibration_mismatch",
  "metrics_mismatch",
  "derived_mismatch",
  "report_mismatch",
  "rebuild_mismatch",
] as const;
/** One of {@link VERIFY_CODES}. */
export type VerifyCode = (typeof VERIFY_CODES)[number];

/** A failed check: the code, the step, the place, both values. */
export function verifyError(
  code: VerifyCode,
  details: ErrorDetails & { readonly verify_step: VerifyStep },
): TracewrightError<"verify", VerifyCode> {
  return new TracewrightError<"verify", VerifyCode>(code, details);
}

/**
 * Does a piece of a check and adds to whatever goes wrong where in the run that was. What an error says itself stays.
 */
export function inPlace<T>(place: ErrorDetails, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw placed(error, place);
  }
}

/** An error of a check with its place added; of the two values, those of the nearest cause that has them. */
export function placed(error: unknown, place: ErrorDetails): unknown {
  if (!(error instanceof TracewrightError)) return error;
  return new TracewrightError(error.code, { ...place, ...valuesOf(error), ...error.details, cause: error });
}

function valuesOf(error: TracewrightError): ErrorDetails {
  for (let at: unknown = error; at instanceof TracewrightError; at = at.cause) {
    const { expected, actual } = at.details;
    if (expected !== undefined || actual !== undefined) return { expected, actual };
  }
  return {};
}
