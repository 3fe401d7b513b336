import { canonicalJson, type Json, type JsonObject, parseCanonical } from "../core/canonical_json.ts";
import { type Digest, digestOf, sha256Hex } from "../core/digest.ts";
import type { MetricsReport } from "../evaluate/metrics_report.ts";
import { reportError } from "./_error.ts";
import { parseClaimCheck } from "./claim_record.ts";
import type { ClaimParts } from "./claim_sections.ts";
import { type CalibrationRow, type CurveRow, markdownReport, type TrainingRow } from "./markdown_report.ts";
import { parseMaskMetrics } from "./mask_record.ts";
import { parseMetricsReport } from "./metrics_record.ts";
import { parseCalibrationRecord, parseTrainingRecord } from "./run_records.ts";
import { parseStatisticsReport } from "./statistics_record.ts";

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
  /** `training/…`, `calibration/…`, and for a run that tests a hypothesis those of {@link claimParts}. */
  readonly records: readonly NamedRecord[];
  /** Digest of the pre-registration that the config realises; null where it has none. */
  readonly registration: Digest | null;
}

function byNode<T>(
  records: readonly NamedRecord[],
  kind: string,
  row: (node: string, bytes: Uint8Array) => T,
): T[] {
  return records
    .filter(({ name }) => name.startsWith(`${kind}/`))
    .sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
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

function curveRows(node: string, bytes: Uint8Array): CurveRow[] {
  return parseTrainingRecord(bytes).curve.map((row) => {
    const number = (name: string) => {
      const value = row[name];
      if (typeof value === "number") return value;
      throw reportError("bad_record", {
        record: "training",
        node,
        field: `curve.${name}`,
        expected: "a number",
        actual: value,
      });
    };
    return {
      node,
      iteration: number("iteration"),
      episodes: number("episodes"),
      successes: number("successes"),
      entropy: number("entropy"),
      approx_kl: number("approx_kl"),
      value_loss: number("value_loss"),
    };
  });
}

/** The records of the claim, all or none. */
function claimParts(records: readonly NamedRecord[]): { claim?: ClaimParts; rules?: MetricsReport } {
  const find = (name: string) => records.find((record) => record.name === name)?.bytes;
  const [claim, statistics, mask, rules] = [
    "claim/check",
    "statistics/differences",
    "mask/action-validity",
    "rules/metrics",
  ].map(find);
  if (claim === undefined || statistics === undefined || mask === undefined || rules === undefined) return {};
  return {
    claim: {
      claim: parseClaimCheck(claim),
      statistics: parseStatisticsReport(statistics),
      mask: parseMaskMetrics(mask),
    },
    rules: parseMetricsReport(rules),
  };
}

/** A text, number or list of a record, as the identity block shows it. */
function field(
  record: Json,
  { of, path }: { readonly of: string; readonly path: readonly string[] },
): string {
  let value: Json | undefined = record;
  for (const key of path) {
    value = typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonObject)[key]
      : undefined;
  }
  if (typeof value === "string" || typeof value === "number") return String(value);
  if (Array.isArray(value)) return canonicalJson(value);
  throw reportError("bad_record", {
    record: of,
    field: path.join("."),
    expected: "a text, a number or a list",
    actual: value,
  });
}

/**
 * The benchmark seed that a pre-registration leads to, by the rule that registration follows. Stated a second time, so that
 * a reader sees from the report alone whether the cases were fixed by the design: this seed is the run's, or it is not.
 */
function seedFrom(registration: Digest): number {
  return parseInt(sha256Hex(registration).slice(0, 8), 16);
}

/**
 * The report of a run, from its blobs.
 *
 * @throws TracewrightError "not_canonical" or "bad_record" where a blob is not what its name says
 */
export function runReport({ config, benchmark, metrics, records, registration }: ReportBlobs): string {
  const settings = parseCanonical(config);
  const ofConfig = (...path: string[]) => field(settings, { of: "config", path });
  const identity = [
    ["experiment", ofConfig("name")],
    ["config", digestOf(config)],
    ["benchmark", digestOf(benchmark)],
    ["generator", field(parseCanonical(benchmark), { of: "benchmark", path: ["generator_version"] })],
    ["semantics", ofConfig("semantics")],
    ["benchmark seed", ofConfig("seeds", "benchmark_seed")],
    ["run seeds", ofConfig("seeds", "run_seeds")],
    ["bootstrap seed", ofConfig("seeds", "bootstrap_seed")],
    ["metrics", digestOf(metrics)],
    ...(registration === null ? [] : [
      ["pre-registration P", registration] as const,
      ["benchmark seed that follows from P", String(seedFrom(registration))] as const,
    ]),
  ] as const;
  return markdownReport({
    experiment: `Experiment ${ofConfig("name")}`,
    identity: identity.map(([name, value]) => ({ name, value })),
    metrics: parseMetricsReport(metrics),
    calibration: byNode(records, "calibration", calibrationRow),
    training: byNode(records, "training", trainingRow),
    curves: byNode(records, "training", curveRows).flat(),
    ...claimParts(records),
  });
}
