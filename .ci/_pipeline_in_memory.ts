import { canonicalBytes } from "../lib/core/canonical_json.ts";
import { type Digest, digestOf, digestOfJson } from "../lib/core/digest.ts";
import { parseConfig } from "../lib/pipeline/config.ts";
import { planExperiment } from "../lib/pipeline/experiment.ts";
import { checkPlan } from "../lib/stage/plan.ts";
import { runStageInMemory } from "../lib/stage/run_stage.ts";

/** What an experiment found. */
export interface PipelineIds {
  readonly result_id: Digest;
  /** By `<node id>/<output name>`, in the order in which they were made. */
  readonly outputs: Readonly<Record<string, Digest>>;
}

/**
 * Runs a whole experiment in memory with the reference runtime: no store, no host. It has an entry of its own so that it
 * can be bundled for another JavaScript engine.
 *
 * @param json a config as JSON
 * @param disturb what becomes of each output before anybody reads it; for tests
 * @throws TracewrightError of `parseConfig`, and whatever a stage throws
 */
export async function pipelineInMemory(
  json: unknown,
  disturb: (title: string, bytes: Uint8Array) => Uint8Array = (_title, bytes) => bytes,
): Promise<PipelineIds> {
  const config = canonicalBytes(parseConfig(json));
  const plan = checkPlan(planExperiment(parseConfig(json), digestOf(config)));
  const made = new Map<string, Uint8Array>();
  const outputs: Record<string, Digest> = {};
  for (const { id, stage, params, inputs } of plan.nodes) {
    const given = Object.fromEntries(
      Object.entries(inputs).map((
        [name, from],
      ) => [name, "node" in from ? made.get(`${from.node}/${from.output}`)! : config]),
    );
    for (const [name, bytes] of Object.entries(await runStageInMemory(stage, { params, inputs: given }))) {
      const title = `${id}/${name}`;
      const kept = disturb(title, bytes);
      made.set(title, kept);
      outputs[title] = digestOf(kept);
    }
  }
  return { result_id: digestOfJson({ config: plan.config, outputs }), outputs };
}
