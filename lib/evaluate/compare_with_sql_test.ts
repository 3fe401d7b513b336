import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { compareWithSql, sqlDifference } from "./compare_with_sql.ts";
import type { SqlMetrics } from "./sql_metrics.ts";

const half = { numerator: 1, denominator: 2, value: 0.5 };
const METRICS = {
  cases: 2,
  successful_cases: 1,
  executed_actions: 6,
  tsr: half,
  successful_conditional_simulated_service_time_s: null,
  families: { one: { cases: 2, successful_cases: 1, tsr: half } },
};
const SQL: SqlMetrics = {
  timeout_ms: 30_500,
  runs: [{ variant: "E", seed: 17, metrics: METRICS }],
  variants: [{ variant: "E", seeds: [17], metrics: METRICS }],
  comparisons: [{
    treatment: "E",
    baseline: "E",
    difference: { numerator: 0, denominator: 1, value: 0 },
    seed_count: 1,
    case_count: 2,
    paired_observations: 2,
  }],
};

// deno-lint-ignore no-explicit-any -- a document that tests edit in places of their choice
type Document = any;

/** The stored report that SQL confirms, with what SQL does not compute. */
function stored(edit: (document: Document) => void = () => {}): Document {
  const { timeout_ms, ...parts } = JSON.parse(JSON.stringify(SQL)) as Document;
  const document = { ...parts, timeout_s: timeout_ms / 1000, schema: "x", bootstrap: { samples: 2 } };
  document.runs[0].denominators = { planned: 3, run: 2, scored: 2, excluded: { missing_trace: 1 } };
  for (const entry of [...document.runs, ...document.variants]) {
    entry.metrics.confidence_intervals = { tsr: {} };
  }
  document.comparisons[0].interval = null;
  edit(document);
  return document;
}

Deno.test("sqlDifference() is null where every number of SQL is stored, whatever else there is", () => {
  assert.equal(sqlDifference(stored(), SQL), null);
  assert.doesNotThrow(() => compareWithSql(stored(), SQL));
});

Deno.test("sqlDifference() finds any edited, missing or added number and names it", () => {
  const run = { variant: "E", seed: 17 };
  const pooled = { variant: "E" };
  const pair = { treatment: "E", baseline: "E" };
  const cases: readonly [(document: Document) => void, object, string, unknown, unknown][] = [
    [(d) => d.timeout_s = 30, {}, "timeout_s", 30.5, 30],
    [(d) => d.runs[0].seed = "17", run, "seed", 17, "17"],
    [(d) => d.runs[0].metrics.cases = 3, run, "cases", 2, 3],
    [(d) => d.runs[0].metrics.cases = true, run, "cases", 2, true],
    [(d) => d.runs[0].metrics.tsr.value += 2 ** -53, run, "tsr.value", 0.5, 0.5 + 2 ** -53],
    [(d) => d.runs[0].metrics.tsr.numerator = 2, run, "tsr.numerator", 1, 2],
    [(d) => delete d.runs[0].metrics.tsr.value, run, "tsr.value", 0.5, undefined],
    [(d) => d.runs[0].metrics.tsr = null, run, "tsr", half, null],
    [
      (d) => d.runs[0].metrics.successful_conditional_simulated_service_time_s = half,
      run,
      "successful_conditional_simulated_service_time_s",
      null,
      half,
    ],
    [(d) => d.runs[0].metrics.families.two = 1, run, "families.two", undefined, 1],
    [(d) => d.runs[0].metrics.reward = 1, run, "reward", undefined, 1],
    [(d) => delete d.runs[0].metrics, run, "cases", 2, undefined],
    [(d) => d.runs[0].denominators.scored = 3, run, "scored", 2, 3],
    [(d) => delete d.runs[0].denominators, run, "run", 2, undefined],
    [(d) => d.runs.push(d.runs[0]), {}, "runs.length", 1, 2],
    [(d) => d.runs = "none", {}, "runs.length", 1, 0],
    [(d) => d.variants[0].seeds = { 0: 17 }, pooled, "seeds", [17], { 0: 17 }],
    [(d) => d.variants[0].seeds.push(29), pooled, "seeds.1", undefined, 29],
    [(d) => d.variants[0].metrics.families.one.cases = 1, pooled, "families.one.cases", 2, 1],
    [(d) => d.comparisons[0].difference.numerator = -0, pair, "difference.numerator", 0, -0],
    [(d) => d.comparisons[0].paired_observations = 1, pair, "paired_observations", 2, 1],
    [(d) => d.comparisons = [], {}, "comparisons.length", 1, 0],
  ];
  for (const [edit, place, metric, expected, actual] of cases) {
    assert.deepEqual(sqlDifference(stored(edit), SQL), { place, metric, expected, actual }, metric);
  }
});

Deno.test("sqlDifference() takes nothing for granted about what is stored", () => {
  for (const document of [null, 1, "x", [], {}, { runs: [null], variants: [1], comparisons: [[]] }]) {
    assert.notEqual(sqlDifference(document, SQL), null);
  }
});

Deno.test("compareWithSql() throws with variant, seed, metric and both values", () => {
  assert.throws(
    () => compareWithSql(stored((d) => d.runs[0].metrics.tsr.numerator = 2), SQL),
    (error) => {
      assert.ok(hasCode(error, "metrics_sql_mismatch"), String(error));
      const { variant, seed, metric, expected, actual } = error.details;
      assert.deepEqual([variant, seed, metric, expected, actual], ["E", 17, "tsr.numerator", 1, 2]);
      return true;
    },
  );
});
