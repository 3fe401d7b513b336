import type { Digest } from "../core/digest.ts";
import { type ExperimentPlan, type PlanInput, type PlanNode, planNode } from "../stage/plan.ts";
import type { ExperimentConfig } from "./config.ts";
import { variantLetter, type VariantName } from "./config_variants.ts";
import { preregistrationDigest, registeredPart } from "./preregistration.ts";
import { rewardSettings, semanticsOf } from "./semantics.ts";
import { actionValidityStage } from "./stages/action_validity_stage.ts";
import { bcStage } from "./stages/bc_stage.ts";
import { benchmarkStage } from "./stages/benchmark_stage.ts";
import { evaluateStage } from "./stages/evaluate_stage.ts";
import { metricsStage } from "./stages/metrics_stage.ts";
import { ppoStage } from "./stages/ppo_stage.ts";
import { progressStage } from "./stages/progress_stage.ts";
import { reportStage } from "./stages/report_stage.ts";
import { rulesStage } from "./stages/rules_stage.ts";
import { statisticsStage } from "./stages/statistics_stage.ts";

/** Every stage there is, for executors. */
export const STAGES = [
  benchmarkStage,
  bcStage,
  progressStage,
  ppoStage,
  evaluateStage,
  metricsStage,
  actionValidityStage,
  rulesStage,
  statisticsStage,
  reportStage,
] as const;

/** Ids of the exact arithmetic that results depend on; part of every action key. */
export const NUMERICS = ["exact-f64-v1", "f32-wasm-v1"] as const;

type Variant = ExperimentConfig["variants"][number];

/** How the id of a node names a variant: its letter, lower-cased, for ids are also paths. */
export function variantId(variant: { readonly name: VariantName }): string {
  return variantLetter(variant.name).toLowerCase();
}

/** Node ids of one cell. A cell without a training of its own is evaluated with the cloned policy. */
export function cellIds(variant: Variant, seed: number) {
  const bc = `bc/${seed}`;
  const ppo = `ppo/${variantId(variant)}/${seed}`;
  return {
    bc,
    progress: `progress/${seed}`,
    policy: variant.algorithm === "bc" ? bc : ppo,
    evaluate: `evaluate/${variantId(variant)}/${seed}`,
    traces: `traces/${variantId(variant)}/${seed}`,
  };
}

/** What the compiler cannot see of a record built with `Object.fromEntries`. */
type MetricsInputs = { readonly test: PlanInput; readonly [traces: `traces/${string}`]: PlanInput };
type StatisticsInputs =
  & { readonly test: PlanInput; readonly metrics: PlanInput; readonly mask: PlanInput }
  & { readonly [traces: `traces/${string}`]: PlanInput };
type ReportInputs =
  & { readonly config: PlanInput; readonly benchmark: PlanInput; readonly metrics: PlanInput }
  & { readonly [record: `training/${string}` | `calibration/${string}`]: PlanInput }
  & { readonly [record: `claim/${string}` | `statistics/${string}`]: PlanInput }
  & { readonly [record: `mask/${string}` | `rules/${string}`]: PlanInput };

const output = (node: string, name: string): PlanInput => ({ node, output: name });

function seedNodes(config: ExperimentConfig, seed: number): PlanNode[] {
  const { action_features, progress_labels: labels } = semanticsOf(config);
  const nodes = [planNode(bcStage, {
    id: `bc/${seed}`,
    params: { seed, policy: config.policy, action_features, behaviour_cloning: config.behaviour_cloning },
    inputs: { train: output("benchmark", "train.jsonl") },
  })];
  if (config.variants.some((variant) => variant.progress_reward)) {
    nodes.push(planNode(progressStage, {
      id: `progress/${seed}`,
      params: { seed, policy: config.policy, action_features, progress: { ...config.progress, labels } },
      inputs: { train: output("benchmark", "train.jsonl"), dev: output("benchmark", "dev.jsonl") },
    }));
  }
  return nodes;
}

function cellNodes(config: ExperimentConfig, variant: Variant, seed: number): PlanNode[] {
  const ids = cellIds(variant, seed);
  const { action_features, terminal_potential } = semanticsOf(config);
  const nodes: PlanNode[] = [];
  const estimator: Record<`estimators/${string}`, PlanInput> = variant.progress_reward
    ? { "estimators/progress": output(ids.progress, "estimator.onnx") }
    : {};
  if (variant.algorithm !== "bc") {
    nodes.push(planNode(ppoStage, {
      id: ids.policy,
      params: {
        seed,
        algorithm: variant.algorithm,
        action_mask: variant.action_mask,
        progress_reward: variant.progress_reward,
        policy: config.policy,
        action_features,
        ppo: config.ppo,
        reward: { ...config.reward, terminal_potential },
      },
      inputs: {
        train: output("benchmark", "train.jsonl"),
        initial: output(ids.bc, "checkpoint.bin"),
        ...estimator,
      },
    }));
  }
  nodes.push(planNode(evaluateStage, {
    id: ids.evaluate,
    params: {
      action_mask: variant.action_mask,
      progress_reward: variant.progress_reward,
      credit_assignment: variant.algorithm === "sequence_ppo" ? "sequence" : "action",
      policy: config.policy,
      action_features,
      reward: rewardSettings(config),
    },
    inputs: {
      test: output("benchmark", "test.jsonl"),
      policy: output(ids.policy, "policy.onnx"),
      ...estimator,
    },
  }));
  return nodes;
}

/** Which differences the metrics hold: E − B wherever both are there, and E − A in the whole matrix. */
export function comparisons(config: ExperimentConfig) {
  const has = (name: VariantName) => config.variants.some((variant) => variant.name === name);
  return ([
    { treatment: "E-PPO-Progress-Mask", baseline: "B-BC-Mask" },
    { treatment: "E-PPO-Progress-Mask", baseline: "A-BC-Unmasked" },
  ] as const).filter(({ treatment, baseline }) => has(treatment) && has(baseline));
}

/** Draws, confidence and root of the metrics' intervals. */
function bootstrapOf({ evaluation, seeds }: ExperimentConfig) {
  return {
    samples: evaluation.bootstrap_samples,
    confidence: evaluation.confidence,
    seed: seeds.bootstrap_seed,
  };
}

/** Which traces are whose. */
function runsOf(config: ExperimentConfig) {
  return config.variants.flatMap((variant) =>
    config.seeds.run_seeds.map((seed) => ({
      variant: variant.name,
      seed,
      traces: cellIds(variant, seed).traces,
    }))
  );
}

/** The traces of all cells as inputs. */
function tracesOf(config: ExperimentConfig): Readonly<Record<`traces/${string}`, PlanInput>> {
  return Object.fromEntries(
    config.variants.flatMap((variant) =>
      config.seeds.run_seeds.map((seed) => {
        const ids = cellIds(variant, seed);
        return [ids.traces, output(ids.evaluate, "traces.jsonl")] as const;
      })
    ),
  );
}

/** What only a config with a hypothesis has: the mask's own measure, the statistics and the claim. */
function claimNodes(config: ExperimentConfig): PlanNode[] {
  const { comparison } = config;
  if (comparison === null) return [];
  const { draws, secondary, ...levels } = comparison.statistics;
  const { treatment, matched_baseline, total_system_baseline } = comparison;
  return [
    planNode(actionValidityStage, {
      id: "action-validity",
      params: { benchmark_seed: config.seeds.benchmark_seed, bootstrap: bootstrapOf(config) },
      inputs: { test: output("benchmark", "test.jsonl") },
    }),
    planNode(rulesStage, {
      id: "rules",
      params: {
        seed: config.seeds.run_seeds[0]!,
        reward: rewardSettings(config),
        timeout_s: config.evaluation.timeout_s,
        bootstrap: bootstrapOf(config),
      },
      inputs: { test: output("benchmark", "test.jsonl") },
    }),
    planNode(statisticsStage, {
      id: "statistics",
      params: {
        seeds: config.seeds.run_seeds,
        variants: config.variants,
        runs: runsOf(config),
        statistics: {
          ...levels,
          bootstrap: { ...bootstrapOf(config), samples: draws },
          primary: { treatment, baseline: matched_baseline },
          total_system: { treatment, baseline: total_system_baseline },
          secondary,
        },
      },
      inputs: {
        test: output("benchmark", "test.jsonl"),
        metrics: output("metrics", "metrics.json"),
        mask: output("action-validity", "metrics.json"),
        ...tracesOf(config),
      } as StatisticsInputs,
    }),
  ];
}

/** Records that the report takes from {@link claimNodes}. */
function claimRecords({ comparison }: ExperimentConfig): Readonly<Record<string, PlanInput>> {
  return comparison === null ? {} : {
    "claim/check": output("statistics", "claim.json"),
    "statistics/differences": output("statistics", "statistics.json"),
    "mask/action-validity": output("action-validity", "metrics.json"),
    "rules/metrics": output("rules", "metrics.json"),
  };
}

/** Nodes that follow from what a verifier has made sure of, and are cheap: it computes them again. */
export function derivedNodes({ comparison }: ExperimentConfig): readonly string[] {
  return comparison === null ? [] : ["action-validity", "rules", "statistics"];
}

/** Files of a run that show what {@link claimNodes} gave. */
function claimViews(config: ExperimentConfig) {
  return config.comparison === null ? [] : [
    { path: "claim-check.json", node: "statistics", output: "claim.json" },
    { path: "metrics/statistics.json", node: "statistics", output: "statistics.json" },
    { path: "metrics/action-validity.json", node: "action-validity", output: "metrics.json" },
    { path: "metrics/rules.json", node: "rules", output: "metrics.json" },
  ];
}

/**
 * The DAG of an experiment: which stage feeds which. A pure function of the config, so a verifier derives the same
 * plan and compares.
 *
 * @param digest the config's blob
 */
export function planExperiment(config: ExperimentConfig, digest: Digest): ExperimentPlan {
  const cells = config.variants.flatMap((variant) =>
    config.seeds.run_seeds.map((seed) => ({ variant, seed, ids: cellIds(variant, seed) }))
  );
  const seeds = config.seeds.run_seeds;
  const { evaluation } = config;
  const trainings = [
    ...new Set([...seeds.map((seed) => `bc/${seed}`), ...cells.map(({ ids }) => ids.policy)]),
  ].sort();
  const estimators = [
    ...new Set(cells.filter(({ variant }) => variant.progress_reward).map(({ ids }) => ids.progress)),
  ].sort();
  const nodes: PlanNode[] = [
    planNode(benchmarkStage, {
      id: "benchmark",
      params: { benchmark_seed: config.seeds.benchmark_seed, benchmark: config.benchmark },
      inputs: {},
    }),
    ...seeds.flatMap((seed) => seedNodes(config, seed)),
    ...cells.flatMap(({ variant, seed }) => cellNodes(config, variant, seed)),
    planNode(metricsStage, {
      id: "metrics",
      params: {
        timeout_s: evaluation.timeout_s,
        bootstrap: bootstrapOf(config),
        runs: runsOf(config),
        comparisons: comparisons(config),
      },
      inputs: {
        test: output("benchmark", "test.jsonl"),
        ...tracesOf(config),
      } as MetricsInputs,
    }),
    ...claimNodes(config),
    planNode(reportStage, {
      id: "report",
      params: {
        registration: config.comparison === null ? null : preregistrationDigest(registeredPart(config)),
      },
      inputs: {
        config: { source: digest },
        benchmark: output("benchmark", "manifest.json"),
        metrics: output("metrics", "metrics.json"),
        ...Object.fromEntries([
          ...trainings.map((id) => [`training/${id}`, output(id, "training.json")]),
          ...estimators.map((id) => [`calibration/${id}`, output(id, "calibration.json")]),
        ]),
        ...claimRecords(config),
      } as ReportInputs,
    }),
  ];
  return {
    config: digest,
    nodes,
    views: [
      { path: "report.md", node: "report", output: "report.md" },
      { path: "metrics/metrics.json", node: "metrics", output: "metrics.json" },
      ...claimViews(config),
      ...cells.map(({ ids }) => ({
        path: `${ids.traces}.jsonl`,
        node: ids.evaluate,
        output: "traces.jsonl",
      })),
    ],
  };
}
