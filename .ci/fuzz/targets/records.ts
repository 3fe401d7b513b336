import { canonicalBytes } from "../../../lib/core/canonical_json.ts";
import { hexOf } from "../../../lib/core/digest.ts";
import { parseMetricsReport } from "../../../lib/report/metrics_record.ts";
import { parseCalibrationRecord, parseTrainingRecord } from "../../../lib/report/run_records.ts";
import { type ReportBlobs, runReport } from "../../../lib/report/run_report.ts";
import { releasedRun, text } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { jsonInputs } from "../json_inputs.ts";
import { target } from "../target.ts";

const run = releasedRun();
const METRICS = run.output("metrics", "metrics.json");
const TRAINING = run.output("ppo/e/17", "training.json");
const CALIBRATION = run.output("progress/17", "calibration.json");
const blobs: ReportBlobs = {
  config: run.ending(`/blobs/sha256/${hexOf(run.dag.config)}`)[0]!,
  benchmark: run.output("benchmark", "manifest.json"),
  metrics: METRICS,
  records: [],
  registration: null,
};

/** The records that a report is written from, each by its reader, and the report around it. */
export default target({
  codes: ["not_canonical", "bad_record"],
  make: jsonInputs([METRICS, TRAINING, CALIBRATION].map(text)),
  read(input) {
    const head = text(input);
    if (head.includes('"tracewright.training.')) {
      runReport({ ...blobs, records: [{ name: "training/ppo/e/17", bytes: input }] });
      return parseTrainingRecord(input);
    }
    if (head.includes('"tracewright.calibration.')) {
      runReport({ ...blobs, records: [{ name: "calibration/progress/17", bytes: input }] });
      return parseCalibrationRecord(input);
    }
    runReport({ ...blobs, metrics: input });
    return parseMetricsReport(input);
  },
  hold: (value, input) => equalBytes(canonicalBytes(value), input, "written again"),
});
