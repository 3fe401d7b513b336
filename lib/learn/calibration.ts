import { ln } from "../core/numerics.ts";
import { learnError } from "./_error.ts";

/** Probabilities and what happened, row by row. */
export interface Forecast {
  /** In [0, 1], shape [N]. */
  readonly probabilities: ArrayLike<number>;
  /** Shape [N]. */
  readonly labels: readonly boolean[];
}

/** How good probabilities are. */
export interface Calibration {
  readonly rows: number;
  /** Share of true labels. */
  readonly prevalence: number;
  /** Mean binary cross-entropy, probabilities clamped by the machine epsilon. */
  readonly bce: number;
  /** Mean squared error (Brier 1950). */
  readonly brier: number;
  /** Expected calibration error over ten equal bins. */
  readonly ece: number;
  /** Area under the ROC curve; null where one class is missing. */
  readonly auroc: number | null;
}

/** Whether an estimator is good enough to call results confirmatory; a label, not a stop. */
export interface ProgressGate {
  readonly dev_gate_scope: "nonterminal_prefix_only";
  readonly calibration: Calibration;
  readonly checks: { readonly auroc: boolean; readonly ece: boolean; readonly brier: boolean };
  readonly quality_status: "confirmatory" | "exploratory";
}

const EPSILON = 2 ** -52;
const BINS = 10;

/** What the gate asks for: the least AUROC, the largest ECE, and the largest Brier score as a share of the labels' variance. */
export const PROGRESS_GATE_LIMITS = { auroc: 0.7, ece: 0.1, brier_share: 0.9 } as const;

/**
 * Calibration metrics in double precision, summed in row order. Protocol: policy-and-training.md section 5.3.
 *
 * @throws TracewrightError "bad_batch" for no rows, other lengths, or a probability outside [0, 1]
 */
export function calibration(forecast: Forecast): Calibration {
  const { probabilities, labels } = forecast;
  const n = labels.length;
  if (n === 0 || probabilities.length !== n) {
    throw learnError("bad_batch", {
      expected: `${n} probabilities, at least 1`,
      actual: probabilities.length,
    });
  }
  let positives = 0, bce = 0, brier = 0;
  for (let i = 0; i < n; i++) {
    const p = probabilities[i]!;
    if (!(p >= 0 && p <= 1)) throw learnError("bad_batch", { row: i, expected: "a probability", actual: p });
    const y = labels[i] ? 1 : 0;
    const clamped = Math.min(Math.max(p, EPSILON), 1 - EPSILON);
    bce -= y === 1 ? ln(clamped) : ln(1 - clamped);
    brier += (p - y) * (p - y);
    positives += y;
  }
  const area = auroc(forecast);
  return {
    rows: n,
    prevalence: positives / n,
    bce: bce / n,
    brier: brier / n,
    ece: expectedCalibrationError(forecast),
    auroc: Number.isNaN(area) ? null : area,
  };
}

/**
 * Sum over ten bins of equal width of the bin's share times |mean probability - mean label| (Guo et al. 2017, eq. 5). A
 * bin holds its lower bound; the last one holds 1 too.
 */
export function expectedCalibrationError({ probabilities, labels }: Forecast): number {
  const bins = Array.from({ length: BINS }, () => ({ rows: 0, confidence: 0, positives: 0 }));
  for (let i = 0; i < labels.length; i++) {
    const bin = bins[Math.min(BINS - 1, Math.floor(probabilities[i]! * BINS))]!;
    bin.rows++;
    bin.confidence += probabilities[i]!;
    if (labels[i]) bin.positives++;
  }
  let sum = 0;
  for (const { rows, confidence, positives } of bins) {
    if (rows > 0) sum += rows / labels.length * Math.abs(confidence / rows - positives / rows);
  }
  return sum;
}

/**
 * The probability that a true row ranks above a false one, ties counting half: the rank statistic of Mann and Whitney
 * (1947) with average ranks. NaN where one class is missing.
 */
export function auroc({ probabilities, labels }: Forecast): number {
  const n = labels.length;
  const order = Array.from({ length: n }, (_, i) => i)
    .sort((a, b) => probabilities[a]! - probabilities[b]! || a - b);
  let positives = 0;
  let rankSum = 0; // of the true rows; ranks count from 1
  for (let from = 0; from < n;) {
    let to = from;
    while (to < n && probabilities[order[to]!] === probabilities[order[from]!]) to++;
    const rank = (from + 1 + to) / 2;
    for (let i = from; i < to; i++) {
      if (!labels[order[i]!]) continue;
      positives++;
      rankSum += rank;
    }
    from = to;
  }
  return (rankSum - positives * (positives + 1) / 2) / (positives * (n - positives));
}

/**
 * The gate on development rows: AUROC at least 0.70, ECE at most 0.10, Brier at most 0.90 of the variance of the labels.
 * Rows of terminal states are left out, for they are easy and would hide a bad estimator.
 *
 * @param terminal shape [N]: whether a row's state was its episode's last
 */
export function progressGate(
  { probabilities, labels, terminal }: Forecast & { readonly terminal: readonly boolean[] },
): ProgressGate {
  const rows = labels.flatMap((_, i) => terminal[i] ? [] : [i]);
  return gateOf(calibration({
    probabilities: rows.map((row) => probabilities[row]!),
    labels: rows.map((row) => labels[row]!),
  }));
}

/** The gate on metrics that are known. */
export function gateOf(metrics: Calibration): ProgressGate {
  const { auroc, ece, brier, prevalence } = metrics;
  const checks = {
    auroc: auroc !== null && auroc >= PROGRESS_GATE_LIMITS.auroc,
    ece: ece <= PROGRESS_GATE_LIMITS.ece,
    brier: brier <= PROGRESS_GATE_LIMITS.brier_share * prevalence * (1 - prevalence),
  };
  return {
    dev_gate_scope: "nonterminal_prefix_only",
    calibration: metrics,
    checks,
    quality_status: checks.auroc && checks.ece && checks.brier ? "confirmatory" : "exploratory",
  };
}
