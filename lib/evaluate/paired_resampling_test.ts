import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { outcomesOf, randomOutcomes, reversed } from "./_example_outcomes.ts";
import { pairedComparison } from "./paired_comparison.ts";
import { pairedResamplings, POPULATIONS } from "./paired_resampling.ts";
import { pairedTable } from "./paired_table.ts";

const SEEDS = [17, 29, 43, 71, 101];
const SETTINGS = { samples: 1000, confidence: 0.95, seed: 7 };
const [HIGH, LOW] = [0.6, 0.5].map((rate) =>
  randomOutcomes({ name: `rate ${rate}`, rate, seeds: SEEDS, cases: 60 })
);
const PAIR = { treatment: HIGH!, baseline: LOW! };
const TABLE = pairedTable(PAIR);

Deno.test("pairedResamplings() over seeds and cases gives the interval of the protocol's comparison, bit for bit", () => {
  const [result] = pairedResamplings([TABLE], SETTINGS);
  assert.deepEqual(result!.seeds_and_cases!.interval, pairedComparison(HIGH!, LOW!, SETTINGS).interval);
});

Deno.test("pairedResamplings() finds the standard errors that theory gives", () => {
  const [result] = pairedResamplings([TABLE], { ...SETTINGS, samples: 10_000 });
  // Drawing n of n values with replacement: variance of their mean is sum of squared deviations / n^2.
  const deviation = (means: readonly number[]) => {
    const mean = means.reduce((sum, x) => sum + x, 0) / means.length;
    return Math.sqrt(means.reduce((sum, x) => sum + (x - mean) ** 2, 0)) / means.length;
  };
  const [overCases, overSeeds] = [
    deviation([...TABLE.caseSums].map((sum) => sum / SEEDS.length)),
    deviation([...TABLE.seedSums].map((sum) => sum / 60)),
  ];
  assert.ok(Math.abs(result!.cases!.standard_error / overCases - 1) < 0.03);
  assert.ok(Math.abs(result!.seeds!.standard_error / overSeeds - 1) < 0.03);
  assert.ok(result!.seeds_and_cases!.standard_error > Math.sqrt(overCases ** 2 + overSeeds ** 2));
});

Deno.test("pairedResamplings() states how far another stream would move an end", () => {
  const [result] = pairedResamplings([TABLE], SETTINGS);
  for (const population of POPULATIONS) {
    const { monte_carlo_error, standard_error } = result![population]!;
    assert.equal(monte_carlo_error.method, "binomial_order_statistics");
    assert.ok(monte_carlo_error.low >= 0 && monte_carlo_error.low < standard_error / 3);
    assert.ok(monte_carlo_error.high >= 0 && monte_carlo_error.high < standard_error / 3);
  }
  assert.ok(result!.cases!.monte_carlo_error.low > 0);
});

Deno.test("pairedResamplings() repeats, moves with the seed root, and does not depend on the order of rows", () => {
  const once = pairedResamplings([TABLE], SETTINGS);
  const turned = pairedTable({ treatment: reversed(HIGH!), baseline: reversed(LOW!) });
  assert.deepEqual(pairedResamplings([turned], SETTINGS), once);
  const other = pairedResamplings([TABLE], { ...SETTINGS, seed: 8 });
  assert.notDeepEqual(other[0]!.cases, once[0]!.cases);
});

Deno.test("pairedResamplings() of several tables equals each alone: all see the same draws", () => {
  const swapped = pairedTable({ treatment: LOW!, baseline: HIGH! });
  assert.deepEqual(pairedResamplings([TABLE, swapped], SETTINGS), [
    ...pairedResamplings([TABLE], SETTINGS),
    ...pairedResamplings([swapped], SETTINGS),
  ]);
  assert.deepEqual(pairedResamplings([], SETTINGS), []);
});

Deno.test("pairedResamplings() of a variant with itself is exactly no difference, in every population", () => {
  const [result] = pairedResamplings([pairedTable({ treatment: HIGH!, baseline: HIGH! })], SETTINGS);
  for (const population of POPULATIONS) {
    const { interval, standard_error, monte_carlo_error } = result![population]!;
    assert.deepEqual([interval.low, interval.high, standard_error], [0, 0, 0]);
    assert.deepEqual([monte_carlo_error.low, monte_carlo_error.high], [0, 0]);
  }
});

Deno.test("pairedResamplings() over seeds keeps the cases, and over cases the seeds", () => {
  // Seeds differ, cases do not: only a resampling of seeds can see any variance.
  const bySeed = pairedTable({
    treatment: outcomesOf({ 1: "++++", 2: "----" }),
    baseline: outcomesOf({ 1: "----", 2: "----" }),
  });
  const [seeds] = pairedResamplings([bySeed], SETTINGS);
  assert.deepEqual([seeds!.cases!.interval.low, seeds!.cases!.interval.high], [0.5, 0.5]);
  assert.deepEqual([seeds!.seeds!.interval.low, seeds!.seeds!.interval.high], [0, 1]);
  const byCase = pairedTable({
    treatment: outcomesOf({ 1: "++--", 2: "++--" }),
    baseline: outcomesOf({ 1: "----", 2: "----" }),
  });
  const [cases] = pairedResamplings([byCase], SETTINGS);
  assert.deepEqual([cases!.seeds!.interval.low, cases!.seeds!.interval.high], [0.5, 0.5]);
  assert.deepEqual([cases!.cases!.interval.low, cases!.cases!.interval.high], [0, 1]);
});

Deno.test("pairedResamplings() says nothing about a population of which there is one unit", () => {
  const oneSeed = pairedTable({ treatment: outcomesOf({ 1: "+-+" }), baseline: outcomesOf({ 1: "--+" }) });
  const [seed] = pairedResamplings([oneSeed], SETTINGS);
  assert.deepEqual([seed!.seeds, seed!.seeds_and_cases], [null, null]);
  assert.notEqual(seed!.cases, null);
  const oneCase = pairedTable({
    treatment: outcomesOf({ 1: "+", 2: "-" }),
    baseline: outcomesOf({ 1: "-", 2: "-" }),
  });
  const [single] = pairedResamplings([oneCase], SETTINGS);
  assert.deepEqual([single!.cases, single!.seeds_and_cases], [null, null]);
});

Deno.test("pairedResamplings() refuses a single draw and tables that do not match", () => {
  assert.throws(
    () => pairedResamplings([TABLE], { ...SETTINGS, samples: 1 }),
    (error) => hasCode(error, "bad_settings"),
  );
  const other = pairedTable({ treatment: outcomesOf({ 17: "+-" }), baseline: outcomesOf({ 17: "--" }) });
  assert.throws(
    () => pairedResamplings([TABLE, other], SETTINGS),
    (error) => hasCode(error, "unpaired_outcomes"),
  );
});
