import { z } from "zod";
import { canonicalBytes, parseCanonical } from "../../core/canonical_json.ts";
import type { TraceRecord } from "../../episode/trace.ts";
import { type CaseCounts, caseCounts } from "../../evaluate/case_counts.ts";
import { metricsReport } from "../../evaluate/metrics_report.ts";
import { defineStage } from "../../stage/define_stage.ts";
import { caseNames } from "../../benchmark/case_names.ts";
import { stageMetricsJudge } from "../execution.ts";
import { MEDIA } from "../media_types.ts";
import { SharedNames } from "../shared_names.ts";

const params = z.strictObject({
  timeout_s: z.number(),
  bootstrap: z.strictObject({ samples: z.int(), confidence: z.number(), seed: z.int() }),
  runs: z.array(z.strictObject({ variant: z.string(), seed: z.int(), traces: z.string() })),
  comparisons: z.array(z.strictObject({ treatment: z.string(), baseline: z.string() })),
});

/** Parameters of the metrics stage; a verifier computes with the same ones. */
export type MetricsParams = z.infer<typeof params>;

function wholeMs(seconds: number): number {
  return Math.floor(seconds * 1000 + 0.5);
}

/** Counts of each trace line, one at a time: the traces themselves are never all in memory. */
export function countLines(
  lines: Iterable<string>,
  timeoutMs: number,
  names: SharedNames = new SharedNames(),
): CaseCounts[] {
  const rows: CaseCounts[] = [];
  for (const line of lines) {
    const counts = caseCounts(parseCanonical(line) as unknown as TraceRecord, timeoutMs);
    rows.push({ ...counts, case_id: names.of(counts.case_id), family: names.of(counts.family) });
  }
  return rows;
}

/** The metrics blob, from the case ids of the test split and the traces of every run. */
export function metricsBytes(
  { timeout_s, bootstrap, runs, comparisons }: MetricsParams,
  { planned, traces }: {
    readonly planned: readonly string[];
    readonly traces: (name: string) => Iterable<string>;
  },
): Uint8Array<ArrayBuffer> {
  const timeoutMs = wholeMs(timeout_s);
  const names = new SharedNames();
  for (const id of planned) names.of(id);
  const scored = runs.map(({ variant, seed, traces: name }) => ({
    variant,
    seed,
    rows: countLines(traces(name), timeoutMs, names),
  }));
  return canonicalBytes(metricsReport(scored, { planned, timeoutMs, bootstrap, comparisons }));
}

/**
 * Measures the traces of all cells. Where the host offers a second judge, nothing is stored that it does not confirm.
 */
export const metricsStage = defineStage({
  name: "metrics",
  version: 1,
  params,
  inputs: { test: { media_type: MEDIA.tasks }, "traces/*": { media_type: MEDIA.traces } },
  outputs: { "metrics.json": { media_type: MEDIA.metrics } },
  async run({ params, input, output }) {
    const traces = (name: string) => input(name as `traces/${string}`).lines();
    const bytes = metricsBytes(params, {
      planned: Array.from(caseNames(input("test").lines()), ({ case_id }) => case_id),
      traces,
    });
    await stageMetricsJudge()?.({
      stored: parseCanonical(bytes),
      timeoutMs: wholeMs(params.timeout_s),
      runs: params.runs.map(({ variant, seed, traces: name }) => ({ variant, seed, lines: traces(name) })),
      comparisons: params.comparisons,
    });
    output("metrics.json").write(bytes);
  },
});
