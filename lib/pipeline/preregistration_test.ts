import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { sha256Hex } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import type { ExperimentConfig } from "./config.ts";
import { TINY } from "./_example_run.ts";
import { pathText } from "./config_problem.ts";
import {
  baseSeedOf,
  parsePreregistration,
  type Preregistration,
  preregistrationDigest,
  preregistrationProblems,
  REGISTERED_SEEDS,
  registeredPart,
  requireRegistered,
} from "./preregistration.ts";
import { readConfig, readYaml } from "./yaml_config.ts";

const text = (file: string) => Deno.readTextFileSync(new URL(`../../${file}`, import.meta.url));
const shipped = (name: "full" | "full-frozen"): ExperimentConfig =>
  readConfig(text(`configs/${name}.yaml`), `configs/${name}.yaml`);
const PREREGISTRATION: Preregistration = readYaml(text("configs/preregistration.yaml"), {
  file: "configs/preregistration.yaml",
  problemsOf: preregistrationProblems,
});

const codesOf = (value: unknown) =>
  preregistrationProblems(value).map(({ code, path }) => `${code} ${pathText(path)}`);

/** A config on the benchmark that the pre-registration leads to, whatever stands in the file. */
const onItsBenchmark = (config: ExperimentConfig): ExperimentConfig => ({
  ...config,
  seeds: { ...config.seeds, benchmark_seed: baseSeedOf(preregistrationDigest(PREREGISTRATION)) },
});

Deno.test("baseSeedOf() is the published rule", () => {
  // protocol/benchmark-v1.3.md section 2: the commit id, the first digits of its SHA-256, and the seed
  const commit = "356c8b55b0f088dc613ecf00a8d832ca311076ff";
  assert.equal(sha256Hex(commit).slice(0, 8), "779984e7");
  assert.equal(baseSeedOf(commit), 0x779984e7);
  assert.equal(baseSeedOf(commit), 2006549735);
});

Deno.test("full.yaml is the registered experiment, on the benchmark whose seed follows from P", () => {
  const P = preregistrationDigest(PREREGISTRATION);
  assert.equal(requireRegistered(shipped("full"), PREREGISTRATION), P);
  assert.equal(shipped("full").seeds.benchmark_seed, baseSeedOf(P));
  assert.deepEqual(registeredPart(shipped("full")), PREREGISTRATION);
  assert.equal(preregistrationDigest(registeredPart(shipped("full"))), P);
});

Deno.test("preregistrationDigest() is the digest of canonical JSON, which no comment or order of keys changes", () => {
  const turned = Object.fromEntries(Object.entries(PREREGISTRATION).reverse()) as unknown as Preregistration;
  assert.equal(preregistrationDigest(turned), `sha256:${sha256Hex(canonicalJson(PREREGISTRATION))}`);
});

Deno.test("registeredPart() leaves out the benchmark seed and the name, and nothing else", () => {
  const full = shipped("full");
  const other = (changes: Partial<ExperimentConfig>) =>
    canonicalJson(registeredPart({ ...full, ...changes })) !== canonicalJson(PREREGISTRATION);
  assert.ok(!other({ name: "other", seeds: { ...full.seeds, benchmark_seed: 1 } }));
  assert.ok(other({ seeds: { ...full.seeds, bootstrap_seed: 1 } }));
  for (const [section, fields] of Object.entries(full)) {
    if (["schema", "name", "seeds", "variants", "comparison", "semantics"].includes(section)) continue;
    for (const [key, value] of Object.entries(fields as Record<string, unknown>)) {
      const changed = { ...(fields as object), [key]: typeof value === "number" ? value + 1 : "x" };
      assert.ok(other({ [section]: changed }), `${section}.${key}`);
    }
  }
  assert.ok(other({ semantics: "frozen-v1.3" }));
  assert.ok(other({ variants: full.variants.slice(1) }));
  assert.ok(full.comparison !== null);
  const { statistics } = full.comparison;
  for (const key of Object.keys(statistics)) {
    assert.ok(other({ comparison: { ...full.comparison, statistics: { ...statistics, [key]: [] } } }), key);
  }
  assert.throws(() => registeredPart(TINY), { code: "no_comparison" });
});

Deno.test("requireRegistered() names the first field that differs, with both values", () => {
  const full = onItsBenchmark(shipped("full"));
  const refused = (config: ExperimentConfig, place: { field: string; expected: unknown; actual: unknown }) =>
    assert.throws(() => requireRegistered(config, PREREGISTRATION), (error) => {
      assert.ok(hasCode(error, "not_registered"));
      assert.deepEqual(
        { field: error.details["field"], expected: error.details.expected, actual: error.details.actual },
        place,
      );
      assert.equal(error.details["preregistration"], preregistrationDigest(PREREGISTRATION));
      return true;
    });
  refused({ ...full, ppo: { ...full.ppo, iterations: 9 } }, {
    field: "learner.ppo.iterations",
    expected: 8,
    actual: 9,
  });
  refused({ ...full, benchmark: { ...full.benchmark, dev_tasks: 201 } }, {
    field: "benchmark.dev_tasks",
    expected: 200,
    actual: 201,
  });
  refused(onItsBenchmark(shipped("full-frozen")), {
    field: "learner.ppo.sequence_minibatch",
    expected: "matched",
    actual: "protocol",
  });
  refused({ ...full, seeds: { ...full.seeds, benchmark_seed: 2006549735 } }, {
    field: "seeds.benchmark_seed",
    expected: baseSeedOf(preregistrationDigest(PREREGISTRATION)),
    actual: 2006549735,
  });
  assert.throws(() => requireRegistered(TINY, PREREGISTRATION), { code: "no_comparison" });
});

Deno.test("preregistrationProblems() leaves no room to try spellings until a seed pleases", () => {
  assert.deepEqual(codesOf(PREREGISTRATION), []);
  const { seeds, reward, thresholds } = PREREGISTRATION;
  const cases: readonly [Record<string, unknown>, string][] = [
    [{ note: "take 7" }, "unknown_key note"],
    [{ question: "ppo-progress-over-bc-under-one-mask-7" }, "wrong_value question"],
    [{ hypothesis: "other" }, "wrong_value hypothesis"],
    [{ seeds: { ...seeds, benchmark_seed: 1 } }, "unknown_key seeds.benchmark_seed"],
    [{ seeds: { ...seeds, bootstrap_seed: 20260809 } }, "wrong_value seeds.bootstrap_seed"],
    [{ seeds: { ...seeds, run_seeds: [29, 17, 43, 71, 101] } }, "wrong_value seeds.run_seeds[0]"],
    [{ reward: { ...reward, step: -0.010001 } }, "wrong_value reward.step"],
    [
      { thresholds: { ...thresholds, interval_low_above: -0.1 } },
      "wrong_value thresholds.interval_low_above",
    ],
  ];
  for (const [change, expected] of cases) {
    assert.deepEqual(codesOf({ ...PREREGISTRATION, ...change }), [expected]);
  }
  assert.deepEqual(PREREGISTRATION.seeds, REGISTERED_SEEDS);
  assert.throws(() => parsePreregistration({ ...PREREGISTRATION, note: "" }), { code: "unknown_key" });
  assert.equal(parsePreregistration(PREREGISTRATION), PREREGISTRATION);
});
