import { CASE_CLUSTER_METHOD, caseDraws } from "./case_draws.ts";
import { type CaseCounts, EFFICIENCY_PARTS } from "./case_counts.ts";
import { type Interval, percentileInterval } from "./quantile.ts";

/** How replicates are drawn. `samples` is 0 (no intervals) or at least 2. */
export interface BootstrapSettings {
  readonly samples: number;
  readonly confidence: number;
  /** The bootstrap seed root. */
  readonly seed: number;
}

/** Metrics that get an interval. The success-conditional time has none: its denominator is random. */
export const INTERVAL_METRICS = [
  "tsr",
  "macro_tsr",
  "invalid_action_rate",
  "forbidden_side_effect_rate",
  "steps_efficiency",
  "mean_steps",
  "timeout_penalized_simulated_cost_s",
] as const;
/** One of {@link INTERVAL_METRICS}. */
export type IntervalMetric = (typeof INTERVAL_METRICS)[number];

/** Columns of the per-case sums; below, where each stands. */
const COLUMNS = [
  "cases",
  "success",
  "forbidden",
  "steps",
  "executed",
  "executedInvalid",
  "efficiency",
  "costMs",
] as const;
const [CASES, SUCCESS, FORBIDDEN, STEPS, EXECUTED, INVALID, EFFICIENCY, COST] = [
  0,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
] as const;

interface Clusters {
  /** Sums per case, shape [cases, COLUMNS]. */
  readonly sums: Float64Array;
  /** Family index per case; a case belongs to one family. */
  readonly family: Int32Array;
  readonly count: number;
  readonly families: number;
}

function cluster(rows: readonly CaseCounts[]): Clusters {
  const ids = [...new Set(rows.map((row) => row.case_id))].sort();
  const families = [...new Set(rows.map((row) => row.family))].sort();
  const position = new Map(ids.map((id, i) => [id, i]));
  const familyIndex = new Map(families.map((name, i) => [name, i]));
  const sums = new Float64Array(ids.length * COLUMNS.length);
  const family = new Int32Array(ids.length);
  for (const row of rows) {
    const at = position.get(row.case_id)!;
    family[at] = familyIndex.get(row.family)!;
    COLUMNS.forEach((name, c) => sums[at * COLUMNS.length + c]! += name === "cases" ? 1 : row[name]);
  }
  return { sums, family, count: ids.length, families: families.length };
}

/**
 * Case-cluster percentile intervals: each replicate draws as many cases as there are, with replacement, and keeps all rows
 * of a drawn case together, so several seeds of one case are never treated as independent. Cases are sorted by id, so
 * the order of rows does not matter; the stream does not name the variant, so all variants see the same draws.
 * Source: protocol/evaluation-and-evidence.md section 4.
 *
 * @returns an interval per metric; empty where `samples` is 0
 */
export function caseClusterIntervals(
  rows: readonly CaseCounts[],
  { samples, confidence, seed }: BootstrapSettings,
): Partial<Record<IntervalMetric, Interval>> {
  if (samples === 0 || rows.length === 0) return {};
  const { sums, family, count, families } = cluster(rows);
  const replicates = Object.fromEntries(INTERVAL_METRICS.map((name) => [name, new Float64Array(samples)]));
  const width = COLUMNS.length;
  const total = new Float64Array(width);
  const familyCases = new Float64Array(families);
  const familySuccess = new Float64Array(families);
  let replicate = -1;
  for (const drawn of caseDraws({ seed, count, samples })) {
    replicate++;
    total.fill(0);
    familyCases.fill(0);
    familySuccess.fill(0);
    for (let draw = 0; draw < count; draw++) {
      const at = drawn[draw]!;
      for (let c = 0; c < width; c++) total[c]! += sums[at * width + c]!;
      familyCases[family[at]!]! += sums[at * width + CASES]!;
      familySuccess[family[at]!]! += sums[at * width + SUCCESS]!;
    }
    let macro = 0;
    let seen = 0;
    for (let f = 0; f < families; f++) {
      if (familyCases[f]! === 0) continue; // a family may drop out of a small replicate
      macro += familySuccess[f]! / familyCases[f]!;
      seen++;
    }
    const cases = total[CASES]!;
    replicates["tsr"]![replicate] = total[SUCCESS]! / cases;
    replicates["macro_tsr"]![replicate] = macro / seen;
    replicates["invalid_action_rate"]![replicate] = total[EXECUTED]! === 0
      ? 0
      : total[INVALID]! / total[EXECUTED]!;
    replicates["forbidden_side_effect_rate"]![replicate] = total[FORBIDDEN]! / cases;
    replicates["steps_efficiency"]![replicate] = total[EFFICIENCY]! / EFFICIENCY_PARTS / cases;
    replicates["mean_steps"]![replicate] = total[STEPS]! / cases;
    replicates["timeout_penalized_simulated_cost_s"]![replicate] = total[COST]! / 1000 / cases;
  }
  return Object.fromEntries(
    INTERVAL_METRICS.map((name) => [
      name,
      percentileInterval(replicates[name]!, { confidence, method: CASE_CLUSTER_METHOD }),
    ]),
  );
}
