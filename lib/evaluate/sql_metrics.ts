/** A fraction in lowest terms and its one division, in the form in which metrics are stored. */
export interface SqlFraction {
  readonly numerator: number;
  readonly denominator: number;
  readonly value: number;
}

/** The point metrics of some traces, in the form in which they are stored. */
export interface SqlPointMetrics {
  readonly cases: number;
  readonly successful_cases: number;
  readonly executed_actions: number;
  readonly families: Readonly<
    Record<string, {
      readonly cases: number;
      readonly successful_cases: number;
      readonly tsr: SqlFraction | null;
    }>
  >;
  /** The quotients: tsr, macro_tsr and so on; null where the denominator is zero. */
  readonly [quotient: string]: SqlFraction | null | number | SqlPointMetrics["families"];
}

/** What SQL computes from the traces of an experiment, laid out as the stored report is. */
export interface SqlMetrics {
  readonly timeout_ms: number;
  readonly runs: readonly {
    readonly variant: string;
    readonly seed: number;
    readonly metrics: SqlPointMetrics;
  }[];
  /** All seeds of a variant together, in the order in which variants first appear. */
  readonly variants: readonly {
    readonly variant: string;
    readonly seeds: readonly number[];
    readonly metrics: SqlPointMetrics;
  }[];
  readonly comparisons: readonly {
    readonly treatment: string;
    readonly baseline: string;
    readonly difference: SqlFraction;
    readonly seed_count: number;
    readonly case_count: number;
    readonly paired_observations: number;
  }[];
}
