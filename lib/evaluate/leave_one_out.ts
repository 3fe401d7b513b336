import { evaluateError } from "./_error.ts";
import type { PairedTable } from "./paired_table.ts";
import { type Rational, rational } from "./rational.ts";

/** The paired difference without one seed; null where no seed would be left. */
export interface WithoutSeed {
  readonly seed: number;
  readonly difference: Rational | null;
}

/** The paired difference without one family; null where no case would be left. */
export interface WithoutFamily {
  readonly family: string;
  /** Cases that remain. */
  readonly cases: number;
  readonly difference: Rational | null;
}

/** The difference again without each seed in turn, seeds ascending: does one seed carry the result? */
export function leaveOneSeedOut({ seeds, cases, seedSums, total }: PairedTable): WithoutSeed[] {
  const observations = (seeds.length - 1) * cases.length;
  return seeds.map((seed, s) => ({
    seed,
    difference: observations === 0 ? null : rational(total - seedSums[s]!, observations),
  }));
}

/**
 * The difference again without each family in turn, families sorted: does one kind of task carry the result?
 *
 * @param families the family of every case
 * @throws TracewrightError "unknown_family" for a case without one
 */
export function leaveOneFamilyOut(
  { seeds, cases, caseSums, total }: PairedTable,
  families: ReadonlyMap<string, string>,
): WithoutFamily[] {
  const sums = new Map<string, { cases: number; total: number }>();
  cases.forEach((id, c) => {
    const family = families.get(id);
    if (family === undefined) {
      throw evaluateError("unknown_family", { case: id, expected: "a family for every case" });
    }
    const sum = sums.get(family) ?? { cases: 0, total: 0 };
    sums.set(family, { cases: sum.cases + 1, total: sum.total + caseSums[c]! });
  });
  return [...sums.keys()].sort().map((family) => {
    const own = sums.get(family)!;
    const left = cases.length - own.cases;
    return {
      family,
      cases: left,
      difference: left === 0 ? null : rational(total - own.total, seeds.length * left),
    };
  });
}
