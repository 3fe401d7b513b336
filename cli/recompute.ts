import { canonicalBytes, type Json, parseCanonical } from "../lib/core/canonical_json.ts";
import { digestOf } from "../lib/core/digest.ts";
import { TracewrightError } from "../lib/core/error.ts";
import type { CaseCounts } from "../lib/evaluate/case_counts.ts";
import type { MetricsReport } from "../lib/evaluate/metrics_report.ts";
import { sqlAllowed } from "../lib/evaluate/sql_database.ts";
import { sqlMetricsJudge } from "../lib/evaluate/sql_judge.ts";
import { countLines } from "../lib/pipeline/stages/metrics_stage.ts";
import { diskLayer } from "../lib/store/file_layer.ts";
import { linesOf } from "../lib/store/lines.ts";
import { storeError } from "../lib/store/store_error.ts";
import { command, executeCommand } from "./_command.ts";
import { loadConfig } from "./_config_file.ts";
import { requireFreeOutput, writeFileWhole } from "./_output.ts";
import {
  comparePublished,
  type MetricsSettings,
  publishedSettings,
  recomputed,
} from "./_published_metrics.ts";
import { RECOMPUTE } from "./_specs.ts";
import { sqlLine } from "./_sql_line.ts";
import { variantOf } from "./_variant.ts";

/** Schema id of what `recompute` writes. */
const SCHEMA = "tracewright.recompute.v1";
/** Differences that are printed; the file holds all. */
const SHOWN = 12;

function readNamed(path: string): Uint8Array {
  const bytes = diskLayer.read(path);
  if (bytes === undefined) throw storeError("no_such_file", { path, hint: "check the path" });
  return bytes;
}

async function configSettings(file: string | undefined): Promise<MetricsSettings> {
  const { evaluation, seeds } = await loadConfig({ file, shipped: "full" });
  return {
    timeoutMs: Math.floor(evaluation.timeout_s * 1000 + 0.5),
    bootstrap: {
      samples: evaluation.bootstrap_samples,
      confidence: evaluation.confidence,
      seed: seeds.bootstrap_seed,
    },
  };
}

/** The counts of a trace file; what is wrong with a line is told with its number. */
function countFile(bytes: Uint8Array, path: string, timeoutMs: number): CaseCounts[] {
  const rows: CaseCounts[] = [];
  for (const text of linesOf([bytes], { path })) {
    try {
      if (!text.startsWith("{")) {
        throw new TracewrightError("trace_schema", { expected: "a JSON object", actual: text.slice(0, 40) });
      }
      rows.push(...countLines([text], timeoutMs));
    } catch (error) {
      if (!(error instanceof TracewrightError)) throw error;
      throw new TracewrightError(error.code, { path, line: rows.length + 1, ...error.details, cause: error });
    }
  }
  return rows;
}

/**
 * Has SQL compute the same from the same lines, where FFI is allowed.
 *
 * @throws TracewrightError "metrics_sql_mismatch" where it comes to something else
 */
async function askSql(report: MetricsReport, lines: Iterable<string>): Promise<"confirmed" | "skipped"> {
  if (!sqlAllowed()) return "skipped";
  const [{ variant, seed } = { variant: "", seed: 0 }] = report.runs;
  const timeoutMs = Math.floor(report.timeout_s * 1000 + 0.5);
  await sqlMetricsJudge({ stored: report, timeoutMs, runs: [{ variant, seed, lines }], comparisons: [] });
  return "confirmed";
}

/** One difference for a person. */
function show(value: Json | undefined): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 80 ? text.slice(0, 77) + "..." : text;
}

/** `recompute`: counts traces again and compares published metrics, number by number, without tolerance. */
export const recompute = command(RECOMPUTE, async (options) => {
  const inputs = [options.traces, ...(options.metrics === undefined ? [] : [options.metrics])];
  requireFreeOutput(options.output, { inputs, kind: "file" });
  const traces = readNamed(options.traces);
  const published = options.metrics === undefined ? undefined : readNamed(options.metrics);
  const stated = published && parseCanonical(published);
  const fallback = await configSettings(options.config);
  const settings = stated === undefined ? fallback : publishedSettings(stated, fallback);
  const rows = countFile(traces, options.traces, settings.timeoutMs);
  const seed = options.seed === undefined ? {} : { seed: options.seed };
  const variant = options.variant === undefined ? {} : { variant: variantOf(options.variant).name };
  const report = recomputed(rows, { variant: "", seed: 0, ...variant, ...seed }, settings);
  const metricsSql = await askSql(report, linesOf([traces], { path: options.traces }));
  const comparison = stated === undefined
    ? undefined
    : comparePublished(report, stated, { ...variant, ...seed });
  const differences = (comparison?.differences ?? []).map(({ path, expected, actual }) => ({
    path,
    ...(expected === undefined ? {} : { expected }),
    ...(actual === undefined ? {} : { actual }),
  }));
  const { denominators, metrics } = report.runs[0]!;
  const matches = comparison === undefined ? null : differences.length === 0;
  const json = JSON.parse(JSON.stringify({
    schema: SCHEMA,
    traces: digestOf(traces),
    published: published === undefined ? null : digestOf(published),
    run: comparison?.entry ?? null,
    matches,
    differences,
    not_compared: comparison?.notCompared ?? [],
    metrics_sql: metricsSql,
    timeout_s: report.timeout_s,
    bootstrap: report.bootstrap,
    denominators,
    metrics,
  })) as Json;
  writeFileWhole(options.output, canonicalBytes(json));
  const of = comparison?.entry ? ` of ${comparison.entry.variant}, seed ${comparison.entry.seed}` : "";
  return {
    json,
    lines: [
      `${metrics.successful_cases} of ${metrics.cases} cases succeeded, ` +
      `${metrics.executed_actions} actions executed`,
      ...(comparison === undefined
        ? ["nothing to compare with; --metrics names published metrics"]
        : matches
        ? [`the published metrics${of} are exactly what the traces give`]
        : [`${differences.length} values${of} are not what the traces give:`]),
      ...differences.slice(0, SHOWN).map(({ path, expected, actual }) =>
        `  ${path}: published ${show(actual)}, the traces give ${show(expected)}`
      ),
      ...(differences.length > SHOWN ? [`  and ${differences.length - SHOWN} more`] : []),
      sqlLine(metricsSql),
      ...(comparison?.notCompared.length ? [`not compared: ${comparison.notCompared.join(", ")}`] : []),
      `written  ${options.output}`,
    ],
    verdict: matches === false ? "wrong" : "good",
  };
});

if (import.meta.main) await executeCommand(recompute);
