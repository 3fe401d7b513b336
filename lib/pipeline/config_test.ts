import assert from "node:assert/strict";
import { hasCode, TracewrightError } from "../core/error.ts";
import { configProblems, type ExperimentConfig, narrowToCell, parseConfig } from "./config.ts";
import { pathText } from "./config_problem.ts";
import { findVariant, VARIANTS } from "./config_variants.ts";
import { readConfig } from "./yaml_config.ts";

function shipped(name: "smoke" | "full" | "full-frozen"): ExperimentConfig {
  const file = `configs/${name}.yaml`;
  return readConfig(Deno.readTextFileSync(new URL(`../../${file}`, import.meta.url)), file);
}

/** A deep copy with one value replaced, added, or (given undefined) removed. */
function changed(config: ExperimentConfig, path: readonly (string | number)[], value: unknown): unknown {
  const copy = structuredClone(config) as Record<string | number, unknown>;
  let at = copy;
  for (const part of path.slice(0, -1)) at = at[part] as Record<string | number, unknown>;
  const last = path.at(-1);
  if (last === undefined) return value;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

const codesOf = (value: unknown) =>
  configProblems(value).map(({ code, path }) => `${code} ${pathText(path)}`.trim());

// protocol/policy-and-training.md section 12, column for column, with the values that stand in its prose.
const PROTOCOL = {
  train_tasks: [2000, 200], // smoke has more than the protocol's 32: too few to learn from
  dev_tasks: [200, 12],
  test_tasks: [1000, 32],
  "policy.hidden_width": [96, 48],
  "behaviour_cloning.batch_size": [256, 128],
  "behaviour_cloning.learning_rate": [0.0015, 0.003],
  iterations: [8, 2],
  "ppo.epochs": [4, 2],
  episodes_per_iteration: [128, 16],
  minibatch_size: [512, 128],
  bootstrap_samples: [1000, 50],
} as const;

Deno.test("the shipped configs hold the protocol's hyper-parameters", () => {
  for (const [column, name] of (["full", "smoke"] as const).entries()) {
    const config = shipped(name);
    const flat = new Map<string, unknown>();
    for (const [section, fields] of Object.entries(config)) {
      if (typeof fields !== "object" || fields === null) continue;
      for (const [key, value] of Object.entries(fields)) {
        flat.set(key, value).set(`${section}.${key}`, value);
      }
    }
    for (const [key, values] of Object.entries(PROTOCOL)) {
      assert.equal(flat.get(key), values[column], `${name} ${key}`);
    }
    assert.deepEqual(config.progress, {
      hidden_width: 64,
      epochs: 10,
      batch_size: 128,
      learning_rate: 0.003,
    });
    assert.deepEqual(config.reward, {
      task_success: 1,
      task_failure: -1,
      invalid_action: -0.2,
      forbidden_effect: -1,
      step: -0.01,
      progress_beta: 0.35,
    });
    assert.deepEqual(
      [
        config.ppo.gamma,
        config.ppo.gae_lambda,
        config.ppo.clip_ratio,
        config.ppo.value_clip,
        config.ppo.target_kl,
      ],
      [0.99, 0.95, 0.2, 0.2, null],
    );
    assert.equal(config.behaviour_cloning.max_grad_norm, 1);
    assert.equal(config.evaluation.timeout_s, 80);
    assert.equal(config.seeds.bootstrap_seed, 20260808);
  }
  assert.deepEqual(shipped("full").seeds.run_seeds, [17, 29, 43, 71, 101]);
  assert.deepEqual(shipped("full").variants, VARIANTS);
  assert.deepEqual(shipped("smoke").seeds.run_seeds, [17]);
  assert.equal(shipped("smoke").seeds.benchmark_seed, 20260808); // that of full follows from the pre-registration
  assert.deepEqual(shipped("smoke").variants.map(({ name }) => name), ["B-BC-Mask", "E-PPO-Progress-Mask"]);
});

Deno.test("full-frozen differs from full in its name, its semantics and what they ask for, and in nothing else", () => {
  const full = shipped("full");
  assert.deepEqual(shipped("full-frozen"), {
    ...full,
    name: "full-frozen",
    semantics: "frozen-v1.3",
    ppo: { ...full.ppo, sequence_minibatch: "protocol" },
  });
  assert.deepEqual([full.semantics, full.ppo.sequence_minibatch], ["current", "matched"]);
});

Deno.test("parseConfig() gives back a valid config unchanged", () => {
  const config = shipped("full");
  assert.equal(parseConfig(config), config);
});

Deno.test("configProblems() names each way in which a field can be wrong", () => {
  const config = shipped("smoke");
  const cases: readonly [readonly (string | number)[], unknown, string][] = [
    [["ppo", "gama"], 1, "unknown_key ppo.gama"],
    [["ppo", "gamma"], undefined, "missing_key ppo.gamma"],
    [["ppo", "gamma"], "0.99", "wrong_type ppo.gamma"],
    [["ppo", "gamma"], null, "wrong_type ppo.gamma"],
    [["ppo", "gamma"], NaN, "not_finite ppo.gamma"],
    [["ppo", "gamma"], -Infinity, "not_finite ppo.gamma"],
    [["ppo", "gamma"], 1.01, "out_of_range ppo.gamma"],
    [["ppo", "clip_ratio"], 0, "out_of_range ppo.clip_ratio"],
    [["ppo", "target_kl"], 0, "out_of_range ppo.target_kl"],
    [["ppo", "epochs"], 2.5, "wrong_type ppo.epochs"],
    [["ppo", "sequence_minibatch"], "512", "wrong_value ppo.sequence_minibatch"],
    [["semantics"], "frozen", "wrong_value semantics"],
    [["semantics"], "frozen-v1.3", "inconsistent ppo.sequence_minibatch"],
    [["policy", "hidden_width"], 50, "wrong_value policy.hidden_width"],
    [["reward", "step"], -0, "wrong_value reward.step"],
    [["semantics"], "frozen", "wrong_value semantics"],
    [["schema"], "tracewright.experiment.v2", "wrong_value schema"],
    [["name"], "Smoke Test", "wrong_value name"],
    [["seeds", "run_seeds"], [], "out_of_range seeds.run_seeds"],
    [["seeds", "run_seeds", 0], -1, "out_of_range seeds.run_seeds[0]"],
    [["seeds", "run_seeds"], [17, 29, 17], "inconsistent seeds.run_seeds[2]"],
    [["variants", 1, "name"], "B-BC-Mask", "inconsistent variants[1].name"],
    [["variants", 1, "algorithm"], "sequence_ppo", "inconsistent variants[1].algorithm"],
    [["variants", 1, "progress_reward"], false, "inconsistent variants[1].progress_reward"],
    [["variants", 0, "action_mask"], false, "inconsistent variants[0].action_mask"],
    [["variants", 0, "name"], "G-Other", "wrong_value variants[0].name"],
    [["reward", "task_success"], -1, "inconsistent reward.task_success"],
    [["evaluation", "bootstrap_samples"], 1, "inconsistent evaluation.bootstrap_samples"],
    [["evaluation", "timeout_s"], 80.0005, "inconsistent evaluation.timeout_s"],
    [["evaluation", "confidence"], 1, "out_of_range evaluation.confidence"],
  ];
  for (const [path, value, expected] of cases) {
    assert.ok(codesOf(changed(config, path, value)).includes(expected), expected);
  }
  assert.deepEqual(codesOf(changed(config, ["evaluation", "bootstrap_samples"], 0)), []);
  assert.deepEqual(codesOf(changed(config, ["evaluation", "timeout_s"], 80.123)), []);
  assert.deepEqual(codesOf([]), ["wrong_type"]);
  assert.deepEqual(codesOf(null), ["wrong_type"]);
});

Deno.test("configProblems() holds a config with a comparison to the whole matrix", () => {
  const config = shipped("full");
  const cases: readonly [readonly (string | number)[], unknown, string][] = [
    [["variants"], config.variants.slice(1), "inconsistent variants"],
    [["seeds", "run_seeds"], [17, 29], "inconsistent seeds.run_seeds"],
    [["evaluation", "bootstrap_samples"], 0, "inconsistent evaluation.bootstrap_samples"],
    [["evaluation", "confidence"], 0.9, "inconsistent evaluation.confidence"],
    [["comparison", "treatment"], "D-PPO-Sparse-Mask", "wrong_value comparison.treatment"],
    [["comparison", "statistics", "draws"], 1, "out_of_range comparison.statistics.draws"],
    [["comparison", "statistics", "alpha"], 0, "out_of_range comparison.statistics.alpha"],
    [["comparison", "statistics", "secondary"], [], "out_of_range comparison.statistics.secondary"],
    [
      ["comparison", "statistics", "secondary", 3],
      { treatment: "B-BC-Mask", baseline: "A-BC-Unmasked" }, // the first one again
      "inconsistent comparison.statistics.secondary[3]",
    ],
    [
      ["comparison", "statistics", "secondary", 3, "baseline"],
      "D-PPO-Sparse-Mask",
      "inconsistent comparison.statistics.secondary[3]",
    ],
  ];
  for (const [path, value, expected] of cases) {
    assert.deepEqual(codesOf(changed(config, path, value)), [expected]);
  }
});

Deno.test("parseConfig() throws the first problem and carries the others in its cause", () => {
  const config = changed(changed(shipped("smoke"), ["ppo", "gamma"], 2) as ExperimentConfig, ["zzz"], 1);
  assert.throws(() => parseConfig(config), (error) => {
    assert.ok(hasCode(error, "out_of_range"));
    assert.equal(error.details["key"], "ppo.gamma");
    assert.equal(error.details.actual, 2);
    assert.ok(error.cause instanceof AggregateError);
    assert.deepEqual(
      error.cause.errors.map((other) => other instanceof TracewrightError && other.code),
      ["unknown_key"],
    );
    return true;
  });
});

Deno.test("narrowToCell() leaves one variant, one seed and no comparison", () => {
  const variant = findVariant("C");
  assert.ok(variant);
  const cell = narrowToCell(shipped("full"), { variant, seed: 3 });
  assert.deepEqual(cell.variants, [variant]);
  assert.deepEqual(cell.seeds.run_seeds, [3]);
  assert.equal(cell.comparison, null);
  assert.deepEqual(cell.ppo, shipped("full").ppo);
  assert.throws(() => narrowToCell(shipped("full"), { variant, seed: -3 }), { code: "out_of_range" });
});
