import assert from "node:assert/strict";
import { readTaskLines } from "../../benchmark/task_lines.ts";
import { hasCode } from "../../core/error.ts";
import { parseMetricsReport } from "../../report/metrics_record.ts";
import { runStageInMemory } from "../../stage/run_stage.ts";
import type { MetricsClaim } from "../../evaluate/metrics_judge.ts";
import { ExampleRun } from "../_example_run.ts";
import { setStageMetricsJudge } from "../execution.ts";
import { countLines, metricsBytes, type MetricsParams, metricsStage } from "./metrics_stage.ts";

const RUN = new ExampleRun();
const B = "traces/b/17";
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const lines = (bytes: Uint8Array) => text(bytes).split("\n").slice(0, -1);

/** The metrics of the run with the traces of B replaced. */
async function measure(traces: string): Promise<Uint8Array> {
  const outputs = await runStageInMemory(metricsStage, {
    params: RUN.params("metrics"),
    inputs: { ...await RUN.inputs("metrics"), [B]: traces },
  });
  return outputs["metrics.json"]!;
}

Deno.test("metricsStage gives the same bytes twice, those that metricsBytes() gives", async () => {
  const outputs = await RUN.outputs("metrics");
  assert.deepEqual(await RUN.again("metrics"), outputs);
  const inputs = await RUN.inputs("metrics");
  const again = metricsBytes(RUN.params("metrics") as unknown as MetricsParams, {
    planned: readTaskLines(inputs["test"]!).map(({ case_id }) => case_id),
    traces: (name) => lines(inputs[name]!),
  });
  assert.deepEqual(again, outputs["metrics.json"]);
});

Deno.test("metricsStage measures every cell on every case, and E against B", async () => {
  const report = parseMetricsReport((await RUN.outputs("metrics"))["metrics.json"]!);
  assert.deepEqual(
    report.runs.map(({ variant, seed, denominators }) => [variant, seed, denominators.scored]),
    [["B-BC-Mask", 17, 12], ["E-PPO-Progress-Mask", 17, 12]],
  );
  assert.deepEqual([report.timeout_s, report.bootstrap.samples, report.bootstrap.seed], [80, 20, 7]);
  assert.deepEqual(report.comparisons.map(({ treatment, baseline }) => [treatment, baseline]), [
    ["E-PPO-Progress-Mask", "B-BC-Mask"],
  ]);
  // The mask lets only executable calls through.
  assert.ok(report.runs.every(({ metrics }) => metrics.invalid_action_rate.value === 0));
});

Deno.test("countLines() reads one line at a time", () => {
  const read: number[] = [];
  function* source() {
    for (let i = 0; i < 3; i++) {
      read.push(i);
      yield i === 1 ? "{}" : "[]";
    }
  }
  assert.throws(() => countLines(source(), 1), (error) => hasCode(error, "trace_schema"));
  assert.deepEqual(read, [0]);
});

Deno.test("metricsStage refuses traces that are foreign, repeated, damaged or not canonical", async () => {
  const inputs = await RUN.inputs("metrics");
  const good = lines(inputs[B]!);
  const refused = (traces: readonly string[], code: string) =>
    assert.rejects(measure(traces.map((line) => line + "\n").join("")), (error) => hasCode(error, code));
  await refused([...good, good[0]!], "unexpected_case");
  await refused(good.map((line) => line.replace('"case_id":"test-', '"case_id":"fest-')), "unexpected_case");
  await refused(good.map((line) => line.replace('"step_count":', '"step_count": ')), "not_canonical");
  await refused(good.map((line) => line.replace(/"step_count":\d+/, '"step_count":1')), "trace_schema");
  // A missing trace is counted; but B and E then no longer cover the same cases.
  await refused(good.slice(1), "unpaired_outcomes");
  await refused([], "no_cases");
});

Deno.test("metricsStage stores the same bytes with a second judge, and nothing that it does not confirm", async () => {
  const alone = await RUN.outputs("metrics");
  const claims: MetricsClaim[] = [];
  try {
    setStageMetricsJudge((claim) => {
      claims.push({ ...claim, runs: claim.runs.map((run) => ({ ...run, lines: [...run.lines] })) });
      return Promise.resolve();
    });
    assert.deepEqual(await RUN.again("metrics"), alone);
    setStageMetricsJudge(() => Promise.reject(new RangeError("no")));
    await assert.rejects(RUN.again("metrics"), RangeError);
  } finally {
    setStageMetricsJudge(undefined);
  }
  assert.equal(claims.length, 1);
  const inputs = await RUN.inputs("metrics");
  const { stored, timeoutMs, runs, comparisons } = claims[0]!;
  assert.deepEqual(stored, parseMetricsReport(alone["metrics.json"]!));
  assert.equal(timeoutMs, 80_000);
  assert.deepEqual(runs, [
    { variant: "B-BC-Mask", seed: 17, lines: lines(inputs[B]!) },
    { variant: "E-PPO-Progress-Mask", seed: 17, lines: lines(inputs["traces/e/17"]!) },
  ]);
  assert.deepEqual(comparisons, [{ treatment: "E-PPO-Progress-Mask", baseline: "B-BC-Mask" }]);
});
