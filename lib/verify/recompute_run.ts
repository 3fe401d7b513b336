import { canonicalJson, type Json, parseCanonical } from "../core/canonical_json.ts";
import { jsonDifference } from "../core/json_difference.ts";
import type { Benchmark } from "../benchmark/generate.ts";
import type { TraceRecord } from "../episode/trace.ts";
import { caseCounts } from "../evaluate/case_counts.ts";
import type { MetricsJudge } from "../evaluate/metrics_judge.ts";
import { metricsReport } from "../evaluate/metrics_report.ts";
import { openSession } from "../policy/open_runtime.ts";
import type { RuntimeName } from "../policy/runtime.ts";
import { runReport } from "../report/run_report.ts";
import type { Run } from "../store/read_run.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { admitOutput } from "./replay_run.ts";
import { bytesOf, linesOf } from "./run_blobs.ts";
import { verifyError } from "./verify_code.ts";
import type { VerifySubject } from "./verify_subject.ts";

function json(value: unknown): Json {
  return JSON.parse(canonicalJson(value)) as Json;
}

/**
 * Counts the traces again and compares the stored metrics.
 *
 * @throws TracewrightError "metrics_mismatch" with the first field that differs
 */
export function checkMetrics(run: Run, subject: VerifySubject, test: readonly WorkflowTask[]): void {
  const { timeoutMs, bootstrap, comparisons, node, output } = subject.metrics;
  const scored = subject.evaluations.map(({ variant, seed, traces }) => ({
    variant,
    seed,
    rows: Array.from(
      linesOf(run, traces),
      (line) => caseCounts(JSON.parse(line) as TraceRecord, timeoutMs),
    ),
  }));
  const planned = test.map((task) => task.case_id);
  const expected = json(metricsReport(scored, { planned, timeoutMs, bootstrap, comparisons }));
  const difference = jsonDifference(expected, parseCanonical(bytesOf(run, { node, output })));
  if (difference === null) return;
  throw verifyError("metrics_mismatch", {
    verify_step: "metrics",
    node,
    field: difference.path,
    expected: difference.expected,
    actual: difference.actual,
    hint: "the traces, counted again, give something else",
  });
}

/**
 * Has the second judge compute the stored metrics again, from the same traces, which earlier steps have checked line by line.
 *
 * @throws TracewrightError "metrics_sql_mismatch" with the first number that differs
 */
export async function judgeMetrics(run: Run, subject: VerifySubject, judge: MetricsJudge): Promise<void> {
  const { timeoutMs, comparisons, node, output } = subject.metrics;
  await judge({
    stored: parseCanonical(bytesOf(run, { node, output })),
    timeoutMs,
    runs: subject.evaluations.map(({ variant, seed, traces }) => ({
      variant,
      seed,
      lines: linesOf(run, traces),
    })),
    comparisons,
  });
}

/**
 * Labels the states again and measures every exact estimator on them. What only training could tell (its loss) is compared
 * by the rebuild level alone.
 *
 * @throws TracewrightError "calibration_mismatch" with the first field that differs
 */
export async function checkCalibrations(
  run: Run,
  { calibrations }: VerifySubject,
  { benchmark, runtime }: { readonly benchmark: Benchmark; readonly runtime: RuntimeName },
): Promise<void> {
  for (const { node, record, estimator, stateWidth, recompute } of calibrations) {
    const graph = admitOutput(run, estimator, { kind: "estimator", stateWidth, actionWidth: 0 });
    using session = await openSession({ graph, runtime });
    const stored = parseCanonical(bytesOf(run, record)) as { readonly [field: string]: Json };
    const again = json({ ...stored, ...await recompute(benchmark, session), estimator: graph.digest });
    const difference = jsonDifference(again, stored);
    if (difference === null) continue;
    throw verifyError("calibration_mismatch", {
      verify_step: "metrics",
      node,
      field: difference.path,
      expected: difference.expected,
      actual: difference.actual,
      hint: "the exact estimator, measured again, gives something else",
    });
  }
}

/**
 * Writes the report again from the run's records and compares it byte for byte.
 *
 * @throws TracewrightError "report_mismatch" with the first line that differs
 */
export function checkReport(run: Run, { report }: VerifySubject): void {
  const node = run.dag.nodes.find(({ id }) => id === report.node);
  const read = (name: string) => run.open(node!.inputs[name]!.digest).bytes();
  const expected = runReport({
    config: read("config"),
    benchmark: read("benchmark"),
    metrics: read("metrics"),
    records: Object.keys(node!.inputs).filter((name) => name.includes("/")).map((name) => ({
      name,
      bytes: read(name),
    })),
  });
  const actual = new TextDecoder().decode(bytesOf(run, report));
  if (expected === actual) return;
  const [wanted, seen] = [expected.split("\n"), actual.split("\n")];
  const line = wanted.findIndex((text, i) => text !== seen[i]);
  const at = line < 0 ? wanted.length : line;
  throw verifyError("report_mismatch", {
    verify_step: "claim",
    node: report.node,
    line: at + 1,
    expected: wanted[at] ?? "the end",
    actual: seen[at] ?? "the end",
    hint: "the report does not follow from the run's records",
  });
}
