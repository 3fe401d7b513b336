import { narrowToCell } from "../lib/pipeline/config.ts";
import { command, executeCommand } from "./_command.ts";
import { loadConfig } from "./_config_file.ts";
import { runExperiment } from "./_run_experiment.ts";
import { TRAIN } from "./_specs.ts";
import { variantOf } from "./_variant.ts";

/** `train`: one cell of the matrix as an experiment of its own; its run can be verified like any other. */
export const train = command(TRAIN, async (options, context) => {
  const variant = variantOf(options.variant);
  const whole = await loadConfig({ file: options.config, shipped: "full" });
  const config = narrowToCell(whole, { variant, seed: options.seed });
  const { run, stats, runtime } = await runExperiment(config, options, context);
  return {
    json: { run_id: run.runId, result_id: run.resultId, path: run.path, ...stats, runtime },
    lines: [
      `${stats.stages} stages, ${stats.cached} cached`,
      `run     ${run.runId}`,
      `result  ${run.resultId}`,
      `folder  ${run.path}  (begin with report.md)`,
    ],
  };
});

if (import.meta.main) await executeCommand(train);
