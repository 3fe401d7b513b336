import { z } from "zod";
import { canonicalBytes } from "../../core/canonical_json.ts";
import { RandomStream } from "../../core/random_stream.ts";
import { labelSplit, PROGRESS_LABELS } from "../../episode/progress_labels.ts";
import { Adam } from "../../learn/adam.ts";
import { KernelArena } from "../../learn/arena.ts";
import { ProgressEstimator } from "../../learn/estimator.ts";
import { exportEstimator } from "../../learn/export_policy.ts";
import { fitProgress } from "../../learn/progress.ts";
import { openSession } from "../../policy/open_runtime.ts";
import type { CalibrationRecord } from "../../report/run_records.ts";
import { defineStage } from "../../stage/define_stage.ts";
import { stageRuntime } from "../execution.ts";
import { calibrate } from "../calibrate.ts";
import { estimatorCheckpoint } from "../checkpoints.ts";
import { MEDIA } from "../media_types.ts";
import { actionFeaturesParam, encoderOf, policyParams } from "../stage_params.ts";
import { tasksOf } from "../task_memory.ts";

/** Fits the estimator of success, exports it and measures the exported graph. */
export const progressStage = defineStage({
  name: "progress",
  version: 2,
  params: z.strictObject({
    seed: z.int(),
    policy: policyParams,
    action_features: actionFeaturesParam,
    progress: z.strictObject({
      labels: z.enum(PROGRESS_LABELS),
      hidden_width: z.int(),
      epochs: z.int(),
      batch_size: z.int(),
      learning_rate: z.number(),
    }),
  }),
  inputs: { train: { media_type: MEDIA.tasks }, dev: { media_type: MEDIA.tasks } },
  outputs: {
    "checkpoint.bin": { media_type: MEDIA.checkpoint },
    "estimator.onnx": { media_type: MEDIA.estimator },
    "calibration.json": { media_type: MEDIA.calibration },
  },
  async run({ params, input, output, progress }) {
    const { seed, policy, progress: settings } = params;
    const encoder = encoderOf(params);
    const label = (split: "train" | "dev") =>
      labelSplit(tasksOf(input(split)), { labels: settings.labels, split, encoder, seed });
    const train = label("train");
    progress(0.4);
    const dev = label("dev");
    progress(0.6);
    using arena = new KernelArena();
    const estimator = new ProgressEstimator(arena, policy.state_width);
    estimator.initialise(new RandomStream(seed, "progress", "initialisation"));
    const fit = fitProgress({
      estimator,
      optimizer: new Adam(estimator.parameters, { learningRate: settings.learning_rate }),
      rows: train.rows,
      epochs: settings.epochs,
      batchSize: settings.batch_size,
      stream: new RandomStream(seed, "progress", "permutations"),
      onEpoch: (count) =>
        progress(0.6 + 0.3 * count / settings.epochs, { unit: "epochs", count, total: settings.epochs }),
    });
    const graph = exportEstimator(estimator);
    using session = await openSession({ graph, runtime: stageRuntime() });
    const gate = await calibrate(dev, session);
    const record: CalibrationRecord = {
      schema: "tracewright.calibration.v1",
      seed,
      labels: { train: train.audit, dev: dev.audit },
      fit: { updates: fit.updates, loss: fit.loss },
      dev: gate.calibration,
      estimator: graph.digest,
      dev_gate_scope: gate.dev_gate_scope,
      gate: gate.checks,
      quality_status: gate.quality_status,
    };
    output("checkpoint.bin").write(estimatorCheckpoint(estimator, encoder));
    output("estimator.onnx").write(graph.bytes());
    output("calibration.json").write(canonicalBytes(record));
  },
});
