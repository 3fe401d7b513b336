import assert from "node:assert/strict";
import { hasCode } from "../../core/error.ts";
import { runReport } from "../../report/run_report.ts";
import { runStageInMemory } from "../../stage/run_stage.ts";
import { ExampleRun } from "../_example_run.ts";
import { reportStage } from "./report_stage.ts";

const RUN = new ExampleRun();

Deno.test("reportStage writes runReport() of its inputs, the same bytes twice", async () => {
  const outputs = await RUN.outputs("report");
  assert.deepEqual(await RUN.again("report"), outputs);
  const { config, benchmark, metrics, ...records } = await RUN.inputs("report");
  const report = runReport({
    config: config!,
    benchmark: benchmark!,
    metrics: metrics!,
    records: Object.entries(records).map(([name, bytes]) => ({ name, bytes })),
    registration: null,
  });
  assert.equal(new TextDecoder().decode(outputs["report.md"]), report);
  for (const text of ["# Experiment tiny", "| B-BC-Mask |", "| progress/17 |", "| bc/17 |", "| ppo/e/17 |"]) {
    assert.ok(report.includes(text), text);
  }
});

Deno.test("reportStage does without an estimator but not without a training", async () => {
  const inputs = await RUN.inputs("report");
  const without = (prefix: string) =>
    runStageInMemory(reportStage, {
      params: { registration: null },
      inputs: Object.fromEntries(Object.entries(inputs).filter(([name]) => !name.startsWith(prefix))),
    });
  const report = new TextDecoder().decode((await without("calibration/"))["report.md"]);
  assert.ok(!report.includes("Calibration"));
  await assert.rejects(without("training/"), (error) => hasCode(error, "missing_input"));
});
