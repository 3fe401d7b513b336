import { type Json, parseCanonical } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import type { MetricsReport } from "../evaluate/metrics_report.ts";
import { type CalibrationRow, markdownReport, type TrainingRow } from "./markdown_report.ts";
import { parseCalibrationRecord, parseTrainingRecord } from "./run_records.ts";

/** A named blob of the run. The name is the record's kind and its node, e.g. `training/ppo/e/17`. */
export interface NamedRecord {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The blobs that a report is made of. */
export interface ReportBlobs {
  readonly config: Uint8Array;
  readonly benchmark: Uint8Array;
  readonly metrics: Uint8Array;
  readonly records: readonly NamedRecord[];
}

function byNode<T>(
  records: readonly NamedRecord[],
  kind: string,
  row: (node: string, bytes: Uint8Array) => T,
): T[] {
  return records
    .filter(({ name }) => name.startsWith(`${kind}/`))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, bytes }) => row(name.slice(kind.length + 1), bytes));
}

function trainingRow(node: string, bytes: Uint8Array): TrainingRow {
  const record = parseTrainingRecord(bytes);
  return {
    node,
    updates: record.updates,
    rollout_steps: record.rollout_steps,
    parameter_l2_delta: record.parameter_l2_delta,
    argmax_agreement: { agree: record.agreement.agreeing, sampled: record.agreement.states },
    policy: record.policy,
  };
}

function calibrationRow(node: string, bytes: Uint8Array): CalibrationRow {
  const { dev, quality_status, estimator } = parseCalibrationRecord(bytes);
  return { node, ...dev, quality_status, estimator };
}

function field(record: Json, path: readonly string[]): string {
  let value: Json | undefined = record;
  for (const key of path) {
    value = typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as { readonly [key: string]: Json })[key]
      : undefined;
  }
  return typeof value === "string" || typeof value === "number"
    ? String(value)
    : JSON.stringify(value ?? null);
}

/**
 * The report of a run, from its blobs.
 *
 * @throws TracewrightError "not_canonical" or "bad_record" where a blob is not what its name says
 */
export function runReport({ config, benchmark, metrics, records }: ReportBlobs): string {
  const settings = parseCanonical(config);
  const world = parseCanonical(benchmark);
  const identity = [
    ["experiment", field(settings, ["name"])],
    ["config", digestOf(config)],
    ["benchmark", digestOf(benchmark)],
    ["generator", field(world, ["generator_version"])],
    ["semantics", field(settings, ["semantics"])],
    ["benchmark seed", field(settings, ["seeds", "benchmark_seed"])],
    ["run seeds", field(settings, ["seeds", "run_seeds"])],
    ["bootstrap seed", field(settings, ["seeds", "bootstrap_seed"])],
    ["metrics", digestOf(metrics)],
  ] as const;
  return markdownReport({
    experiment: `Experiment ${field(settings, ["name"])}`,
    identity: identity.map(([name, value]) => ({ name, value })),
    metrics: parseCanonical(metrics) as unknown as MetricsReport,
    calibration: byNode(records, "calibration", calibrationRow),
    training: byNode(records, "training", trainingRow),
  });
}
