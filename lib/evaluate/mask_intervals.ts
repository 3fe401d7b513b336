import { RandomStream } from "../core/random_stream.ts";
import { INVALID_KINDS, type InvalidActionKind } from "../world/contracts.ts";
import type { BootstrapSettings } from "./case_cluster_bootstrap.ts";
import { CASE_CLUSTER_METHOD } from "./case_draws.ts";
import type { MaskCounts } from "./mask_scores.ts";
import { type Interval, percentileInterval } from "./quantile.ts";

/** Scores of a mask that get an interval, besides the recall of each kind. */
export const BINARY_MASK_METRICS = [
  "valid_recall",
  "invalid_recall",
  "balanced_accuracy",
  "macro_f1",
] as const;
/** One of {@link BINARY_MASK_METRICS}. */
export type BinaryMaskMetric = (typeof BINARY_MASK_METRICS)[number];

/**
 * An interval of a score that a replicate may not have. `samples` counts the replicates that had it,
 * `requested_samples` those that were drawn.
 */
export interface MaskInterval extends Interval {
  readonly requested_samples: number;
  readonly seed: number;
}

/** Intervals by score; null where fewer than two replicates had the score, or none were asked for. */
export interface MaskIntervals extends Readonly<Record<BinaryMaskMetric, MaskInterval | null>> {
  readonly invalid_kind_recall: Readonly<Record<InvalidActionKind, MaskInterval | null>>;
}

/** Columns of the per-case counts: the confusion matrix, then rows and hits of each kind. */
const [TP, FN, TN, FP, KINDS] = [0, 1, 2, 3, 4] as const;
const WIDTH = KINDS + 2 * INVALID_KINDS.length;

function columns(cases: readonly MaskCounts[]): Float64Array {
  const table = new Float64Array(cases.length * WIDTH);
  cases.forEach((counts, i) => {
    const row = table.subarray(i * WIDTH, (i + 1) * WIDTH);
    row.set([counts.truePositive, counts.falseNegative, counts.trueNegative, counts.falsePositive]);
    INVALID_KINDS.forEach((kind, k) => {
      row[KINDS + 2 * k] = counts.kindRows[kind];
      row[KINDS + 2 * k + 1] = counts.kindFound[kind];
    });
  });
  return table;
}

/** Values of one score over the replicates that have it. */
class Replicates {
  readonly #values: Float64Array;
  #used = 0;
  constructor(samples: number) {
    this.#values = new Float64Array(samples);
  }
  add(value: number): void {
    this.#values[this.#used++] = value;
  }
  interval({ samples, confidence, seed }: BootstrapSettings): MaskInterval | null {
    if (this.#used < 2) return null;
    const values = this.#values.subarray(0, this.#used);
    return {
      ...percentileInterval(values, { confidence, method: CASE_CLUSTER_METHOD }),
      requested_samples: samples,
      seed,
    };
  }
}

/**
 * Case-cluster percentile intervals of a mask's scores: each replicate draws as many cases as there are, with replacement,
 * and keeps all rows of a drawn case. A replicate without a class has no binary scores, and one without a kind no recall of
 * that kind; such a replicate is left out of that score and counted.
 *
 * @param cases counts per case, in the order of case ids
 */
export function maskIntervals(cases: readonly MaskCounts[], settings: BootstrapSettings): MaskIntervals {
  const { samples, seed } = settings;
  const table = columns(cases);
  const binary = BINARY_MASK_METRICS.map(() => new Replicates(samples));
  const kinds = INVALID_KINDS.map(() => new Replicates(samples));
  const stream = new RandomStream(seed, CASE_CLUSTER_METHOD, "action-validity");
  const total = new Float64Array(WIDTH);
  for (let replicate = 0; replicate < samples; replicate++) {
    total.fill(0);
    for (let draw = 0; draw < cases.length; draw++) {
      const at = stream.integer(cases.length) * WIDTH;
      for (let c = 0; c < WIDTH; c++) total[c]! += table[at + c]!;
    }
    const [tp, fn, tn, fp] = [total[TP]!, total[FN]!, total[TN]!, total[FP]!];
    if (tp + fn > 0 && tn + fp > 0) {
      const recalls = [tp / (tp + fn), tn / (tn + fp)] as const;
      const f1 = [2 * tp / (2 * tp + fp + fn), 2 * tn / (2 * tn + fp + fn)] as const;
      const values = [...recalls, (recalls[0] + recalls[1]) / 2, (f1[0] + f1[1]) / 2];
      binary.forEach((replicates, m) => replicates.add(values[m]!));
    }
    kinds.forEach((replicates, k) => {
      const rows = total[KINDS + 2 * k]!;
      if (rows > 0) replicates.add(total[KINDS + 2 * k + 1]! / rows);
    });
  }
  const named = <K extends string>(names: readonly K[], replicates: readonly Replicates[]) =>
    Object.fromEntries(names.map((name, i) => [name, replicates[i]!.interval(settings)])) as Record<
      K,
      MaskInterval | null
    >;
  return { ...named(BINARY_MASK_METRICS, binary), invalid_kind_recall: named(INVALID_KINDS, kinds) };
}
