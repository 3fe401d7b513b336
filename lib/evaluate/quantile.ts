/**
 * Linear-interpolated quantile of sorted values (Hyndman and Fan 1996, definition 7).
 *
 * @param sorted ascending, at least one value
 * @param q in [0, 1]
 */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const position = (sorted.length - 1) * q;
  const below = Math.floor(position);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (position - below) + 0;
}

/** A percentile interval and how it was made. */
export interface Interval {
  readonly low: number;
  readonly high: number;
  readonly confidence: number;
  readonly method: string;
  readonly samples: number;
}

/** The central interval of replicates; sorts its argument in place. */
export function percentileInterval(
  replicates: Float64Array,
  { confidence, method }: { confidence: number; method: string },
): Interval {
  replicates.sort(); // typed arrays sort by value, a total order without NaN
  const tail = (1 - confidence) / 2;
  return {
    low: quantile(replicates, tail),
    high: quantile(replicates, 1 - tail),
    confidence,
    method,
    samples: replicates.length,
  };
}
