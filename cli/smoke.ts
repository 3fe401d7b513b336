import { sqlAllowed } from "../lib/evaluate/sql_database.ts";
import { command, executeCommand } from "./_command.ts";
import { loadConfig } from "./_config_file.ts";
import { runExperiment } from "./_run_experiment.ts";
import { SMOKE } from "./_specs.ts";
import { verdictJson, verdictLines } from "./_verify.ts";
import { verifyApart } from "./_verify_apart.ts";

/** `smoke`: runs the smallest whole experiment with one runtime and verifies it with another. */
export const smoke = command(SMOKE, async (options, context) => {
  const config = await loadConfig({ file: options.config, shipped: "smoke" });
  const { run, stats, runtime } = await runExperiment(config, options, context);
  const result = await verifyApart({
    reference: `${run.path}/manifest.json`,
    directory: options.output,
    runtime: runtime === "wasm" ? "reference" : "wasm", // always another one than made the decisions
    level: "standard",
    otherCode: false,
    workers: options.workers,
  }, context.progress.verification("standard"));
  return {
    json: {
      run_id: run.runId,
      result_id: run.resultId,
      path: run.path,
      ...stats,
      runtime,
      verification: verdictJson(result),
    },
    lines: [
      `${stats.stages} stages, ${stats.cached} cached`,
      `run     ${run.runId}`,
      `result  ${run.resultId}`,
      `folder  ${run.path}  (begin with report.md)`,
      "",
      ...verdictLines(result),
      ...(result.metrics_sql === "skipped" && sqlAllowed()
        ? ["the verifying thread may only read; SQL confirmed the metrics when they were stored"]
        : []),
    ],
  };
});

if (import.meta.main) await executeCommand(smoke);
