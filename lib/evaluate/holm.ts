/** One test of a family after correction. */
export interface HolmResult {
  /** The smallest family-wise error rate at which this test would be rejected. */
  readonly adjusted_p: number;
  readonly rejected: boolean;
}

/**
 * Holm's step-down correction of a family of F tests: in ascending order the i-th p, counted from 1, is multiplied by F - i + 1,
 * and an adjusted p is never below the one before it. Rejects while adjusted p <= alpha, which bounds the chance of any false
 * rejection by alpha whatever the dependence. Source: Holm 1979, "A simple sequentially rejective multiple test procedure".
 *
 * @param pValues of the family, all declared beforehand
 * @returns in the order of `pValues`
 */
export function holm(pValues: readonly number[], alpha: number): HolmResult[] {
  const order = pValues.map((_, i) => i).sort((a, b) => pValues[a]! - pValues[b]! || a - b);
  const results = new Array<HolmResult>(pValues.length);
  let largest = 0;
  order.forEach((at, rank) => {
    largest = Math.max(largest, Math.min(1, pValues[at]! * (pValues.length - rank)));
    results[at] = { adjusted_p: largest, rejected: largest <= alpha };
  });
  return results;
}
