import { z } from "zod";
import { type Digest, isDigest } from "../core/digest.ts";
import { parseRecord } from "./_parse_record.ts";
import { count, share } from "./_record_fields.ts";

const digest = z.custom<Digest>(isDigest, { message: "not a digest" });
const hex = z.string().regex(/^[0-9a-f]{64}$/);

const error = z.strictObject({ max: z.number().min(0), rms: z.number().min(0) });
/** How well the published exact graph stands for the float network that was trained. */
const agreement = z.strictObject({
  states: count,
  agreeing: count,
  logit_error: error,
  value_error: error.nullable(),
});

const training = z.strictObject({
  schema: z.literal("tracewright.training.v1"),
  stage: z.enum(["bc", "ppo"]),
  seed: count,
  updates: count,
  rollout_steps: count,
  parameter_before_sha256: hex,
  parameter_after_sha256: hex,
  /** Euclidean distance of the parameters before and after; for `bc`, from the initialisation. */
  parameter_l2_delta: z.number().min(0),
  /** Of the last update or of the whole set, by name. */
  metrics: z.record(z.string(), z.union([z.number(), z.boolean(), z.null()])),
  /** One row per iteration. */
  curve: z.array(z.record(z.string(), z.union([z.number(), z.boolean(), z.null()]))),
  /** Digest of the exact graph. */
  policy: digest,
  agreement,
});

const calibrationMetrics = z.strictObject({
  rows: count,
  prevalence: share,
  bce: z.number().min(0),
  brier: share,
  ece: share,
  auroc: share.nullable(),
});

const outcomes = z.record(z.string(), z.strictObject({ continuations: count, successes: count }));

const labels = z.strictObject({
  policy: digest,
  case_ids: z.array(z.string()).readonly(),
  continuations: count,
  rows: count,
  terminal_rows: count,
  successes: count,
  families: outcomes,
  prefixes: outcomes,
});

const calibration = z.strictObject({
  schema: z.literal("tracewright.calibration.v1"),
  seed: count,
  labels: z.strictObject({ train: labels, dev: labels }),
  fit: z.strictObject({ updates: count, loss: z.number().min(0) }),
  /** On the exact graph, non-terminal prefix rows of the dev split only. */
  dev: calibrationMetrics,
  /** Digest of the exact graph. */
  estimator: digest,
  dev_gate_scope: z.literal("nonterminal_prefix_only"),
  gate: z.strictObject({ auroc: z.boolean(), ece: z.boolean(), brier: z.boolean() }),
  quality_status: z.enum(["confirmatory", "exploratory"]),
});

/** What a training stage leaves beside its checkpoint. */
export type TrainingRecord = z.infer<typeof training>;

/** How the progress estimator of one seed was labelled, fitted and measured. */
export type CalibrationRecord = z.infer<typeof calibration>;

/**
 * Reads a training record strictly.
 *
 * @throws TracewrightError "not_canonical" or "bad_record"
 */
export function parseTrainingRecord(bytes: Uint8Array): TrainingRecord {
  return parseRecord(training, bytes, "training");
}

/**
 * Reads a calibration record strictly.
 *
 * @throws TracewrightError "not_canonical" or "bad_record"
 */
export function parseCalibrationRecord(bytes: Uint8Array): CalibrationRecord {
  return parseRecord(calibration, bytes, "calibration");
}
