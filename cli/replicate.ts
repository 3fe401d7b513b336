import type { Json } from "../lib/core/canonical_json.ts";
import { parseMaskMetrics } from "../lib/report/mask_record.ts";
import { parseMetricsReport } from "../lib/report/metrics_record.ts";
import { readRun } from "../lib/store/read_run.ts";
import { command, executeCommand } from "./_command.ts";
import { loadConfig } from "./_config_file.ts";
import { matrixJson, matrixLines, recordOf, runAndVerify } from "./_matrix_run.ts";
import { REPLICATE } from "./_matrix_specs.ts";
import { publishedResults, replicate as compare, replicationLines } from "./_replication.ts";

/**
 * `replicate`: the matrix by the rules behind the published results, verified, beside what was published. Agreement and
 * disagreement are both results, so neither changes the exit code.
 */
export const replicate = command(REPLICATE, async (options, context) => {
  const config = await loadConfig({ file: options.config, shipped: "full-frozen" });
  const published = publishedResults();
  const matrix = await runAndVerify(config, options, context);
  const run = readRun(matrix.run.path);
  const metrics = parseMetricsReport(recordOf(run, { node: "metrics", output: "metrics.json" }));
  const mask = config.comparison === null
    ? null
    : parseMaskMetrics(recordOf(run, { node: "action-validity", output: "metrics.json" }));
  const found = compare(metrics, { published, balancedAccuracy: mask?.balanced_accuracy?.value ?? null });
  return {
    json: {
      ...matrixJson(matrix),
      published: published.source,
      replication: found as unknown as Json,
    },
    lines: [...matrixLines(matrix), "", ...replicationLines(found, { report: metrics, published })],
  };
});

if (import.meta.main) await executeCommand(replicate);
