import assert from "node:assert/strict";
import type { ExperimentPlan } from "../stage/plan.ts";
import { planOf } from "./_example_run.ts";
import { requireCanonical } from "./canonical.ts";
import type { ExperimentConfig } from "./config.ts";
import { baseSeedOf, preregistrationDigest, registeredPart } from "./preregistration.ts";
import { readConfig } from "./yaml_config.ts";

const file = "configs/full.yaml";
const SHIPPED = readConfig(Deno.readTextFileSync(new URL(`../../${file}`, import.meta.url)), file);
const PREREGISTRATION = registeredPart(SHIPPED);
const P = preregistrationDigest(PREREGISTRATION);
const FULL: ExperimentConfig = {
  ...SHIPPED,
  seeds: { ...SHIPPED.seeds, benchmark_seed: baseSeedOf(P) },
};

const check = (config: ExperimentConfig, plan: ExperimentPlan = planOf(config).plan) =>
  requireCanonical(config, { plan, preregistration: PREREGISTRATION });

function refused(
  { code, field }: { readonly code: string; readonly field: string },
  config: ExperimentConfig,
  plan?: ExperimentPlan,
): void {
  assert.throws(() => check(config, plan), (error: { code?: string; details?: Record<string, unknown> }) => {
    assert.deepEqual([error.code, error.details?.["field"]], [code, field]);
    return true;
  });
}

Deno.test("requireCanonical() takes the registered experiment and gives P", () => {
  assert.equal(check(FULL), P);
});

Deno.test("requireCanonical() refuses other run seeds, and the same ones in another order", () => {
  for (const run_seeds of [[17, 29, 43, 71], [17, 29, 43, 101, 71], [17, 29, 43, 71, 102]]) {
    refused({ code: "other_seeds", field: "seeds.run_seeds" }, {
      ...FULL,
      seeds: { ...FULL.seeds, run_seeds },
    });
  }
});

Deno.test("requireCanonical() refuses 999 test cases", () => {
  refused({ code: "other_test_size", field: "benchmark.test_tasks" }, {
    ...FULL,
    benchmark: { ...FULL.benchmark, test_tasks: 999 },
  });
});

Deno.test("requireCanonical() refuses a variant that is missing, added, moved or defined otherwise", () => {
  const [a, b, ...rest] = FULL.variants;
  const F = FULL.variants.at(-1)!;
  for (
    const variants of [
      [a!, b!, ...rest.slice(1)],
      [...FULL.variants, F],
      [b!, a!, ...rest],
      FULL.variants.map((variant) => variant === F ? { ...F, algorithm: "action_ppo" as const } : variant),
      FULL.variants.map((variant) => variant === F ? { ...F, action_mask: false } : variant),
    ]
  ) refused({ code: "other_variants", field: "variants" }, { ...FULL, variants }, planOf(FULL).plan);
});

Deno.test("requireCanonical() refuses a plan without the 20,000 labelled calls of the test split", () => {
  const { plan } = planOf(FULL);
  const labels = plan.nodes.find(({ stage }) => stage.name === "action_validity")!;
  const others = plan.nodes.filter((node) => node !== labels);
  const fromDev = { ...labels, inputs: { test: { node: "benchmark", output: "dev.jsonl" } } };
  for (const nodes of [others, [...plan.nodes, { ...labels, id: "again" }], [...others, fromDev]]) {
    refused({ code: "other_action_rows", field: "action_validity" }, FULL, { ...plan, nodes });
  }
});

Deno.test("requireCanonical() refuses fewer than two bootstrap samples, of metrics and of differences", () => {
  const { evaluation, comparison } = FULL;
  for (const bootstrap_samples of [0, 1]) {
    refused({ code: "too_few_samples", field: "evaluation.bootstrap_samples" }, {
      ...FULL,
      evaluation: { ...evaluation, bootstrap_samples },
    });
  }
  refused({ code: "too_few_samples", field: "comparison.statistics.draws" }, {
    ...FULL,
    comparison: { ...comparison!, statistics: { ...comparison!.statistics, draws: 1 } },
  });
});

Deno.test("requireCanonical() refuses a config that is the matrix but not the registered one", () => {
  refused({ code: "not_registered", field: "learner.policy.hidden_width" }, {
    ...FULL,
    policy: { ...FULL.policy, hidden_width: 104 },
  });
  refused({ code: "not_registered", field: "seeds.benchmark_seed" }, {
    ...FULL,
    seeds: { ...FULL.seeds, benchmark_seed: 1 },
  });
  assert.throws(() => check({ ...FULL, comparison: null }, planOf(FULL).plan), { code: "no_comparison" });
});
