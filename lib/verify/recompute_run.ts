import { canonicalBytes } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import { jsonDifference } from "../core/json_difference.ts";
import type { Benchmark } from "../benchmark/generate.ts";
import type { TraceRecord } from "../episode/trace.ts";
import { caseCounts } from "../evaluate/case_counts.ts";
import type { MetricsJudge } from "../evaluate/metrics_judge.ts";
import { metricsReport } from "../evaluate/metrics_report.ts";
import { openSession } from "../policy/open_runtime.ts";
import type { RuntimeName } from "../policy/runtime.ts";
import { parseCalibrationRecord } from "../report/run_records.ts";
import { runReport } from "../report/run_report.ts";
import type { Run } from "../store/read_run.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { admitOutput } from "./replay_run.ts";
import { asJson, bytesOf, linesOf, recordOf } from "./run_blobs.ts";
import { seedOf } from "./trained_node.ts";
import { inPlace, verifyError } from "./verify_code.ts";
import type { VerifySubject } from "./verify_subject.ts";

const encoder = new TextEncoder();
/** Keeps a byte order mark, so that it differs from nothing. */
const visible = new TextDecoder("utf-8", { ignoreBOM: true });

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
  const expected = asJson(metricsReport(scored, { planned, timeoutMs, bootstrap, comparisons }));
  const difference = jsonDifference(expected, recordOf(run, { node, output }));
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
 * Has the second judge compute the stored metrics again, from the same traces, which earlier steps have checked line by
 * line.
 *
 * @throws TracewrightError "metrics_sql_mismatch" with the first number that differs
 */
export async function judgeMetrics(run: Run, subject: VerifySubject, judge: MetricsJudge): Promise<void> {
  const { timeoutMs, comparisons, node, output } = subject.metrics;
  await judge({
    stored: recordOf(run, { node, output }),
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
 * Labels the states again and measures one exact estimator on them. What only training could tell (its loss) is compared
 * by the rebuild level alone.
 *
 * @throws TracewrightError "calibration_mismatch" with the first field that differs
 */
export async function checkCalibration(
  run: Run,
  { calibrations, plan }: VerifySubject,
  { index, benchmark, runtime }: {
    readonly index: number;
    readonly benchmark: Benchmark;
    readonly runtime: RuntimeName;
  },
): Promise<void> {
  const { node, record, estimator, stateWidth, recompute } = calibrations[index]!;
  const graph = admitOutput(run, estimator, { kind: "estimator", stateWidth, actionWidth: 0 });
  using session = await openSession({ graph, runtime });
  const stored = recordOf(run, record);
  const form = inPlace(
    { verify_step: "metrics", ...record },
    () => parseCalibrationRecord(canonicalBytes(stored)),
  );
  const measured = await recompute(benchmark, session);
  const again = asJson({ ...form, ...measured, seed: seedOf(plan, node), estimator: graph.digest });
  const difference = jsonDifference(again, stored);
  if (difference === null) return;
  throw verifyError("calibration_mismatch", {
    verify_step: "metrics",
    node,
    field: difference.path,
    expected: difference.expected,
    actual: difference.actual,
    hint: "the exact estimator, measured again, gives something else",
  });
}

/**
 * Writes the report again from the run's records and compares it byte for byte.
 *
 * @throws TracewrightError "report_mismatch" with the first line that differs
 */
export function checkReport(run: Run, { report }: VerifySubject): void {
  const node = run.dag.nodes.find(({ id }) => id === report.node);
  const place = { verify_step: "claim", node: report.node } as const;
  const read = (input: string) => {
    const { producer, digest } = node!.inputs[input]!;
    const output = Object.entries(run.dag.nodes.find(({ id }) => id === producer)?.outputs ?? {})
      .find(([, made]) => made.digest === digest)?.[0];
    return output === undefined ? run.open(digest).bytes() : bytesOf(run, { node: producer, output });
  };
  const records = Object.keys(node!.inputs).filter((name) => name.includes("/"));
  const expected = encoder.encode(inPlace(place, () =>
    runReport({
      config: read("config"),
      benchmark: read("benchmark"),
      metrics: read("metrics"),
      records: records.map((name) => ({ name, bytes: read(name) })),
      registration: report.registration,
    })));
  const actual = bytesOf(run, report);
  if (digestOf(expected) === digestOf(actual)) return;
  const difference = firstLine({ expected, actual });
  throw verifyError("report_mismatch", {
    ...place,
    ...difference,
    hint: "the report does not follow from the run's records",
  });
}

/** The first line that differs, from 1, as text in which a difference can be seen. */
function firstLine(texts: { readonly expected: Uint8Array; readonly actual: Uint8Array }) {
  const [expected, actual] = [texts.expected, texts.actual].map((bytes) => visible.decode(bytes).split("\n"));
  const at = expected!.findIndex((text, i) => text !== actual![i]);
  const line = at < 0 ? expected!.length : at;
  return { line: line + 1, expected: expected![line] ?? "the end", actual: actual![line] ?? "the end" };
}
