/** Media types of the blobs of an experiment. An input takes only outputs of the same type. */
export const MEDIA = {
  config: "application/vnd.tracewright.config.v1+json",
  tasks: "application/vnd.tracewright.tasks.v1+jsonl",
  benchmark: "application/vnd.tracewright.benchmark.v1+json",
  checkpoint: "application/vnd.tracewright.checkpoint.v1",
  policy: "application/vnd.tracewright.policy.v1+onnx",
  estimator: "application/vnd.tracewright.estimator.v1+onnx",
  training: "application/vnd.tracewright.training.v1+json",
  calibration: "application/vnd.tracewright.calibration.v1+json",
  traces: "application/vnd.tracewright.traces.v1+jsonl",
  metrics: "application/vnd.tracewright.metrics.v1+json",
  actionValidity: "application/vnd.tracewright.action-validity.v1+jsonl",
  actionValidityManifest: "application/vnd.tracewright.action-validity-manifest.v1+json",
  maskMetrics: "application/vnd.tracewright.mask-metrics.v1+json",
  statistics: "application/vnd.tracewright.statistics.v1+json",
  claim: "application/vnd.tracewright.claim-check.v1+json",
  report: "text/markdown",
} as const;
