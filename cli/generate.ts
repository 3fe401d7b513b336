import { digestOfJson } from "../lib/core/digest.ts";
import { parseCanonical } from "../lib/core/canonical_json.ts";
import type { BenchmarkManifest } from "../lib/benchmark/manifest.ts";
import { planExperiment } from "../lib/pipeline/experiment.ts";
import { runStageInMemory } from "../lib/stage/run_stage.ts";
import { SPLITS } from "../lib/world/contracts.ts";
import { command, executeCommand } from "./_command.ts";
import { loadConfig } from "./_config_file.ts";
import { requireFreeOutput, writeWhole } from "./_output.ts";
import { GENERATE } from "./_specs.ts";

/** `generate`: writes the three splits and their manifest, all checked before the first byte is written. */
export const generate = command(GENERATE, async (options) => {
  requireFreeOutput(options.output, { kind: "folder" });
  const config = await loadConfig({ file: options.config, shipped: "full" });
  const { nodes } = planExperiment(config, digestOfJson(config));
  const { stage, params } = nodes.find(({ id }) => id === "benchmark")!;
  const outputs = await runStageInMemory(stage, { params, inputs: {} });
  const names = [...SPLITS.map((split) => `${split}.jsonl`), "manifest.json"];
  writeWhole(options.output, names.map((name) => ({ name, bytes: outputs[name]! })));
  const json = parseCanonical(outputs["manifest.json"]!);
  const { base_seed, files } = json as unknown as BenchmarkManifest;
  return {
    json,
    lines: [
      `benchmark  ${options.output}, seed ${base_seed}`,
      ...SPLITS.map((split) => {
        const { count, oracle_solvable, sha256 } = files[split];
        const solved = oracle_solvable === count ? "all" : String(oracle_solvable);
        return `${split.padEnd(9)}  ${count} tasks, ${solved} solved by the oracle  ${sha256}`;
      }),
    ],
  };
});

if (import.meta.main) await executeCommand(generate);
