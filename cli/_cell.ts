import { type Digest, digestOfJson } from "../lib/core/digest.ts";
import { generateSplit } from "../lib/benchmark/generate.ts";
import { type ExperimentConfig, narrowToCell } from "../lib/pipeline/config.ts";
import { cellIds, planExperiment } from "../lib/pipeline/experiment.ts";
import type { AdmittedGraph } from "../lib/policy/admission.ts";
import { ESTIMATOR_HIDDEN } from "../lib/policy/exact_network.ts";
import type { PlanNode } from "../lib/stage/plan.ts";
import { Store } from "../lib/store/store.ts";
import type { WorkflowTask } from "../lib/world/contracts.ts";
import { loadGraph, requireMaker } from "./_checkpoint.ts";
import { loadConfig } from "./_config_file.ts";
import { usageError } from "./_usage_error.ts";
import { variantOf } from "./_variant.ts";

type Variant = ExperimentConfig["variants"][number];

/** One cell of the matrix with the graphs that a user brought for it. */
export interface BroughtCell {
  /** The config, narrowed to the cell. */
  readonly config: ExperimentConfig;
  readonly configDigest: Digest;
  readonly variant: Variant;
  readonly policy: AdmittedGraph;
  /** Only for variants with progress reward. */
  readonly estimator: AdmittedGraph | undefined;
  /** The node of the cell's plan that evaluates it. */
  readonly evaluate: PlanNode;
  /** The node of the cell's plan that measures the traces, and the name under which it takes them. */
  readonly metrics: PlanNode;
  readonly tracesInput: string;
}

/** What names a cell and its graphs. */
export interface CellOptions {
  readonly config: string | undefined;
  readonly variant: string;
  readonly checkpoint: string;
  readonly estimator: string | undefined;
  readonly store: string;
}

/** A variant with progress reward records potentials, which only its estimator can give; any other has no use for one. */
function checkEstimator({ name, progress_reward }: Variant, estimator: string | undefined): void {
  if (progress_reward === (estimator !== undefined)) return;
  throw usageError(progress_reward ? "missing_estimator" : "needless_estimator", {
    message: progress_reward
      ? "the reward of this variant has a progress term, which needs the estimator"
      : "this variant has no progress reward and takes no estimator",
    variant: name,
    hint: progress_reward
      ? "add --estimator with the estimator.onnx of the same seed; `explain progress/17` prints its digest"
      : "leave --estimator out",
  });
}

/**
 * Reads the config, narrows it to a cell and admits the graphs.
 *
 * @param seed run seed of the checkpoint; undefined where it does not matter
 * @throws TracewrightError "unknown_variant", "missing_estimator", "needless_estimator", and those of the config and
 * of `loadGraph` and `requireMaker`
 */
export async function bringCell(options: CellOptions, seed?: number): Promise<BroughtCell> {
  const variant = variantOf(options.variant);
  checkEstimator(variant, options.estimator);
  const whole = await loadConfig({ file: options.config, shipped: "full" });
  const cellSeed = seed ?? whole.seeds.run_seeds[0]!;
  const config = narrowToCell(whole, { variant, seed: cellSeed });
  using store = Store.open(options.store);
  const { state_width: stateWidth, action_width: actionWidth } = config.policy;
  const load = (option: "--checkpoint" | "--estimator", reference: string) =>
    loadGraph({
      option,
      reference,
      stateWidth,
      ...(option === "--checkpoint"
        ? { kind: "actor_critic", actionWidth, hidden: config.policy.hidden_width } as const
        : { kind: "estimator", actionWidth: 0, hidden: ESTIMATOR_HIDDEN } as const),
    }, store);
  const policy = load("--checkpoint", options.checkpoint);
  const estimator = options.estimator === undefined ? undefined : load("--estimator", options.estimator);
  const actions = store.actions.list();
  for (const graph of [policy, estimator]) {
    if (graph !== undefined) {
      requireMaker(graph.digest, { variant, ...(seed === undefined ? {} : { seed }) }, actions);
    }
  }
  const configDigest = digestOfJson(config);
  const plan = planExperiment(config, configDigest);
  const ids = cellIds(variant, cellSeed);
  const node = (id: string) => plan.nodes.find((one) => one.id === id)!;
  return {
    config,
    configDigest,
    variant,
    policy,
    estimator,
    evaluate: node(ids.evaluate),
    metrics: node("metrics"),
    tracesInput: ids.traces,
  };
}

/** The test split of a config, sorted by case id. */
export function testSplit({ benchmark, seeds }: ExperimentConfig): WorkflowTask[] {
  return generateSplit({ split: "test", size: benchmark.test_tasks, baseSeed: seeds.benchmark_seed });
}
