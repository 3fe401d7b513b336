/** Records of a small run, for the tests of this room. */
import { canonicalBytes } from "../core/canonical_json.ts";
import { digestOf, hexOf } from "../core/digest.ts";
import { CANONICAL_MATRIX } from "../evaluate/canonical_matrix.ts";
import { EFFICIENCY_PARTS } from "../evaluate/case_counts.ts";
import { type ClaimCheck, claimCheck } from "../evaluate/claim_check.ts";
import { maskIntervals } from "../evaluate/mask_intervals.ts";
import { MASK_METRICS_SCHEMA, type MaskMetrics } from "../evaluate/mask_metrics.ts";
import { type MaskCounts, maskScores } from "../evaluate/mask_scores.ts";
import { type MetricsReport, metricsReport } from "../evaluate/metrics_report.ts";
import type { Outcomes } from "../evaluate/paired_comparison.ts";
import { rational } from "../evaluate/rational.ts";
import { type StatisticsReport, statisticsReport } from "../evaluate/statistics_report.ts";
import type { CalibrationRecord, TrainingRecord } from "./run_records.ts";
import type { ReportBlobs } from "./run_report.ts";

const PLANNED = ["a1", "a2", "a3", "b1", "b2"];

/** Scored cases of one cell: a digit a case, 1 for a success in ten steps of at least nine. */
function rows(outcomes: string) {
  return [...outcomes].map((outcome, i) => {
    const success: 0 | 1 = outcome === "1" ? 1 : 0;
    return {
      case_id: PLANNED[i]!,
      family: PLANNED[i]!.slice(0, 1),
      success,
      forbidden: 0,
      steps: success === 1 ? 10 : 13,
      executed: success === 1 ? 10 : 13,
      executedInvalid: success === 1 ? 0 : 3,
      efficiency: success === 1 ? EFFICIENCY_PARTS / 10 * 9 : 0,
      successMs: success === 1 ? 12_345 : 0,
      costMs: success === 1 ? 12_345 : 80_000,
    } as const;
  });
}

/** Variants B and E at two seeds, and D at one, with a trace missing. */
export function exampleMetrics(
  { samples = 40, comparisons = [{ treatment: "E", baseline: "B" }] }: {
    readonly samples?: number;
    readonly comparisons?: { readonly treatment: string; readonly baseline: string }[];
  } = {},
): MetricsReport {
  return metricsReport([
    { variant: "B", seed: 17, rows: rows("10000") },
    { variant: "B", seed: 29, rows: rows("01000") },
    { variant: "E", seed: 17, rows: rows("11010") },
    { variant: "E", seed: 29, rows: rows("11110") },
    { variant: "D", seed: 17, rows: rows("1100") },
  ], {
    planned: PLANNED,
    timeoutMs: 80_000,
    bootstrap: { samples, confidence: 0.95, seed: 7 },
    comparisons,
  });
}

/** What a PPO training leaves. */
export const TRAINING: TrainingRecord = {
  schema: "tracewright.training.v1",
  stage: "ppo",
  seed: 17,
  updates: 18,
  rollout_steps: 431,
  parameter_before_sha256: hexOf(digestOf("before")),
  parameter_after_sha256: hexOf(digestOf("after")),
  parameter_l2_delta: 0.123456789,
  metrics: { policy_loss: -0.25, stopped_early: false, kl: null },
  curve: [{ iteration: 0, episodes: 16, successes: 3, entropy: 1.25, approx_kl: 0.0123, value_loss: 0.5 }],
  policy: digestOf("policy graph"),
  agreement: {
    states: 256,
    agreeing: 255,
    logit_error: { max: 0.001, rms: 0.0001 },
    value_error: { max: 0.002, rms: 0.0002 },
  },
};

const LABELS = {
  policy: digestOf("continuation policy"),
  case_ids: ["a1", "a2"],
  continuations: 64,
  rows: 128,
  terminal_rows: 64,
  successes: 24,
  families: { a: { continuations: 64, successes: 24 } },
  prefixes: { "0": { continuations: 64, successes: 24 } },
};

/** How an estimator came out. */
export const CALIBRATION: CalibrationRecord = {
  schema: "tracewright.calibration.v1",
  seed: 17,
  labels: { train: LABELS, dev: LABELS },
  fit: { updates: 40, loss: 0.5 },
  dev: { rows: 64, prevalence: 0.375, bce: 0.61234, brier: 0.21, ece: 0.07, auroc: 0.7654 },
  estimator: digestOf("estimator graph"),
  dev_gate_scope: "nonterminal_prefix_only",
  gate: { auroc: true, ece: true, brier: true },
  quality_status: "confirmatory",
};

/** The part of a config that a report names. */
export const CONFIG = {
  name: "tiny",
  semantics: "current",
  seeds: { benchmark_seed: 20260808, run_seeds: [17, 29], bootstrap_seed: 7 },
};

/** The part of a benchmark manifest that a report names. */
export const BENCHMARK = { generator_version: "benchmark-v1.3.0" };

/** All blobs of the run. */
export function exampleBlobs(changes: Partial<ReportBlobs> = {}): ReportBlobs {
  return {
    config: canonicalBytes(CONFIG),
    benchmark: canonicalBytes(BENCHMARK),
    metrics: canonicalBytes(exampleMetrics()),
    records: [
      { name: "training/ppo/e/17", bytes: canonicalBytes(TRAINING) },
      { name: "calibration/progress/17", bytes: canonicalBytes(CALIBRATION) },
      { name: "training/bc/17", bytes: canonicalBytes({ ...TRAINING, stage: "bc", rollout_steps: 0 }) },
    ],
    registration: null,
    ...changes,
  };
}

const IDS = Array.from({ length: 12 }, (_, c) => `case-${c}`);
const FAMILIES = new Map(IDS.map((id, c) => [id, c % 2 === 0 ? "even" : "odd"]));
const VARIANT_NAMES = CANONICAL_MATRIX.variants.map(({ name }) => name);

/** Outcomes in which the i-th variant succeeds on more cases than the one before it, and seeds differ. */
function exampleOutcomes(): ReadonlyMap<string, Outcomes> {
  return new Map(VARIANT_NAMES.map((name, v) => [
    name,
    new Map([17, 29, 43].map((seed, s) => [
      seed,
      new Map(IDS.map((id, c) => [id, c < v + (s === 2 ? 2 : s)])),
    ])),
  ]));
}

/** Everything said about the differences of an example matrix. */
export function exampleStatistics(): StatisticsReport {
  const pair = (treatment: number, baseline: number) => ({
    treatment: VARIANT_NAMES[treatment]!,
    baseline: VARIANT_NAMES[baseline]!,
  });
  return statisticsReport({ outcomes: exampleOutcomes(), families: FAMILIES }, {
    bootstrap: { samples: 40, confidence: 0.95, seed: 7 },
    alpha: 0.05,
    power: 0.8,
    effects: [0.05, 0.1],
    primary: pair(4, 1),
    total_system: pair(4, 0),
    secondary: [pair(1, 0), pair(3, 2)],
  });
}

/** The mask on two cases; no call of the kind `safety` is among them. */
export function exampleMask(): MaskMetrics {
  const counts = (falsePositive: number): MaskCounts => ({
    truePositive: 10,
    falseNegative: 0,
    trueNegative: 10 - falsePositive,
    falsePositive,
    kindRows: { schema: 4, grounding: 3, precondition: 3, safety: 0 },
    kindFound: { schema: 4, grounding: 3, precondition: 3 - falsePositive, safety: 0 },
  });
  const cases = [counts(0), counts(1)];
  return {
    schema: MASK_METRICS_SCHEMA,
    count: 40,
    cases: 2,
    valid_count: 20,
    invalid_count: 20,
    is_canonical_20k: false,
    ...maskScores(cases),
    bootstrap: maskIntervals(cases, { samples: 40, confidence: 0.95, seed: 7 }),
  };
}

/** The claim of the example matrix, which is too small to be the announced experiment. */
export function exampleClaim(): ClaimCheck {
  const outcomes = exampleOutcomes();
  const cells = VARIANT_NAMES.flatMap((variant) =>
    [...outcomes.get(variant)!].map(([seed, success]) => ({ variant, seed, success, case_ids: IDS }))
  );
  return claimCheck({
    seeds: [17, 29, 43],
    variants: CANONICAL_MATRIX.variants,
    test_case_ids: IDS,
    traces: cells,
    outcomes: cells,
    aggregates: exampleStatistics().variants.map(({ variant, tsr }) => ({
      variant,
      tsr,
      successful_conditional_simulated_service_time_s: tsr.numerator === 0 ? null : rational(25, 2),
      timeout_penalized_simulated_cost_s: rational(60, 1),
    })),
    action_validity: {
      rows: 40,
      valid_rows: 20,
      invalid_rows: 20,
      balanced_accuracy: exampleMask().balanced_accuracy!,
    },
    bootstrap: { samples: 40, confidence: 0.95, seed: 7 },
  });
}

/** The records that a run with a hypothesis adds. */
export function claimRecords(): ReportBlobs["records"] {
  return [
    { name: "claim/check", bytes: canonicalBytes(exampleClaim()) },
    { name: "statistics/differences", bytes: canonicalBytes(exampleStatistics()) },
    { name: "mask/action-validity", bytes: canonicalBytes(exampleMask()) },
    { name: "rules/metrics", bytes: canonicalBytes(exampleMetrics()) },
  ];
}
