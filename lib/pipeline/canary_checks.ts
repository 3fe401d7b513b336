import type { Rational } from "../evaluate/rational.ts";

/** Name of the criterion; another one would be another name. */
export const CANARY_CRITERION = "deterministic_engineering_canary_v2";

/** One check: `actual comparator threshold` is what was asked. */
export interface CanaryCheck {
  readonly name: string;
  readonly passed: boolean;
  readonly actual: number;
  readonly comparator: "==" | ">=" | ">";
  readonly threshold: number;
}

/** What the checks look at. */
export interface CanaryFindings {
  readonly oracle_tsr: Rational;
  readonly bc_action_set_accuracy: Rational;
  readonly bc_tsr: Rational;
  readonly ppo_tsr: Rational;
  readonly inconsistencies: number;
  readonly distinct_results: number;
}

const HOLDS = {
  "==": (actual: number, threshold: number) => actual === threshold,
  ">=": (actual: number, threshold: number) => actual >= threshold,
  ">": (actual: number, threshold: number) => actual > threshold,
} as const;

/**
 * The criterion, check by check. PPO need not do better than the clone, but not both may fail everywhere. Source:
 * protocol/policy-and-training.md section 14; where it allows 1e-9, this asks for equality.
 */
export function canaryChecks(found: CanaryFindings): readonly CanaryCheck[] {
  const check = (
    name: string,
    actual: number,
    [comparator, threshold]: readonly [CanaryCheck["comparator"], number],
  ): CanaryCheck => ({ name, passed: HOLDS[comparator](actual, threshold), actual, comparator, threshold });
  return [
    check("oracle_tsr", found.oracle_tsr.value, ["==", 1]),
    check("bc_action_set_accuracy", found.bc_action_set_accuracy.value, [">=", 0.95]),
    check("bc_tsr", found.bc_tsr.value, [">=", 0.75]),
    check(
      "policies_with_a_success",
      Number(found.bc_tsr.numerator > 0) + Number(found.ppo_tsr.numerator > 0),
      [">", 0],
    ),
    check("replay_inconsistencies", found.inconsistencies, ["==", 0]),
    check("distinct_results", found.distinct_results, ["==", 1]),
  ];
}
