import golden from "../fixtures/golden.json" with { type: "json" };
import type { ExperimentConfig } from "../lib/pipeline/config.ts";
import { readConfig } from "../lib/pipeline/yaml_config.ts";
import type { MachineTasks } from "./_machine_row.ts";
import { pipelineInMemory } from "./_pipeline_in_memory.ts";
import { textOf } from "./_tree.ts";

/** The present smoke config. */
export function smokeConfig(): ExperimentConfig {
  return readConfig(textOf("configs/smoke.yaml"), "configs/smoke.yaml");
}

/**
 * What machines are asked: smoke, whose result is the golden one, and the same stages on fewer tasks and epochs, whose result
 * this host computes here and now, in memory.
 */
export async function machineTasks(): Promise<MachineTasks> {
  const smoke = smokeConfig();
  const small: ExperimentConfig = {
    ...smoke,
    benchmark: { ...smoke.benchmark, train_tasks: 12, dev_tasks: 10, test_tasks: 12 },
    behaviour_cloning: { ...smoke.behaviour_cloning, epochs: 2 },
    progress: { ...smoke.progress, epochs: 1 },
    ppo: { ...smoke.ppo, iterations: 1, episodes_per_iteration: 10 },
  };
  return {
    smoke: { config: smoke, expected: golden },
    small: { config: small, expected: await pipelineInMemory(small) },
  };
}
