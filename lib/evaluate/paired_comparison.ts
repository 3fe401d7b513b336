import { RandomStream } from "../core/random_stream.ts";
import { evaluateError } from "./_error.ts";
import type { BootstrapSettings } from "./case_cluster_bootstrap.ts";
import { type Interval, percentileInterval } from "./quantile.ts";
import { type Rational, rational } from "./rational.ts";

/** Outcomes of one variant: seed -> case -> success. */
export type Outcomes = ReadonlyMap<number, ReadonlyMap<string, boolean>>;

/** The paired difference of two variants' success rates. */
export interface PairedComparison {
  /** Mean of treatment minus baseline over all (seed, case) pairs. */
  readonly difference: Rational;
  readonly interval: Interval | null;
  readonly seed_count: number;
  readonly case_count: number;
  readonly paired_observations: number;
}

/** How these intervals are called in records; also names the stream of draws. */
export const PAIRED_METHOD = "paired_seed_case_cluster_percentile";

function mismatch(message: string, expected: unknown, actual: unknown): never {
  throw evaluateError("unpaired_outcomes", {
    message,
    expected,
    actual,
  });
}

/** Differences as rows of -1, 0, 1, one per seed in ascending order, cases sorted. */
function differences(
  treatment: Outcomes,
  baseline: Outcomes,
): { seeds: number[]; cases: string[]; rows: Int8Array[] } {
  const seeds = [...treatment.keys()].sort((a, b) => a - b);
  const other = [...baseline.keys()].sort((a, b) => a - b);
  if (seeds.length === 0 || seeds.join() !== other.join()) mismatch("the seed sets differ", seeds, other);
  const cases = [...treatment.get(seeds[0]!)!.keys()].sort();
  if (cases.length === 0) mismatch("no cases", "at least one", 0);
  const rows = seeds.map((seed) => {
    const [t, b] = [treatment.get(seed)!, baseline.get(seed)!];
    if (t.size !== cases.length || b.size !== cases.length) {
      mismatch(`the case sets of seed ${seed} differ`, cases.length, [t.size, b.size]);
    }
    return Int8Array.from(cases, (id) => {
      const [x, y] = [t.get(id), b.get(id)];
      if (typeof x !== "boolean" || typeof y !== "boolean") {
        mismatch(`case ${id} of seed ${seed} is not paired`, "two booleans", [x ?? null, y ?? null]);
      }
      return Number(x) - Number(y);
    });
  });
  return { seeds, cases, rows };
}

/**
 * Paired comparison over seeds and cases. A replicate draws seeds with replacement and cases with replacement and averages
 * the difference over their cross product, duplicates counted. Source: protocol/evaluation-and-evidence.md section 4.
 *
 * @throws TracewrightError "unpaired_outcomes" if the two variants do not cover the same seeds and cases
 */
export function pairedComparison(
  treatment: Outcomes,
  baseline: Outcomes,
  { samples, confidence, seed }: BootstrapSettings,
): PairedComparison {
  const { seeds, cases, rows } = differences(treatment, baseline);
  const observations = seeds.length * cases.length;
  let sum = 0;
  for (const row of rows) for (const d of row) sum += d;
  const replicates = new Float64Array(samples);
  const stream = new RandomStream(seed, PAIRED_METHOD);
  const column = new Int32Array(cases.length);
  for (let replicate = 0; replicate < samples; replicate++) {
    column.fill(0);
    for (let s = 0; s < seeds.length; s++) {
      const row = rows[stream.integer(seeds.length)]!;
      for (let c = 0; c < column.length; c++) column[c]! += row[c]!;
    }
    let total = 0;
    for (let c = 0; c < cases.length; c++) total += column[stream.integer(cases.length)]!;
    replicates[replicate] = total / observations;
  }
  return {
    difference: rational(sum, observations),
    interval: samples === 0 ? null : percentileInterval(replicates, { confidence, method: PAIRED_METHOD }),
    seed_count: seeds.length,
    case_count: cases.length,
    paired_observations: observations,
  };
}
