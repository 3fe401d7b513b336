import { evaluateError } from "./_error.ts";
import type { Outcomes } from "./paired_comparison.ts";
import { type Rational, rational } from "./rational.ts";

/** How much one variant's outcome of a case depends on the seed. */
export interface CaseStability {
  readonly seeds: number;
  readonly cases: number;
  /** How many cases succeed with exactly i seeds, i = 0 .. seeds. */
  readonly histogram: readonly number[];
  /** Share of cases that succeed with some seeds and fail with others. */
  readonly flip_rate: Rational;
  /** Chance that two different seeds disagree on a case; null with one seed. */
  readonly disagreement: Rational | null;
  /**
   * Intra-class correlation: how alike the seeds are within a case. 1: the case decides alone; 0: cases do not matter;
   * below 0: seeds disagree more than chance. Null with one seed or one case, and where every outcome is the same, for then
   * there is no variance to share out.
   */
  readonly icc: Rational | null;
}

function successes(outcomes: Outcomes): { seeds: number; counts: number[] } {
  const seeds = [...outcomes.keys()].sort((a, b) => a - b);
  const cases = [...(outcomes.get(seeds[0] ?? NaN)?.keys() ?? [])].sort();
  if (cases.length === 0) throw evaluateError("no_cases", { expected: "at least one seed with one case" });
  const counts = cases.map(() => 0);
  for (const seed of seeds) {
    const own = outcomes.get(seed)!;
    if (own.size !== cases.length) {
      throw evaluateError("unpaired_outcomes", { seed, expected: cases.length, actual: own.size });
    }
    cases.forEach((id, c) => {
      const success = own.get(id);
      if (typeof success !== "boolean") {
        throw evaluateError("unpaired_outcomes", { seed, case: id, expected: "a boolean", actual: success });
      }
      if (success) counts[c]!++;
    });
  }
  return { seeds: seeds.length, counts };
}

/**
 * Stability of one variant over its seeds, exactly. With N cases, r seeds, c successes of a case, T their sum and
 * Q = sum c^2 - T^2 / N: between cases B = Q / (r (N - 1)), within cases W = sum c (r - c) / (r N (r - 1)), and the ANOVA
 * estimator is (B - W) / (B + (r - 1) W). Source: Shrout and Fleiss 1979, "Intraclass correlations", ICC(1, 1).
 *
 * @throws TracewrightError "no_cases"; "unpaired_outcomes" unless every seed has the same cases, each with a boolean
 */
export function caseStability(outcomes: Outcomes): CaseStability {
  const { seeds: r, counts } = successes(outcomes);
  const N = counts.length;
  const histogram = Array.from({ length: r + 1 }, () => 0);
  let [T, squares, mixed, flips] = [0, 0, 0, 0];
  for (const c of counts) {
    histogram[c]!++;
    T += c;
    squares += c * c;
    mixed += c * (r - c);
    if (c > 0 && c < r) flips++;
  }
  // B and W times r N (N - 1) (r - 1), so that they stay whole.
  const between = (BigInt(N) * BigInt(squares) - BigInt(T) * BigInt(T)) * BigInt(r - 1);
  const within = BigInt(mixed) * BigInt(N - 1);
  const whole = between + BigInt(r - 1) * within;
  return {
    seeds: r,
    cases: N,
    histogram,
    flip_rate: rational(flips, N),
    disagreement: r < 2 ? null : rational(2 * mixed, N * r * (r - 1)),
    icc: r < 2 || N < 2 || whole === 0n ? null : rational(between - within, whole),
  };
}
