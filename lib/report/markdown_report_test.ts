import assert from "node:assert/strict";
import { exampleMetrics } from "./_example_records.ts";
import { markdownReport, type ReportInputs } from "./markdown_report.ts";

function inputs(changes: Partial<ReportInputs> = {}): ReportInputs {
  return {
    experiment: "Experiment tiny",
    identity: [{ name: "config", value: "sha256:abc" }],
    metrics: exampleMetrics(),
    calibration: [{
      node: "progress/17",
      rows: 384,
      prevalence: 0.375,
      bce: 0.61234,
      brier: 0.2099,
      ece: 0.0701,
      auroc: 0.7654,
      quality_status: "confirmatory",
      estimator: "sha256:" + "e".repeat(64),
    }],
    training: [{
      node: "ppo/e/17",
      updates: 18,
      rollout_steps: 431,
      parameter_l2_delta: 0.123456789,
      argmax_agreement: { agree: 255, sampled: 256 },
      policy: "sha256:" + "f".repeat(64),
    }],
    curves: [],
    ...changes,
  };
}

/** The cells of the rows of the table below a heading. */
function table(report: string, heading: string): string[][] {
  const section = report.slice(report.indexOf(`## ${heading}\n`)).split("\n## ")[0]!;
  const lines = section.split("\n").filter((line) => line.startsWith("| "));
  return lines.filter((_, i) => i !== 1).map((line) => line.slice(2, -2).split(" | "));
}

Deno.test("markdownReport() states each variant's numbers with their intervals", () => {
  const { variants } = exampleMetrics();
  const [head, ...rows] = table(markdownReport(inputs()), "Variants");
  assert.equal(head!.length, 10);
  assert.deepEqual(rows.map(([name]) => name), ["B", "E", "D"]);
  const E = rows[1]!;
  const { tsr } = variants[1]!.metrics.confidence_intervals;
  // By hand: 7 of 10; families a 5/6 and b 2/4; 9 rejected of 109; 0.9 for each success; (7 x 10 + 3 x 13) / 10 steps.
  assert.equal(E[1], "7/10");
  assert.equal(E[2], `70.00 [${(tsr!.low * 100).toFixed(2)}, ${(tsr!.high * 100).toFixed(2)}]`);
  assert.match(E[3]!, /^66\.67 \[/);
  assert.match(E[4]!, /^8\.26 \[/);
  assert.equal(E[5], "0.00 [0.00, 0.00]");
  assert.match(E[6]!, /^63\.00 \[/);
  assert.match(E[7]!, /^10\.900 \[/);
  assert.equal(E[8], "12.345"); // no interval: how many successes there are is itself random
  assert.match(E[9]!, /^32\.642 \[/); // (7 x 12.345 + 3 x 80) / 10 = 32.6415
  assert.ok(head![9]!.includes("failure = 80 s"));
});

Deno.test("markdownReport() states differences, seeds, calibration, trainings and denominators", () => {
  const report = markdownReport(inputs());
  const [, difference] = table(report, "Paired differences in TSR");
  assert.deepEqual(difference!.slice(0, 3), ["E − B", "50.00", "1/2"]);
  assert.equal(difference![4], "2 × 5");
  assert.deepEqual(table(report, "Every seed").slice(1).map((cells) => cells.slice(0, 5)), [
    ["B", "17", "1/5", "20.00", "62"],
    ["B", "29", "1/5", "20.00", "62"],
    ["E", "17", "3/5", "60.00", "56"],
    ["E", "29", "4/5", "80.00", "53"],
    ["D", "17", "2/4", "50.00", "46"],
  ]);
  assert.deepEqual(table(report, "Calibration of the progress estimator")[1], [
    "progress/17",
    "384",
    "37.50",
    "0.7654",
    "0.0701",
    "0.2099",
    "0.6123",
    "confirmatory",
  ]);
  assert.deepEqual(table(report, "Trainings")[1], [
    "ppo/e/17",
    "18",
    "431",
    "0.123457",
    "255/256",
    "`sha256:" + "f".repeat(16) + "`",
  ]);
  const denominators = table(report, "Denominators");
  assert.deepEqual(denominators[0], ["variant", "seed", "planned", "run", "excluded: no trace", "scored"]);
  assert.deepEqual(denominators[1], ["B", "17", "5", "5", "0", "5"]);
  assert.deepEqual(denominators[5], ["D", "17", "5", "4", "1", "4"]);
});

Deno.test("markdownReport() begins with the experiment and its identity", () => {
  const lines = markdownReport(inputs()).split("\n");
  assert.deepEqual(lines.slice(0, 5), [
    "# Experiment tiny",
    "",
    "| what | value |",
    "| --- | --- |",
    "| config | `sha256:abc` |",
  ]);
});

Deno.test("markdownReport() leaves out what there is not, and says so where a number is missing", () => {
  const metrics = exampleMetrics({ samples: 0, comparisons: [] });
  const report = markdownReport(inputs({ metrics, calibration: [] }));
  assert.ok(!report.includes("## Paired") && !report.includes("## Calibration"));
  assert.ok(report.includes("No intervals were asked for."));
  assert.ok(!report.includes("["));
  const [calibration] = inputs().calibration;
  const oneClass = markdownReport(inputs({ calibration: [{ ...calibration!, auroc: null }] }));
  assert.equal(table(oneClass, "Calibration of the progress estimator")[1]![3], "–");
});

Deno.test("markdownReport() is a function of its input: no clock, host or path, one blank line between parts", () => {
  const report = markdownReport(inputs());
  assert.equal(markdownReport(inputs()), report);
  assert.ok(report.endsWith(".\n") && !report.includes("\n\n\n"));
  assert.doesNotMatch(
    report,
    /file:|\/(home|work|tmp|Users)\/|\\|\b20\d\d-\d\d|\d\d:\d\d|undefined|NaN|null/,
  );
});
