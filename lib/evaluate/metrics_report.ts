import { evaluateError } from "./_error.ts";
import type { CaseCounts } from "./case_counts.ts";
import {
  type BootstrapSettings,
  caseClusterIntervals,
  type IntervalMetric,
} from "./case_cluster_bootstrap.ts";
import { addCase, emptyTotals, type Metrics, metricsOf } from "./metrics.ts";
import { type PairedComparison, pairedComparison } from "./paired_comparison.ts";
import type { Interval } from "./quantile.ts";

/** Schema of the metrics blob. */
export const METRICS_SCHEMA = "tracewright.metrics.v1";

/** Point values with their intervals. */
export interface MetricsWithIntervals extends Metrics {
  readonly confidence_intervals: Partial<Record<IntervalMetric, Interval>>;
}

/** Which cases stand behind a number: `planned` = `scored` + the excluded, whatever the reason. */
export interface Denominators {
  readonly planned: number;
  readonly run: number;
  readonly excluded: Readonly<Record<ExclusionReason, number>>;
  readonly scored: number;
}

/** Why a planned case carries no score. */
export const EXCLUSION_REASONS = ["missing_trace"] as const;
/** One of {@link EXCLUSION_REASONS}. */
export type ExclusionReason = (typeof EXCLUSION_REASONS)[number];

/** The scored cases of one variant and seed. */
export interface ScoredRun {
  readonly variant: string;
  readonly seed: number;
  readonly rows: readonly CaseCounts[];
}

/** Two variants to compare, by name. */
export interface ComparisonPlan {
  readonly treatment: string;
  readonly baseline: string;
}

/** What the metrics blob of a run holds. */
export interface MetricsReport {
  readonly schema: typeof METRICS_SCHEMA;
  readonly timeout_s: number;
  readonly bootstrap: BootstrapSettings;
  readonly runs: readonly {
    readonly variant: string;
    readonly seed: number;
    readonly denominators: Denominators;
    readonly metrics: MetricsWithIntervals;
  }[];
  /** All seeds of a variant together; a drawn case keeps its rows of all seeds. */
  readonly variants: readonly {
    readonly variant: string;
    readonly seeds: readonly number[];
    readonly metrics: MetricsWithIntervals;
  }[];
  readonly comparisons: readonly (ComparisonPlan & PairedComparison)[];
}

function summarise(rows: readonly CaseCounts[], bootstrap: BootstrapSettings): MetricsWithIntervals {
  const totals = emptyTotals();
  for (const row of rows) addCase(totals, row);
  return { ...metricsOf(totals), confidence_intervals: caseClusterIntervals(rows, bootstrap) };
}

function checkRuns(runs: readonly ScoredRun[]): void {
  const seen = new Set<string>();
  for (const { variant, seed } of runs) {
    const name = `${variant} ${seed}`;
    if (seen.has(name)) {
      throw evaluateError("duplicate_run", {
        message: "a variant and seed were scored twice",
        variant,
        seed,
      });
    }
    seen.add(name);
  }
}

/** The case ids of the test split. */
interface Planned {
  readonly count: number;
  readonly ids: ReadonlySet<string>;
}

function denominators(run: ScoredRun, planned: Planned): Denominators {
  const seen = new Set<string>();
  for (const { case_id } of run.rows) {
    if (!planned.ids.has(case_id) || seen.has(case_id)) {
      throw evaluateError("unexpected_case", {
        message: seen.has(case_id) ? "a case was scored twice" : "a case does not belong to the test split",
        variant: run.variant,
        seed: run.seed,
        case: case_id,
      });
    }
    seen.add(case_id);
  }
  return {
    planned: planned.count,
    run: run.rows.length,
    excluded: { missing_trace: planned.count - run.rows.length },
    scored: run.rows.length,
  };
}

/**
 * Everything the report states, from case counts alone.
 *
 * @param runs one entry per variant and seed, in the order in which they shall appear
 * @param planned case ids of the test split
 * @throws TracewrightError "duplicate_run" for a repeated variant and seed; "unexpected_case" for a foreign or repeated case;
 * "no_cases" for a run without any; "unpaired_outcomes" where a comparison lacks pairs
 */
export function metricsReport(
  runs: readonly ScoredRun[],
  { planned, timeoutMs, bootstrap, comparisons }: {
    readonly planned: readonly string[];
    readonly timeoutMs: number;
    readonly bootstrap: BootstrapSettings;
    readonly comparisons: readonly ComparisonPlan[];
  },
): MetricsReport {
  checkRuns(runs);
  const variants = [...new Set(runs.map((run) => run.variant))];
  const outcomes = (variant: string) =>
    new Map(
      runs.filter((run) => run.variant === variant).map((run) => [
        run.seed,
        new Map(run.rows.map((row) => [row.case_id, row.success === 1])),
      ]),
    );
  const split = { count: planned.length, ids: new Set(planned) };
  const scored = runs.map((run) => ({
    variant: run.variant,
    seed: run.seed,
    denominators: denominators(run, split),
    metrics: summarise(run.rows, bootstrap),
  }));
  return {
    schema: METRICS_SCHEMA,
    timeout_s: timeoutMs / 1000,
    bootstrap,
    runs: scored,
    variants: variants.map((variant) => {
      const own = runs.filter((run) => run.variant === variant);
      // One run alone is its variant: nothing else would come out.
      const [only] = own.length === 1 ? scored.filter((run) => run.variant === variant) : [];
      return {
        variant,
        seeds: own.map((run) => run.seed),
        metrics: only?.metrics ?? summarise(own.flatMap((run) => run.rows), bootstrap),
      };
    }),
    comparisons: comparisons.map(({ treatment, baseline }) => ({
      treatment,
      baseline,
      ...pairedComparison(outcomes(treatment), outcomes(baseline), bootstrap),
    })),
  };
}
