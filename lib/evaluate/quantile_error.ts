/** How the Monte-Carlo error of an interval's end is found, as records name it. */
export const QUANTILE_ERROR_METHOD = "binomial_order_statistics";

/**
 * Monte-Carlo standard error of a quantile of replicates, without assuming a distribution: of B replicates the number
 * below the true q-quantile is binomial(B, q), so the order statistics at ranks B q -+ sqrt(B q (1 - q)) are one standard
 * error apart from it; half their distance is the error. Coarse where the statistic takes few values: it can be 0.
 * Source: David and Nagaraja 2003, Order Statistics, section 7.1.
 *
 * @param sorted replicates in ascending order, at least two
 * @param q in (0, 1)
 */
export function quantileError(sorted: ArrayLike<number>, q: number): number {
  const count = sorted.length;
  const spread = Math.sqrt(count * q * (1 - q));
  // Ranks count from 1, places from 0.
  const below = Math.max(0, Math.floor(count * q - spread) - 1);
  const above = Math.min(count - 1, Math.ceil(count * q + spread) - 1);
  return (sorted[above]! - sorted[below]!) / 2 + 0;
}
