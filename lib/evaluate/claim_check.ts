import { ABSENT, claimCheckEntry, structuralChecks } from "./_claim_checks.ts";
import type { BootstrapSettings } from "./case_cluster_bootstrap.ts";
import { CANONICAL_MATRIX, type MatrixVariant, type MatrixVariantName } from "./canonical_matrix.ts";
import { pairedComparison } from "./paired_comparison.ts";
import type { Interval } from "./quantile.ts";
import { type Rational, subtract } from "./rational.ts";

/** Schema of the claim check. */
export const CLAIM_CHECK_SCHEMA = "tracewright.claim_check.v1";

/** What a claim rests on, gathered from the verified run. Order means nothing. */
export interface ClaimEvidence {
  readonly seeds: readonly number[];
  readonly variants: readonly MatrixVariant[];
  readonly test_case_ids: readonly string[];
  /** Which cases have a trace. */
  readonly traces: readonly {
    readonly variant: string;
    readonly seed: number;
    readonly case_ids: readonly string[];
  }[];
  /** Which cases succeeded. */
  readonly outcomes: readonly {
    readonly variant: string;
    readonly seed: number;
    readonly success: ReadonlyMap<string, boolean>;
  }[];
  /** What the metrics state for a variant over all its seeds. */
  readonly aggregates: readonly ({ readonly variant: string } & ClaimNumbers)[];
  readonly action_validity: {
    readonly rows: number;
    readonly valid_rows: number;
    readonly invalid_rows: number;
    readonly balanced_accuracy: Rational;
  };
  readonly bootstrap: BootstrapSettings;
}

/** The numbers that a claim compares; times in simulated seconds. */
export interface ClaimNumbers {
  readonly tsr: Rational;
  /** Null where the variant never succeeds. */
  readonly successful_conditional_simulated_service_time_s: Rational | null;
  readonly timeout_penalized_simulated_cost_s: Rational;
}

/** One check: `actual comparator threshold` is what was asked. A number that does not exist is -1. */
export interface ClaimCheckEntry {
  readonly name: string;
  readonly passed: boolean;
  readonly actual: number;
  readonly comparator: "==" | ">=" | ">";
  readonly threshold: number;
  readonly detail: string;
}

/** One side of the comparisons; null numbers where the metrics do not state them. */
export interface ClaimSide {
  readonly variant: MatrixVariantName;
  readonly tsr: Rational | null;
  readonly successful_conditional_simulated_service_time_s: Rational | null;
  readonly timeout_penalized_simulated_cost_s: Rational | null;
}

/** Treatment minus baseline; null where either number does not exist. */
export interface ClaimComparison {
  readonly treatment: MatrixVariantName;
  readonly baseline: MatrixVariantName;
  readonly tsr_difference: Rational | null;
  readonly successful_conditional_simulated_service_time_s_difference: Rational | null;
  readonly timeout_penalized_simulated_cost_s_difference: Rational | null;
  readonly interval: Interval | null;
}

/** The record `claim-check.json`: a report, not a gate. */
export interface ClaimCheck {
  readonly schema: typeof CLAIM_CHECK_SCHEMA;
  readonly preregistered_hypothesis: typeof CANONICAL_MATRIX.hypothesis;
  /** The run is the experiment that was announced: every structural check passed. Says nothing about its outcome. */
  readonly canonical: boolean;
  /** The announced effect was found. A canonical run without it is a valid result. */
  readonly hypothesis_passed: boolean;
  /** Same as `hypothesis_passed`, under the protocol's name. */
  readonly passed: boolean;
  readonly treatment: ClaimSide;
  readonly matched_baseline: ClaimSide;
  readonly total_system_baseline: ClaimSide;
  readonly primary_comparison: ClaimComparison;
  /** The mask differs too, so this difference is not the learner's; it has no interval. */
  readonly total_system_comparison: ClaimComparison;
  readonly action_validity_balanced_accuracy: Rational;
  readonly bootstrap: BootstrapSettings;
  readonly checks: readonly ClaimCheckEntry[];
}

function side(evidence: ClaimEvidence, variant: MatrixVariantName): ClaimSide {
  const stated = evidence.aggregates.find((aggregate) => aggregate.variant === variant);
  return {
    variant,
    tsr: stated?.tsr ?? null,
    successful_conditional_simulated_service_time_s:
      stated?.successful_conditional_simulated_service_time_s ??
        null,
    timeout_penalized_simulated_cost_s: stated?.timeout_penalized_simulated_cost_s ?? null,
  };
}

function difference(a: Rational | null, b: Rational | null): Rational | null {
  return a === null || b === null ? null : subtract(a, b);
}

function comparison(
  { treatment, baseline, interval }: {
    readonly treatment: ClaimSide;
    readonly baseline: ClaimSide;
    readonly interval: Interval | null;
  },
): ClaimComparison {
  return {
    treatment: treatment.variant,
    baseline: baseline.variant,
    tsr_difference: difference(treatment.tsr, baseline.tsr),
    successful_conditional_simulated_service_time_s_difference: difference(
      treatment.successful_conditional_simulated_service_time_s,
      baseline.successful_conditional_simulated_service_time_s,
    ),
    timeout_penalized_simulated_cost_s_difference: difference(
      treatment.timeout_penalized_simulated_cost_s,
      baseline.timeout_penalized_simulated_cost_s,
    ),
    interval,
  };
}

function outcomesOf(evidence: ClaimEvidence, variant: MatrixVariantName) {
  const cells = evidence.outcomes.filter((cell) => cell.variant === variant);
  return new Map(cells.map(({ seed, success }) => [seed, success]));
}

/**
 * Checks that a run is the announced experiment, and only then whether the announced effect is there: 24 structural checks and
 * one on the hypothesis, that the lower end of the paired interval of E minus B is above zero. The interval is computed
 * here, from outcomes, never taken from metrics. Source: protocol/evaluation-and-evidence.md section 5.
 */
export function claimCheck(evidence: ClaimEvidence): ClaimCheck {
  const structural = structuralChecks(evidence);
  const canonical = structural.every(({ passed }) => passed);
  const { treatment, matched_baseline, total_system_baseline, hypothesis } = CANONICAL_MATRIX;
  const interval = canonical
    ? pairedComparison(
      outcomesOf(evidence, treatment),
      outcomesOf(evidence, matched_baseline),
      evidence.bootstrap,
    ).interval
    : null;
  const lowerEnd = claimCheckEntry("hypothesis", {
    actual: interval === null ? ABSENT : interval.low,
    comparator: ">",
    threshold: 0,
    detail: canonical
      ? "lower end of the paired interval of the treatment's success rate minus the matched baseline's"
      : "not asked: the run is not the announced experiment",
  });
  const sides = {
    treatment: side(evidence, treatment),
    matched_baseline: side(evidence, matched_baseline),
    total_system_baseline: side(evidence, total_system_baseline),
  };
  return {
    schema: CLAIM_CHECK_SCHEMA,
    preregistered_hypothesis: hypothesis,
    canonical,
    hypothesis_passed: lowerEnd.passed,
    passed: lowerEnd.passed,
    ...sides,
    primary_comparison: comparison({
      treatment: sides.treatment,
      baseline: sides.matched_baseline,
      interval,
    }),
    total_system_comparison: comparison({
      treatment: sides.treatment,
      baseline: sides.total_system_baseline,
      interval: null,
    }),
    action_validity_balanced_accuracy: evidence.action_validity.balanced_accuracy,
    bootstrap: evidence.bootstrap,
    checks: [...structural, lowerEnd],
  };
}
