import { evaluateError } from "./_error.ts";
import { type CaseCounts, EFFICIENCY_PARTS } from "./case_counts.ts";
import { meanOf, type Rational, rational } from "./rational.ts";

/** Success of one family. */
export interface FamilyMetrics {
  readonly cases: number;
  readonly successful_cases: number;
  readonly tsr: Rational;
}

/** Point values of one set of traces. Source: protocol/evaluation-and-evidence.md section 3. */
export interface Metrics {
  readonly cases: number;
  readonly successful_cases: number;
  readonly executed_actions: number;
  /** Task success rate. */
  readonly tsr: Rational;
  /** Unweighted mean of the families' success rates. */
  readonly macro_tsr: Rational;
  /** Share of executed actions that the environment judged invalid, over all actions of all cases. */
  readonly invalid_action_rate: Rational;
  /** Share of cases with at least one forbidden side effect. */
  readonly forbidden_side_effect_rate: Rational;
  /** Mean over cases of optimal / steps for a success, 0 for a failure. */
  readonly steps_efficiency: Rational;
  readonly mean_steps: Rational;
  /** Mean simulated service time of the successes, seconds; null where there are none. Not a wall-clock time. */
  readonly successful_conditional_simulated_service_time_s: Rational | null;
  /** Mean over cases of the time of a success, at most the timeout, and of the timeout for a failure; seconds. */
  readonly timeout_penalized_simulated_cost_s: Rational;
  readonly families: Readonly<Record<string, FamilyMetrics>>;
}

/** Sums over a set of cases. Every metric is a quotient of these. */
export interface Totals {
  cases: number;
  success: number;
  forbidden: number;
  steps: number;
  executed: number;
  executedInvalid: number;
  /** May pass 2^53 with very many cases: kept as two numbers, whole efficiencies and parts. */
  efficiency: bigint;
  successMs: number;
  costMs: number;
  readonly families: Map<string, { cases: number; success: number }>;
}

/** The empty sum. */
export function emptyTotals(): Totals {
  return {
    cases: 0,
    success: 0,
    forbidden: 0,
    steps: 0,
    executed: 0,
    executedInvalid: 0,
    efficiency: 0n,
    successMs: 0,
    costMs: 0,
    families: new Map(),
  };
}

/** Adds one trace's counts. */
export function addCase(totals: Totals, counts: CaseCounts): void {
  totals.cases++;
  totals.success += counts.success;
  totals.forbidden += counts.forbidden;
  totals.steps += counts.steps;
  totals.executed += counts.executed;
  totals.executedInvalid += counts.executedInvalid;
  totals.efficiency += BigInt(counts.efficiency);
  totals.successMs += counts.successMs;
  totals.costMs += counts.costMs;
  const family = totals.families.get(counts.family);
  if (family === undefined) totals.families.set(counts.family, { cases: 1, success: counts.success });
  else {
    family.cases++;
    family.success += counts.success;
  }
}

/**
 * Metrics as exact fractions.
 *
 * @throws TracewrightError "no_cases" for an empty sum
 */
export function metricsOf(totals: Totals): Metrics {
  const { cases, success, executed } = totals;
  if (cases === 0) {
    throw evaluateError("no_cases", { expected: "at least one trace" });
  }
  const families: Record<string, FamilyMetrics> = {};
  for (const name of [...totals.families.keys()].sort()) {
    const family = totals.families.get(name)!;
    families[name] = {
      cases: family.cases,
      successful_cases: family.success,
      tsr: rational(family.success, family.cases),
    };
  }
  return {
    cases,
    successful_cases: success,
    executed_actions: executed,
    tsr: rational(success, cases),
    macro_tsr: meanOf(Object.values(families).map((family) => family.tsr)),
    invalid_action_rate: executed === 0 ? rational(0, 1) : rational(totals.executedInvalid, executed),
    forbidden_side_effect_rate: rational(totals.forbidden, cases),
    steps_efficiency: rational(totals.efficiency, BigInt(EFFICIENCY_PARTS) * BigInt(cases)),
    mean_steps: rational(totals.steps, cases),
    successful_conditional_simulated_service_time_s: success === 0
      ? null
      : rational(totals.successMs, success * 1000),
    timeout_penalized_simulated_cost_s: rational(totals.costMs, cases * 1000),
    families,
  };
}
