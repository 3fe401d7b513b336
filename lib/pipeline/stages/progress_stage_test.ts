import assert from "node:assert/strict";
import { readTaskLines } from "../../benchmark/task_lines.ts";
import { gateOf } from "../../learn/calibration.ts";
import { readCheckpoint } from "../../learn/checkpoint.ts";
import { admit } from "../../policy/admission.ts";
import { FeatureEncoder } from "../../policy/encoder.ts";
import { openSession } from "../../policy/open_runtime.ts";
import { labelSplit } from "../../episode/progress_labels.ts";
import { parseCalibrationRecord } from "../../report/run_records.ts";
import { ExampleRun } from "../_example_run.ts";
import { calibrate } from "../calibrate.ts";
import { setStageRuntime } from "../execution.ts";

const RUN = new ExampleRun();
const ENCODER = new FeatureEncoder({ stateWidth: 32, actionWidth: 32 });

Deno.test("progressStage gives the same bytes twice, whichever runtime measures the graph", async () => {
  const outputs = await RUN.outputs("progress/17");
  assert.deepEqual(Object.keys(outputs).sort(), ["calibration.json", "checkpoint.bin", "estimator.onnx"]);
  setStageRuntime("native");
  assert.deepEqual(await RUN.again("progress/17"), outputs);
  setStageRuntime("reference");
});

Deno.test("progressStage labels every train task up to its limit and all of dev, eight trials a prefix", async () => {
  const record = parseCalibrationRecord((await RUN.outputs("progress/17"))["calibration.json"]!);
  const benchmark = await RUN.outputs("benchmark");
  for (const [split, audit] of Object.entries(record.labels)) {
    const tasks = readTaskLines(benchmark[`${split}.jsonl`]!);
    assert.deepEqual(audit.case_ids, tasks.map(({ case_id }) => case_id));
    assert.equal(audit.continuations, tasks.length * 32);
    assert.deepEqual([audit.rows, audit.terminal_rows], [tasks.length * 64, tasks.length * 32]);
    const prefixes = Object.values(audit.prefixes).map(({ continuations }) => continuations);
    assert.deepEqual(prefixes, Array(4).fill(tasks.length * 8));
  }
  assert.equal(record.fit.updates, Math.ceil(12 * 64 / 128)); // one epoch over both kinds of rows
  assert.equal(record.dev.rows, 10 * 32); // and measured on prefix rows only
});

Deno.test("progressStage measures the graph that it exports, and judges it by the gate", async () => {
  const outputs = await RUN.outputs("progress/17");
  const record = parseCalibrationRecord(outputs["calibration.json"]!);
  const graph = admit(outputs["estimator.onnx"]!);
  assert.deepEqual([graph.kind, graph.stateWidth, graph.digest], ["estimator", 32, record.estimator]);
  const dev = readTaskLines((await RUN.outputs("benchmark"))["dev.jsonl"]!);
  using session = await openSession({ graph, runtime: "reference" });
  const gate = await calibrate(
    labelSplit(dev, { labels: "absorbing-error", split: "dev", encoder: ENCODER, seed: 17 }),
    session,
  );
  assert.deepEqual(record.dev, gate.calibration);
  assert.deepEqual([record.gate, record.quality_status], [gate.checks, gateOf(record.dev).quality_status]);
  const { kind, encoderFingerprint } = readCheckpoint(outputs["checkpoint.bin"]!);
  assert.deepEqual([kind, encoderFingerprint], ["estimator", ENCODER.fingerprint]);
});
