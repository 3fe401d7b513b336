import type { ClaimCheck } from "../lib/evaluate/claim_check.ts";

const points = (share: number): string => `${share < 0 ? "" : "+"}${(100 * share).toFixed(2)}`;

/** A claim check for a person. What was found and whether the run could have shown it are two lines, for they are two facts. */
export function claimLines(claim: ClaimCheck): readonly string[] {
  const { primary_comparison: primary, checks } = claim;
  const failed = checks.filter(({ name, passed }) => !passed && name !== "hypothesis");
  const { interval, tsr_difference: difference } = primary;
  return [
    `canonical   ${claim.canonical ? "yes" : "no"}: ${checks.length - 1 - failed.length} of ${
      checks.length - 1
    } structural checks passed`,
    ...failed.map(({ name, actual, comparator, threshold, detail }) =>
      `            ${name}: ${actual}, not ${comparator} ${threshold} (${detail})`
    ),
    `hypothesis  ${claim.hypothesis_passed ? "passed" : "not passed"}: ${claim.preregistered_hypothesis}`,
    ...(difference === null ? [] : [
      `            ${primary.treatment} - ${primary.baseline}: ${points(difference.value)} points` +
      (interval === null
        ? ""
        : `, ${100 * interval.confidence} % interval [${points(interval.low)}, ${points(interval.high)}]` +
          ` of ${interval.samples} draws`),
    ]),
    ...(claim.canonical && !claim.hypothesis_passed
      ? ["            a null result of a canonical run is a result"]
      : []),
  ];
}
