import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { CROSSED_T_METHOD } from "./crossed_t.ts";
import { minimumDetectableEffect, powerAt } from "./detectable_effect.ts";
import { type GeneratingModel, nullControl, simulateExperiment, trueDesign } from "./null_control.ts";
import { type Population, RESAMPLING_METHODS } from "./paired_resampling.ts";

const PLAIN: GeneratingModel = {
  name: "test",
  seeds: 5,
  cases: 100,
  base_rate: 0.5,
  case_spread: 0.08,
  case_by_variant_spread: 0,
  seed_spread: 0,
};
const CASES = { ...PLAIN, case_by_variant_spread: 0.06 };
const SEEDS = { ...PLAIN, seed_spread: 0.08 };
const BOTH = { ...PLAIN, case_by_variant_spread: 0.06, seed_spread: 0.03 };
const BOOTSTRAP = { samples: 200, confidence: 0.95, seed: 11 };
/** Student's interval only: without draws, 2,000 experiments take half a second. */
const STUDENT = { ...BOOTSTRAP, samples: 0 };

function control(model: GeneratingModel, { effect, experiments, bootstrap }: {
  effect: number;
  experiments: number;
  bootstrap: typeof BOOTSTRAP;
}) {
  return new Map(
    nullControl({ model, effect, experiments, bootstrap }).map((record) => [record.method, record]),
  );
}

Deno.test("null control: Student's interval over seeds and cases covers zero in 93 to 97 % of 2,000 null experiments", () => {
  for (const model of [PLAIN, CASES, SEEDS, BOTH]) {
    const { covers } = control(model, { effect: 0, experiments: 2000, bootstrap: STUDENT }).get(
      CROSSED_T_METHOD,
    )!;
    assert.ok(covers >= 0.93 && covers <= 0.97, `${covers}`);
  }
});

Deno.test("null control: with five seeds, percentile intervals hold over cases where seeds do not differ, and nowhere else", () => {
  const run = (model: GeneratingModel, experiments: number) =>
    control({ ...model, cases: 60 }, { effect: 0, experiments, bootstrap: BOOTSTRAP });
  const covers = (records: ReturnType<typeof control>, population: Population) =>
    records.get(RESAMPLING_METHODS[population])!.covers;
  const alike = run(CASES, 800);
  const overCases = covers(alike, "cases");
  assert.ok(overCases >= 0.93 && overCases <= 0.97, `${overCases}`);
  assert.ok(
    covers(alike, "seeds") < 0.9,
    "too narrow: they do not know of new cases, and five seeds are few",
  );
  assert.ok(covers(alike, "seeds_and_cases") > 0.97, "too wide: chance within a cell is counted three times");
  const differing = run(SEEDS, 300);
  assert.ok(covers(differing, "cases") < 0.9, "blind to seeds that differ");
});

Deno.test("null control: a planted effect is found with the power that is stated", () => {
  for (const model of [CASES, BOTH]) {
    const effect = minimumDetectableEffect({ ...trueDesign(model, { effect: 0, alpha: 0.05 }), power: 0.8 });
    const stated = powerAt(effect, trueDesign(model, { effect, alpha: 0.05 }));
    const { above, covers } = control(model, { effect, experiments: 2000, bootstrap: STUDENT }).get(
      CROSSED_T_METHOD,
    )!;
    const error = Math.sqrt(stated * (1 - stated) / 2000);
    assert.ok(Math.abs(above - stated) < 3 * error, `found ${above}, stated ${stated}`);
    assert.ok(covers >= 0.93 && covers <= 0.97, `${covers}`);
  }
});

Deno.test("null control: over cases the normal power holds where seeds do not differ", () => {
  const model = { ...CASES, cases: 60 };
  const normal = (effect: number) => ({
    ...trueDesign(model, { effect, alpha: 0.05 }),
    degreesOfFreedom: null,
  });
  const effect = minimumDetectableEffect({ ...normal(0), power: 0.8 });
  const stated = powerAt(effect, normal(effect));
  const { above, mean_stated_power } = control(model, { effect, experiments: 600, bootstrap: BOOTSTRAP })
    .get(RESAMPLING_METHODS.cases)!;
  const error = Math.sqrt(stated * (1 - stated) / 600);
  assert.ok(Math.abs(above - stated) < 3 * error, `found ${above}, stated ${stated}`);
  assert.ok(Math.abs(mean_stated_power - stated) < 3 * error, `${mean_stated_power}, stated ${stated}`);
});

Deno.test("nullControl() repeats, moves with the root and the model's name", () => {
  const settings = { model: BOTH, effect: 0, experiments: 20, bootstrap: BOOTSTRAP };
  const once = nullControl(settings);
  assert.deepEqual(nullControl(settings), once);
  assert.deepEqual(once.map(({ method }) => method), [
    ...Object.values(RESAMPLING_METHODS),
    CROSSED_T_METHOD,
  ]);
  const table = (root: number, name: string) =>
    simulateExperiment(BOTH, { effect: 0, stream: new RandomStream(root, name) });
  assert.notDeepEqual(table(1, "a").rows, table(2, "a").rows);
  assert.notDeepEqual(table(1, "a").rows, table(1, "b").rows);
});

Deno.test("trueDesign() is the spread of simulated differences", () => {
  const { standardError } = trueDesign(BOTH, { effect: 0.1, alpha: 0.05 });
  const means = Array.from({ length: 2000 }, (_, i) => {
    const stream = new RandomStream(4, "true_design", i);
    return simulateExperiment(BOTH, { effect: 0.1, stream }).total / 500;
  });
  const mean = means.reduce((sum, x) => sum + x, 0) / means.length;
  const spread = Math.sqrt(means.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (means.length - 1));
  assert.ok(Math.abs(spread / standardError - 1) < 0.06, `${spread} ${standardError}`); // 1.6 % is one standard error
  assert.ok(Math.abs(mean - 0.1) < 3 * standardError / Math.sqrt(2000), `${mean}`);
});

Deno.test("trueDesign() has seeds - 1 degrees of freedom where only seeds vary", () => {
  assert.ok(Math.abs(trueDesign(SEEDS, { effect: 0, alpha: 0.05 }).degreesOfFreedom - 4) < 1e-9);
});

Deno.test("simulateExperiment() refuses chances outside [0, 1]", () => {
  const stream = new RandomStream(1, "refused");
  for (const [model, effect] of [[{ ...BOTH, base_rate: 0.2 }, 0], [BOTH, 0.4], [BOTH, -0.1]] as const) {
    assert.throws(
      () => simulateExperiment(model, { effect, stream }),
      (error) => hasCode(error, "bad_settings"),
    );
  }
});
