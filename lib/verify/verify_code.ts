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

/** Everything that `verify` can find wrong by itself; codes of the store and of admission pass through unchanged. */
export type VerifyCode =
  | "config_mismatch"
  | "plan_mismatch"
  | "action_key_mismatch"
  | "code_version_mismatch"
  | "numerics_mismatch"
  | "result_id_mismatch"
  | "benchmark_mismatch"
  | "trace_not_canonical"
  | "trace_schema"
  | "trace_case_mismatch"
  | "trace_environment_mismatch"
  | "trace_policy_mismatch"
  | "policy_kind_mismatch"
  | "calibration_mismatch"
  | "metrics_mismatch"
  | "report_mismatch"
  | "rebuild_mismatch";

/** A failed check: the code, the step, the place, both values. */
export function verifyError(
  code: VerifyCode,
  details: ErrorDetails & { readonly verify_step: VerifyStep },
): TracewrightError<"verify", VerifyCode> {
  return new TracewrightError<"verify", VerifyCode>(code, details);
}
