import assert from "node:assert/strict";
import { checkPlan } from "../stage/plan.ts";
import { planOf, TINY } from "./_example_run.ts";
import { type ExperimentConfig, narrowToCell } from "./config.ts";
import { findVariant, VARIANTS } from "./config_variants.ts";
import { cellIds, planExperiment, STAGES } from "./experiment.ts";
import { rewardSettings } from "./semantics.ts";
import { readConfig } from "./yaml_config.ts";

function shipped(name: "smoke" | "full"): ExperimentConfig {
  const file = `configs/${name}.yaml`;
  return readConfig(Deno.readTextFileSync(new URL(`../../${file}`, import.meta.url)), file);
}

const idsOf = (config: ExperimentConfig) => planOf(config).plan.nodes.map(({ id }) => id).sort();

/** What every node reads, as `input <- producer/output`. */
function edges(config: ExperimentConfig, node: string): string[] {
  const { inputs } = planOf(config).plan.nodes.find(({ id }) => id === node)!;
  return Object.entries(inputs).map(([name, from]) =>
    `${name} <- ${"node" in from ? `${from.node}/${from.output}` : "config"}`
  ).sort();
}

Deno.test("planExperiment() of smoke has the eight stages of the architecture", () => {
  const { plan } = planOf(shipped("smoke"));
  assert.deepEqual(plan.nodes.map(({ id, stage }) => `${id} ${stage.name}`).sort(), [
    "bc/17 bc",
    "benchmark benchmark",
    "evaluate/b/17 evaluate",
    "evaluate/e/17 evaluate",
    "metrics metrics",
    "ppo/e/17 ppo",
    "progress/17 progress",
    "report report",
  ]);
  assert.deepEqual(checkPlan(plan).roots, ["report"]);
  assert.deepEqual(plan.views!.map(({ path }) => path), [
    "report.md",
    "metrics/metrics.json",
    "traces/b/17.jsonl",
    "traces/e/17.jsonl",
  ]);
});

Deno.test("planExperiment() of full trains four variants from five clones and evaluates thirty cells", () => {
  const config = shipped("full");
  const seeds = [17, 29, 43, 71, 101];
  const expected = [
    "benchmark",
    ...seeds.flatMap((seed) => [`bc/${seed}`, `progress/${seed}`]),
    ...["c", "d", "e", "f"].flatMap((letter) => seeds.map((seed) => `ppo/${letter}/${seed}`)),
    ...["a", "b", "c", "d", "e", "f"].flatMap((letter) => seeds.map((seed) => `evaluate/${letter}/${seed}`)),
    "metrics",
    "action-validity",
    "rules",
    "statistics",
    "report",
  ];
  assert.equal(expected.length, 66);
  assert.deepEqual(idsOf(config), expected.sort());
  assert.equal(checkPlan(planOf(config).plan).nodes.length, 66);
  const metrics = planOf(config).plan.nodes.find(({ id }) => id === "metrics")!;
  assert.deepEqual(metrics.params["comparisons"], [
    { treatment: "E-PPO-Progress-Mask", baseline: "B-BC-Mask" },
    { treatment: "E-PPO-Progress-Mask", baseline: "A-BC-Unmasked" },
  ]);
  assert.equal((metrics.params["runs"] as unknown[]).length, 30);
  assert.equal(Object.keys(metrics.inputs).length, 31);
});

Deno.test("planExperiment() of a config with a hypothesis measures the mask and computes statistics and claim", () => {
  const config = shipped("full");
  const { nodes, views } = planOf(config).plan;
  const statistics = nodes.find(({ id }) => id === "statistics")!;
  const metrics = nodes.find(({ id }) => id === "metrics")!;
  assert.deepEqual(edges(config, "action-validity"), ["test <- benchmark/test.jsonl"]);
  assert.deepEqual(
    edges(config, "statistics"),
    [
      ...edges(config, "metrics"),
      "mask <- action-validity/metrics.json",
      "metrics <- metrics/metrics.json",
    ].sort(),
  );
  assert.deepEqual(statistics.params["runs"], metrics.params["runs"]);
  const settings = statistics.params["statistics"] as Record<string, unknown>;
  assert.deepEqual(settings["bootstrap"], { samples: 10_000, confidence: 0.95, seed: 20260808 });
  assert.deepEqual(settings["primary"], { treatment: "E-PPO-Progress-Mask", baseline: "B-BC-Mask" });
  assert.deepEqual(
    (settings["secondary"] as { treatment: string; baseline: string }[])
      .map(({ treatment, baseline }) => `${treatment[0]}-${baseline[0]}`),
    ["B-A", "C-A", "D-C", "D-B", "E-D", "E-F"],
  );
  assert.deepEqual(
    views!.map(({ path }) => path).filter((path) => !path.startsWith("traces/")),
    [
      "report.md",
      "metrics/metrics.json",
      "claim-check.json",
      "metrics/statistics.json",
      "metrics/action-validity.json",
      "metrics/rules.json",
    ],
  );
});

Deno.test("planExperiment() feeds B from the clone, and E from the clone, the estimator and its own training", () => {
  assert.deepEqual(edges(TINY, "bc/17"), ["train <- benchmark/train.jsonl"]);
  assert.deepEqual(edges(TINY, "progress/17"), [
    "dev <- benchmark/dev.jsonl",
    "train <- benchmark/train.jsonl",
  ]);
  assert.deepEqual(edges(TINY, "ppo/e/17"), [
    "estimators/progress <- progress/17/estimator.onnx",
    "initial <- bc/17/checkpoint.bin",
    "train <- benchmark/train.jsonl",
  ]);
  assert.deepEqual(edges(TINY, "evaluate/b/17"), [
    "policy <- bc/17/policy.onnx",
    "test <- benchmark/test.jsonl",
  ]);
  assert.deepEqual(edges(TINY, "evaluate/e/17"), [
    "estimators/progress <- progress/17/estimator.onnx",
    "policy <- ppo/e/17/policy.onnx",
    "test <- benchmark/test.jsonl",
  ]);
  assert.deepEqual(edges(TINY, "metrics"), [
    "test <- benchmark/test.jsonl",
    "traces/b/17 <- evaluate/b/17/traces.jsonl",
    "traces/e/17 <- evaluate/e/17/traces.jsonl",
  ]);
  assert.deepEqual(edges(TINY, "report"), [
    "benchmark <- benchmark/manifest.json",
    "calibration/progress/17 <- progress/17/calibration.json",
    "config <- config",
    "metrics <- metrics/metrics.json",
    "training/bc/17 <- bc/17/training.json",
    "training/ppo/e/17 <- ppo/e/17/training.json",
  ]);
});

Deno.test("planExperiment() fits no estimator that no variant uses", () => {
  const variant = findVariant("D")!;
  const sparse = narrowToCell(TINY, { variant, seed: 17 });
  assert.deepEqual(idsOf(sparse), ["bc/17", "benchmark", "evaluate/d/17", "metrics", "ppo/d/17", "report"]);
  assert.ok(edges(sparse, "report").every((edge) => !edge.startsWith("calibration")));
});

Deno.test("planExperiment() gives each variant its own mask, reward and credit", () => {
  const { plan } = planOf({ ...TINY, variants: VARIANTS });
  for (const variant of VARIANTS) {
    const ids = cellIds(variant, 17);
    const params = plan.nodes.find(({ id }) => id === ids.evaluate)!.params;
    assert.equal(params["action_mask"], variant.action_mask);
    assert.equal(params["progress_reward"], variant.progress_reward);
    assert.equal(params["credit_assignment"], variant.algorithm === "sequence_ppo" ? "sequence" : "action");
    assert.deepEqual(params["reward"], rewardSettings(TINY));
    if (variant.algorithm === "bc") {
      assert.equal(ids.policy, "bc/17");
      continue;
    }
    const training = plan.nodes.find(({ id }) => id === ids.policy)!.params;
    assert.equal(training["algorithm"], variant.algorithm);
    assert.equal(training["action_mask"], variant.action_mask);
    assert.equal(training["progress_reward"], variant.progress_reward);
  }
});

Deno.test("planExperiment() names no variant where all variants shall draw the same numbers", () => {
  const { plan } = planOf({ ...TINY, variants: VARIANTS });
  for (const { id, params } of plan.nodes) {
    if (id === "metrics") continue; // it must say whose traces are whose
    assert.doesNotMatch(JSON.stringify(params), /PPO-|BC-/, id);
  }
});

Deno.test("planExperiment() is a pure function of the config", () => {
  const { plan } = planOf(TINY);
  assert.deepEqual(planExperiment(TINY, plan.config), plan);
  const other = planOf({ ...TINY, seeds: { ...TINY.seeds, run_seeds: [29] } });
  assert.notEqual(other.plan.config, plan.config);
});

Deno.test("STAGES holds every stage that a plan uses, each name once", () => {
  const names = STAGES.map(({ name }) => name as string);
  assert.equal(new Set(names).size, names.length);
  for (const { stage } of planOf(shipped("full")).plan.nodes) assert.ok(names.includes(stage.name));
});
