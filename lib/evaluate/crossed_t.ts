import type { PairedTable } from "./paired_table.ts";
import { type Rational, rational } from "./rational.ts";
import { studentCriticalValue, studentTwoSidedTail } from "./student_t.ts";

/** How this interval is called in records. */
export const CROSSED_T_METHOD = "crossed_seed_case_student_t";

/** A Student interval for a difference that shall hold for new seeds and new cases. */
export interface CrossedT {
  readonly method: typeof CROSSED_T_METHOD;
  readonly confidence: number;
  readonly low: number;
  readonly high: number;
  /** P(|T| > |estimate| / standard error): two-sided, of no difference. */
  readonly p_value: number;
  readonly standard_error: number;
  /** Satterthwaite's; seeds - 1 where seeds are what varies. */
  readonly degrees_of_freedom: number;
  /** Mean squares of the seed x case table: between seeds, between cases, and what neither explains. */
  readonly mean_square: { readonly seeds: Rational; readonly cases: Rational; readonly residual: Rational };
}

function meanSquares({ seeds, cases, rows, seedSums, caseSums, total }: PairedTable) {
  const [S, C, T] = [BigInt(seeds.length), BigInt(cases.length), BigInt(total)];
  let [bySeed, byCase, each] = [0n, 0, 0];
  for (const sum of seedSums) bySeed += BigInt(sum) * BigInt(sum);
  for (const sum of caseSums) byCase += sum * sum;
  for (const row of rows) for (const d of row) each += d * d;
  // Sums of squares times S C, so that they stay whole.
  const seedPart = S * bySeed - T * T;
  const casePart = C * BigInt(byCase) - T * T;
  const all = S * C * BigInt(each) - T * T;
  return {
    seeds: rational(seedPart, S * C * (S - 1n)),
    cases: rational(casePart, S * C * (C - 1n)),
    residual: rational(all - seedPart - casePart, S * C * (S - 1n) * (C - 1n)),
  };
}

/**
 * The classical interval for seeds crossed with cases, both random. The variance of the mean difference is
 * (M_seeds + max(0, M_cases - M_residual)) / (S C) with the mean squares M of the two-way table, and Student's t has
 * Satterthwaite's degrees of freedom, at least min(seeds, cases) - 1: a sum of variances is never known worse than its worst
 * part, and the difference of two that are nearly equal would say so by chance. M_seeds always counts in full: a handful of seeds cannot show that seeds do not matter.
 * Where seeds agree to the last case and cases add nothing, that is coincidence, and M_residual stands in.
 *
 * This is what stays honest with five seeds, where percentile intervals do not (see `null_control.ts`).
 * Source: Cornfield and Tukey 1956, "Average values of mean squares in factorials", for the variance; Satterthwaite 1946,
 * "An approximate distribution of estimates of variance components", for the degrees of freedom.
 *
 * @returns null with fewer than two seeds or two cases: then one of the variances cannot be known
 */
export function crossedT(table: PairedTable, confidence: number): CrossedT | null {
  const [S, C] = [table.seeds.length, table.cases.length];
  if (S < 2 || C < 2) return null;
  const mean_square = meanSquares(table);
  const [seeds, cases, residual] = [
    mean_square.seeds.value,
    mean_square.cases.value,
    mean_square.residual.value,
  ];
  const excess = Math.max(0, cases - residual);
  const sum = seeds + excess === 0 ? residual : seeds + excess;
  const standard_error = Math.sqrt(sum / (S * C));
  const excessPart = excess === 0 ? 0 : (cases * cases + residual * residual / (S - 1)) / (C - 1);
  const spread = seeds * seeds / (S - 1) + excessPart;
  const fewest = Math.min(S, C) - 1;
  const degrees_of_freedom = spread === 0 ? fewest : Math.max(fewest, sum * sum / spread);
  const estimate = table.total / (S * C) + 0;
  const margin = standard_error === 0
    ? 0
    : studentCriticalValue(1 - confidence, degrees_of_freedom) * standard_error;
  return {
    method: CROSSED_T_METHOD,
    confidence,
    low: estimate - margin + 0,
    high: estimate + margin + 0,
    p_value: pValue({ estimate, standard_error, degrees_of_freedom }),
    standard_error,
    degrees_of_freedom,
    mean_square,
  };
}

/** A difference that never varies is certain: p = 0 unless it is no difference. */
function pValue(
  { estimate, standard_error, degrees_of_freedom }: {
    readonly estimate: number;
    readonly standard_error: number;
    readonly degrees_of_freedom: number;
  },
): number {
  if (estimate === 0) return 1;
  if (standard_error === 0) return 0;
  return studentTwoSidedTail(Math.abs(estimate) / standard_error, degrees_of_freedom);
}
