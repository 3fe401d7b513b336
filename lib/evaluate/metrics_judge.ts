/** Stored metrics, and what they claim to be computed from. */
export interface MetricsClaim {
  /** The stored metrics report, as it was read. */
  readonly stored: unknown;
  /** What a failure costs, in ms. */
  readonly timeoutMs: number;
  /** One entry a variant and seed, in the order of the report. The lines are canonical and are read once. */
  readonly runs: readonly {
    readonly variant: string;
    readonly seed: number;
    readonly lines: Iterable<string>;
  }[];
  readonly comparisons: readonly { readonly treatment: string; readonly baseline: string }[];
}

/**
 * A second judge of metrics: computes them again by other means, compares, and returns nothing. It changes no byte of
 * what it judges.
 *
 * @throws TracewrightError "metrics_sql_mismatch" with the first number that differs
 */
export type MetricsJudge = (claim: MetricsClaim) => Promise<void>;
