import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import { outcomesOf, randomOutcomes, reversed } from "./_example_outcomes.ts";
import type { Outcomes } from "./paired_comparison.ts";
import { POPULATIONS } from "./paired_resampling.ts";
import { statisticsReport, type StatisticsSettings } from "./statistics_report.ts";

const SEEDS = [17, 29, 43, 71, 101];
const RATES = { A: 0.1, B: 0.45, C: 0.1, D: 0.55, E: 0.9, F: 0.55 };
const OUTCOMES: ReadonlyMap<string, Outcomes> = new Map(
  Object.entries(RATES).map((
    [name, rate],
  ) => [name, randomOutcomes({ name, rate, seeds: SEEDS, cases: 40 })]),
);
const FAMILIES = new Map(Array.from({ length: 40 }, (_, c) => [`c${c}`, `family ${c % 4}`]));

const against = (treatment: string, baseline: string) => ({ treatment, baseline });
const SETTINGS: StatisticsSettings = {
  bootstrap: { samples: 200, confidence: 0.95, seed: 5 },
  alpha: 0.05,
  power: 0.8,
  effects: [0.02, 0.2],
  primary: against("E", "B"),
  total_system: against("E", "A"),
  secondary: [
    against("B", "A"),
    against("C", "A"),
    against("D", "C"),
    against("D", "B"),
    against("E", "D"),
    against("E", "F"),
  ],
};

const REPORT = statisticsReport({ outcomes: OUTCOMES, families: FAMILIES }, SETTINGS);

Deno.test("statisticsReport() compares what was declared, in its order, and names each role", () => {
  assert.deepEqual(
    REPORT.comparisons.map(({ treatment, baseline, role }) => `${treatment}-${baseline} ${role}`),
    [
      "E-B primary",
      "E-A total_system",
      "B-A secondary",
      "C-A secondary",
      "D-C secondary",
      "D-B secondary",
      "E-D secondary",
      "E-F secondary",
    ],
  );
  assert.deepEqual(REPORT.variants.map(({ variant }) => variant), ["A", "B", "C", "D", "E", "F"]);
  assert.deepEqual([REPORT.seeds, REPORT.cases], [SEEDS, 40]);
  assert.deepEqual(REPORT.families, [0, 1, 2, 3].map((f) => ({ family: `family ${f}`, cases: 10 })));
});

Deno.test("statisticsReport() states numbers that agree with each other", () => {
  const rate = (name: string) => REPORT.variants.find(({ variant }) => variant === name)!;
  for (
    const { treatment, baseline, difference, per_seed, leave_one_seed_out, resamplings } of REPORT.comparisons
  ) {
    assert.ok(Math.abs(rate(treatment).tsr.value - rate(baseline).tsr.value - difference.value) < 1e-12);
    per_seed.forEach((one, s) =>
      assert.ok(
        Math.abs(
          rate(treatment).per_seed[s]!.tsr.value - rate(baseline).per_seed[s]!.tsr.value -
            one.difference.value,
        ) < 1e-12,
      )
    );
    // Each seed is left out once: the mean of what remains is the whole.
    const mean = leave_one_seed_out.reduce((sum, one) => sum + one.difference!.value, 0) / SEEDS.length;
    assert.ok(Math.abs(mean - difference.value) < 1e-12);
    for (const population of POPULATIONS) {
      const { low, high } = resamplings[population]!.interval;
      assert.ok(low <= difference.value && difference.value <= high);
    }
  }
});

Deno.test("statisticsReport() states what could have been found, by four standard errors", () => {
  const [primary] = REPORT.comparisons;
  assert.deepEqual(
    primary!.detectable.map(({ method, degrees_of_freedom }) => [method, degrees_of_freedom !== null]),
    [
      ["paired_case_cluster_percentile", false],
      ["paired_seed_percentile", false],
      ["paired_seed_case_cluster_percentile", false],
      ["crossed_seed_case_student_t", true],
    ],
  );
  for (
    const { standard_error, minimum_detectable_effect, power, degrees_of_freedom } of primary!.detectable
  ) {
    const factor = minimum_detectable_effect / standard_error;
    if (degrees_of_freedom === null) assert.ok(Math.abs(factor - 2.8015852181129683) < 1e-12);
    else assert.ok(factor > 2.8015852181129683);
    assert.deepEqual(power.map(({ effect }) => effect), [0.02, 0.2]);
    assert.ok(power[0]!.power < power[1]!.power);
  }
});

Deno.test("statisticsReport() corrects the secondary comparisons alone, by the crossed p value", () => {
  const { holm, comparisons } = REPORT;
  assert.equal(holm!.p_value_source, "crossed_seed_case_student_t");
  assert.equal(holm!.tests.length, 6);
  holm!.tests.forEach((test, i) => {
    const { treatment, baseline, crossed_t } = comparisons[i + 2]!;
    assert.deepEqual([test.treatment, test.baseline, test.p_value], [
      treatment,
      baseline,
      crossed_t!.p_value,
    ]);
    assert.ok(test.adjusted_p >= test.p_value);
  });
  const rejected = holm!.tests.filter((test) => test.rejected).map(({ treatment, baseline }) =>
    treatment + baseline
  );
  assert.ok(rejected.includes("BA") && rejected.includes("DC") && !rejected.includes("CA"), rejected.join());
});

Deno.test("statisticsReport() is the same bytes for any order of variants, seeds, cases and families", () => {
  const turned = {
    outcomes: new Map([...OUTCOMES].reverse().map(([name, own]) => [name, reversed(own)])),
    families: new Map([...FAMILIES].reverse()),
  };
  assert.equal(canonicalJson(statisticsReport(turned, SETTINGS)), canonicalJson(REPORT));
});

Deno.test("statisticsReport() of the same policy under two names is no difference, whatever the question", () => {
  const same = OUTCOMES.get("E")!;
  const outcomes = new Map([["E", same], ["B", same], ["A", same]]);
  const report = statisticsReport({ outcomes, families: FAMILIES }, {
    ...SETTINGS,
    secondary: [against("B", "A")],
  });
  for (const comparison of report.comparisons) {
    assert.equal(comparison.difference.value, 0);
    for (const population of POPULATIONS) {
      const { interval, standard_error } = comparison.resamplings[population]!;
      assert.deepEqual([interval.low, interval.high, standard_error], [0, 0, 0]);
    }
    const { crossed_t, seed_sign_flip, seed_sign_test, case_sign_flip } = comparison;
    assert.deepEqual([crossed_t!.low, crossed_t!.high, crossed_t!.p_value], [0, 0, 1]);
    assert.deepEqual(
      [seed_sign_flip!.p_value.value, seed_sign_test.p_value.value, case_sign_flip.p_value],
      [1, 1, 1],
    );
  }
  assert.deepEqual(report.holm!.tests.map(({ rejected }) => rejected), [false]);
});

Deno.test("statisticsReport() of one seed says nothing about seeds", () => {
  const outcomes = new Map([["E", outcomesOf({ 17: "+++-" })], ["B", outcomesOf({ 17: "+---" })], [
    "A",
    outcomesOf({ 17: "----" }),
  ]]);
  const report = statisticsReport({ outcomes, families: FAMILIES }, {
    ...SETTINGS,
    secondary: [against("B", "A")],
  });
  const [primary] = report.comparisons;
  assert.deepEqual([report.holm, primary!.crossed_t, primary!.resamplings.seeds], [null, null, null]);
  assert.deepEqual(primary!.detectable.map(({ method }) => method), ["paired_case_cluster_percentile"]);
  assert.equal(primary!.difference.value, 0.5);
  canonicalJson(report);
});

Deno.test("statisticsReport() leaves out the flips of more seeds than can be enumerated", () => {
  const seeds = Array.from({ length: 21 }, (_, s) => s);
  const outcomes = new Map(
    ["E", "B", "A"].map((name) => [name, randomOutcomes({ name, rate: 0.5, seeds, cases: 3 })]),
  );
  const report = statisticsReport({ outcomes, families: FAMILIES }, { ...SETTINGS, secondary: [] });
  assert.equal(report.comparisons[0]!.seed_sign_flip, null);
  assert.equal(
    report.comparisons[0]!.seed_sign_test.positive + report.comparisons[0]!.seed_sign_test.negative <= 21,
    true,
  );
  assert.deepEqual(report.holm!.tests, []);
});

Deno.test("statisticsReport() refuses missing variants, unpaired outcomes, cases without family and wild settings", () => {
  const refused = (
    code: string,
    { outcomes = OUTCOMES, families = FAMILIES, settings = {} }: {
      outcomes?: ReadonlyMap<string, Outcomes>;
      families?: ReadonlyMap<string, string>;
      settings?: Partial<StatisticsSettings>;
    },
  ) =>
    assert.throws(
      () => statisticsReport({ outcomes, families }, { ...SETTINGS, ...settings }),
      (error) => hasCode(error, code),
    );
  refused("unpaired_outcomes", { outcomes: new Map([...OUTCOMES].slice(1)) });
  refused("unpaired_outcomes", { outcomes: new Map([...OUTCOMES, ["B", outcomesOf({ 17: "+" })]]) });
  refused("unknown_family", { families: new Map([...FAMILIES].slice(1)) });
  refused("bad_settings", { settings: { alpha: 0 } });
  refused("bad_settings", { settings: { power: 0.01 } });
  refused("bad_settings", { settings: { power: 1 } });
  refused("bad_settings", { settings: { bootstrap: { samples: 200, confidence: 1, seed: 5 } } });
  refused("bad_settings", { settings: { bootstrap: { samples: 1, confidence: 0.95, seed: 5 } } });
});
