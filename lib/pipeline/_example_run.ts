/** A tiny experiment in memory, for the tests of this room: every stage of the plan, on bytes. */
import { canonicalBytes } from "../core/canonical_json.ts";
import { type Digest, digestOf } from "../core/digest.ts";
import { checkPlan, type ExperimentPlan, type PlanNode } from "../stage/plan.ts";
import { runStageInMemory } from "../stage/run_stage.ts";
import { type ExperimentConfig, parseConfig } from "./config.ts";
import { planExperiment } from "./experiment.ts";

/** Variants B and E at one seed, in sizes that take moments. */
export const TINY: ExperimentConfig = parseConfig({
  schema: "tracewright.experiment.v1",
  name: "tiny",
  semantics: "current",
  seeds: { benchmark_seed: 20260808, run_seeds: [17], bootstrap_seed: 7 },
  benchmark: { generator: "benchmark-v1.3.0", train_tasks: 12, dev_tasks: 10, test_tasks: 12 },
  policy: { state_width: 32, action_width: 32, hidden_width: 16 },
  behaviour_cloning: { epochs: 2, batch_size: 32, learning_rate: 0.01, max_grad_norm: 1 },
  progress: { hidden_width: 64, epochs: 1, batch_size: 128, learning_rate: 0.003 },
  ppo: {
    iterations: 1,
    episodes_per_iteration: 10,
    epochs: 2,
    minibatch_size: 64,
    sequence_minibatch: "matched",
    learning_rate: 0.0003,
    gamma: 0.99,
    gae_lambda: 0.95,
    clip_ratio: 0.2,
    value_clip: 0.2,
    value_coefficient: 0.5,
    entropy_coefficient: 0.01,
    max_grad_norm: 0.5,
    target_kl: null,
  },
  reward: {
    task_success: 1,
    task_failure: -1,
    invalid_action: -0.2,
    forbidden_effect: -1,
    step: -0.01,
    progress_beta: 0.35,
  },
  evaluation: { timeout_s: 80, bootstrap_samples: 20, confidence: 0.95 },
  variants: [
    { name: "B-BC-Mask", algorithm: "bc", progress_reward: false, action_mask: true },
    { name: "E-PPO-Progress-Mask", algorithm: "action_ppo", progress_reward: true, action_mask: true },
  ],
  comparison: null,
});

/** The bytes of a config, and the plan it stands for. */
export function planOf(
  config: ExperimentConfig,
): { readonly bytes: Uint8Array; readonly plan: ExperimentPlan } {
  const bytes = canonicalBytes(config);
  return { bytes, plan: planExperiment(config, digestOf(bytes)) };
}

/** Outputs of a stage by name. */
export type StageOutputs = Readonly<Record<string, Uint8Array>>;

/** Runs nodes of an experiment in memory, each once and after what it reads. */
export class ExampleRun {
  readonly #config: Uint8Array;
  readonly #digest: Digest;
  readonly #nodes: ReadonlyMap<string, PlanNode>;
  readonly #outputs = new Map<string, Promise<StageOutputs>>();

  constructor(config: ExperimentConfig = TINY) {
    const { bytes, plan } = planOf(config);
    this.#config = bytes;
    this.#digest = plan.config;
    this.#nodes = new Map(checkPlan(plan).nodes.map((node) => [node.id, node]));
  }

  /** Ids in topological order. */
  get nodes(): string[] {
    return [...this.#nodes.keys()];
  }

  /** The outputs of a node, from the first time it was asked for. */
  outputs(id: string): Promise<StageOutputs> {
    let outputs = this.#outputs.get(id);
    if (outputs === undefined) this.#outputs.set(id, outputs = this.again(id));
    return outputs;
  }

  /** Runs a node once more, on what its producers gave. */
  async again(id: string): Promise<StageOutputs> {
    const node = this.#nodes.get(id)!;
    return await runStageInMemory(node.stage, { params: node.params, inputs: await this.inputs(id) });
  }

  /** What a node reads. */
  async inputs(id: string): Promise<Record<string, Uint8Array>> {
    const inputs: Record<string, Uint8Array> = {};
    for (const [name, from] of Object.entries(this.#nodes.get(id)!.inputs)) {
      if ("node" in from) inputs[name] = (await this.outputs(from.node))[from.output]!;
      else if (from.source === this.#digest) inputs[name] = this.#config;
    }
    return inputs;
  }

  /** The parameters of a node. */
  params(id: string): PlanNode["params"] {
    return this.#nodes.get(id)!.params;
  }
}
