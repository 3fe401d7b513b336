import type { Json } from "../core/canonical_json.ts";
import type { Digest } from "../core/digest.ts";
import type { Stage } from "../stage/define_stage.ts";
import type { ExperimentPlan } from "../stage/plan.ts";
import { parseConfig } from "./config.ts";
import { NUMERICS, planExperiment, STAGES } from "./experiment.ts";
import { readConfig } from "./yaml_config.ts";

// What `mod.ts` offers of the experiments: configs stay plain JSON there, so that a new key is no break of an interface.

/** Every stage of the experiments of this program, for executors. */
export const EXPERIMENT_STAGES: readonly Stage[] = STAGES;

/** Ids of the exact arithmetic that their results depend on. */
export const EXPERIMENT_NUMERICS: readonly string[] = NUMERICS;

/**
 * Reads an experiment config. Its canonical JSON is the config blob of a run.
 *
 * @param text YAML, in the format of `configs/smoke.yaml`
 * @param file the name to use in messages
 * @throws TracewrightError with file, line, column and the nearest valid key
 */
export function experimentConfig(text: string, file: string): Json {
  return readConfig(text, file) as unknown as Json;
}

/**
 * The DAG of stages that a config stands for.
 *
 * @param digest the config's blob
 * @throws TracewrightError with the code of the first thing wrong with the config
 */
export function experimentPlan(config: Json, digest: Digest): ExperimentPlan {
  return planExperiment(parseConfig(config), digest);
}
