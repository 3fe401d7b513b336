import { evaluateError } from "./_error.ts";
import type { Outcomes } from "./paired_comparison.ts";
import { type Rational, rational } from "./rational.ts";

/**
 * Treatment minus baseline of every (seed, case) pair, -1, 0 or 1, with the sums that every later computation starts from.
 * Seeds ascend and cases are sorted by id, so nothing made from a table depends on the order of rows.
 */
export interface PairedTable {
  readonly seeds: readonly number[];
  readonly cases: readonly string[];
  /** One row a seed, one column a case. */
  readonly rows: readonly Int8Array[];
  /** Sum over cases, shape [seeds]. */
  readonly seedSums: Int32Array;
  /** Sum over seeds, shape [cases]. */
  readonly caseSums: Int32Array;
  readonly total: number;
}

/** Adds the sums to rows whose seeds ascend and whose cases are sorted. */
export function sumTable(
  { seeds, cases, rows }: Pick<PairedTable, "seeds" | "cases" | "rows">,
): PairedTable {
  const seedSums = new Int32Array(seeds.length);
  const caseSums = new Int32Array(cases.length);
  let total = 0;
  rows.forEach((row, s) => {
    for (let c = 0; c < row.length; c++) {
      seedSums[s]! += row[c]!;
      caseSums[c]! += row[c]!;
    }
    total += seedSums[s]!;
  });
  return { seeds, cases, rows, seedSums, caseSums, total };
}

function unpaired(message: string, { expected, actual }: { expected: unknown; actual: unknown }): never {
  throw evaluateError("unpaired_outcomes", { message, expected, actual });
}

/**
 * Pairs two variants by seed and case.
 *
 * @throws TracewrightError "unpaired_outcomes" unless both have the same seeds and, in every seed, the same cases, at least
 * one of each, each with a boolean
 */
export function pairedTable(
  { treatment, baseline }: { readonly treatment: Outcomes; readonly baseline: Outcomes },
): PairedTable {
  const seeds = [...treatment.keys()].sort((a, b) => a - b);
  const other = [...baseline.keys()].sort((a, b) => a - b);
  if (seeds.length === 0 || seeds.join() !== other.join()) {
    unpaired("the seeds of the two variants differ", { expected: seeds, actual: other });
  }
  const cases = [...treatment.get(seeds[0]!)!.keys()].sort();
  if (cases.length === 0) unpaired("there is no case", { expected: "at least one", actual: 0 });
  const rows = seeds.map((seed) => {
    const [t, b] = [treatment.get(seed)!, baseline.get(seed)!];
    if (t.size !== cases.length || b.size !== cases.length) {
      unpaired(`the cases of seed ${seed} differ`, { expected: cases.length, actual: [t.size, b.size] });
    }
    return Int8Array.from(cases, (id) => {
      const [x, y] = [t.get(id), b.get(id)];
      if (typeof x !== "boolean" || typeof y !== "boolean") {
        unpaired(`case ${id} of seed ${seed} has no pair`, {
          expected: "two booleans",
          actual: [x ?? null, y ?? null],
        });
      }
      return Number(x) - Number(y);
    });
  });
  return sumTable({ seeds, cases, rows });
}

/** The mean of all paired differences: treatment's success rate minus the baseline's, exactly. */
export function pairedDifference({ seeds, cases, total }: PairedTable): Rational {
  return rational(total, seeds.length * cases.length);
}
