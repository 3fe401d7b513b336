import { z } from "zod";
import { type Json, parseCanonical } from "../core/canonical_json.ts";
import { type Digest, isDigest } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";

const hex = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);
const share = z.number().min(0).max(1);

/** How well the published exact graph stands for the float network that was trained. */
const error = z.strictObject({ max: z.number().min(0), rms: z.number().min(0) });
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
  policy: z.custom<Digest>(isDigest),
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

const labels = z.strictObject({
  policy: z.string(),
  cases: count,
  continuations: count,
  rows: count,
  successes: count,
  families: z.record(z.string(), z.strictObject({ continuations: count, successes: count })),
});

const calibration = z.strictObject({
  schema: z.literal("tracewright.calibration.v1"),
  seed: count,
  labels: z.strictObject({ train: labels, dev: labels }),
  fit: z.strictObject({ updates: count, loss: z.number().min(0) }),
  /** On the exact graph, non-terminal prefix rows of the dev split only. */
  dev: calibrationMetrics,
  /** Digest of the exact graph. */
  estimator: z.custom<Digest>(isDigest),
  dev_gate_scope: z.literal("nonterminal_prefix_only"),
  gate: z.strictObject({ auroc: z.boolean(), ece: z.boolean(), brier: z.boolean() }),
  quality_status: z.enum(["confirmatory", "exploratory"]),
});

/** What a training stage leaves beside its checkpoint. */
export type TrainingRecord = z.infer<typeof training>;

/** How the progress estimator of one seed was labelled, fitted and measured. */
export type CalibrationRecord = z.infer<typeof calibration>;

function parse<T>(schema: z.ZodType<T>, bytes: Uint8Array, record: string): T {
  const value: Json = parseCanonical(bytes);
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new TracewrightError<"report", "bad_record">("bad_record", {
    record,
    field: issue?.path.join(".") ?? "",
    message: issue?.message ?? "unknown",
    cause: result.error,
  });
}

/**
 * Reads a training record strictly.
 *
 * @throws TracewrightError "not_canonical" or "bad_record"
 */
export function parseTrainingRecord(bytes: Uint8Array): TrainingRecord {
  return parse(training, bytes, "training");
}

/**
 * Reads a calibration record strictly.
 *
 * @throws TracewrightError "not_canonical" or "bad_record"
 */
export function parseCalibrationRecord(bytes: Uint8Array): CalibrationRecord {
  return parse(calibration, bytes, "calibration");
}
