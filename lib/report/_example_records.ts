/** Records of a small run, for the tests of this room. */
import { canonicalBytes } from "../core/canonical_json.ts";
import { digestOf, hexOf } from "../core/digest.ts";
import { EFFICIENCY_PARTS } from "../evaluate/case_counts.ts";
import { type MetricsReport, metricsReport } from "../evaluate/metrics_report.ts";
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
