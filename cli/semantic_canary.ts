import type { Json } from "../lib/core/canonical_json.ts";
import { runCanary } from "../lib/pipeline/canary.ts";
import { setStageRuntime } from "../lib/pipeline/execution.ts";
import { resolveRuntime } from "../lib/policy/open_runtime.ts";
import { command, executeCommand } from "./_command.ts";
import { loadConfig } from "./_config_file.ts";
import { SEMANTIC_CANARY } from "./_matrix_specs.ts";

/** `semantic-canary`: trains on eight tasks until it must know them, twenty times, and says whether it does. */
export const semanticCanary = command(SEMANTIC_CANARY, async (options, { note }) => {
  const config = await loadConfig({ file: options.config, shipped: "smoke" });
  setStageRuntime(resolveRuntime(options.runtime));
  const report = await runCanary(config, {
    repetitions: options.repetitions,
    onRepetition: (done) => note(`${done} of ${options.repetitions} …`),
  });
  const width = Math.max(...report.checks.map(({ name }) => name.length));
  return {
    json: report as unknown as Json,
    lines: [
      `${report.criterion}: ${report.repetitions} repetitions`,
      ...report.checks.map(({ name, passed, actual, comparator, threshold }) =>
        `${name.padEnd(width)}  ${passed ? "ok" : "--"}  ${actual} ${comparator} ${threshold}`
      ),
      `${"ppo_tsr".padEnd(width)}      ${report.first.ppo_tsr.value}, which need not be more than bc_tsr`,
      ...Object.entries(report.first.digests).map(([what, digest]) => `${what.padEnd(width)}      ${digest}`),
      report.passed ? "passed" : "NOT PASSED",
    ],
    verdict: report.passed ? "good" : "wrong",
  };
});

if (import.meta.main) await executeCommand(semanticCanary);
