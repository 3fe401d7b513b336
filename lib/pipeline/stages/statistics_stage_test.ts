import assert from "node:assert/strict";
import { generateSplit } from "../../benchmark/generate.ts";
import { writeTaskLines } from "../../benchmark/task_lines.ts";
import { canonicalBytes, canonicalJson } from "../../core/canonical_json.ts";
import { hasCode } from "../../core/error.ts";
import { RandomStream } from "../../core/random_stream.ts";
import { actionValidityEvidence } from "../../evaluate/action_validity_evidence.ts";
import type { CaseCounts } from "../../evaluate/case_counts.ts";
import type { ClaimCheck } from "../../evaluate/claim_check.ts";
import type { MaskMetrics } from "../../evaluate/mask_metrics.ts";
import { metricsReport } from "../../evaluate/metrics_report.ts";
import type { StatisticsReport } from "../../evaluate/statistics_report.ts";
import { runStageInMemory } from "../../stage/run_stage.ts";
import { planOf } from "../_example_run.ts";
import { readConfig } from "../yaml_config.ts";
import { statisticsBytes, type StatisticsParams, statisticsStage } from "./statistics_stage.ts";

const file = "configs/full.yaml";
const FULL = readConfig(Deno.readTextFileSync(new URL(`../../../${file}`, import.meta.url)), file);
const PLANNED = planOf(FULL).plan.nodes.find(({ id }) => id === "statistics")!.params;

/** The stage's parameters as full.yaml plans them, with fewer draws. */
const PARAMS = {
  ...PLANNED,
  statistics: { ...(PLANNED["statistics"] as object), bootstrap: { samples: 40, confidence: 0.95, seed: 7 } },
} as unknown as StatisticsParams;

/** Success rates by letter: with and without effect. */
const RATES = { a: 0.1, b: 0.4, c: 0.1, d: 0.5, e: 0.55, f: 0.5 };
const NO_EFFECT = { ...RATES, e: 0.4 };

/** What a matrix of random outcomes leaves for the stage. */
function matrix(cases: readonly string[], families: ReadonlyMap<string, string>, rates: typeof RATES) {
  const stream = new RandomStream(3, "test");
  const traces = new Map<string, string[]>();
  const runs = PARAMS.runs.map(({ variant, seed, traces: name }) => {
    const rate = rates[name.split("/")[1] as keyof typeof RATES];
    const rows = cases.map((case_id): CaseCounts => ({
      case_id,
      family: families.get(case_id)!,
      success: stream.uniform() < rate ? 1 : 0,
      forbidden: 0,
      steps: 10,
      executed: 10,
      executedInvalid: 0,
      efficiency: 0,
      successMs: 0,
      costMs: 1000,
    }));
    traces.set(name, rows.map(({ case_id, success }) => canonicalJson({ case_id, success: success === 1 })));
    return { variant, seed, rows };
  });
  const metrics = metricsReport(runs, {
    planned: cases,
    timeoutMs: 80_000,
    bootstrap: { samples: 0, confidence: 0.95, seed: 7 },
    comparisons: [],
  });
  return { families, metrics, traces: (name: string) => traces.get(name)! };
}

/** A thousand cases by name only, and a mask measured on as many calls as there would be. */
const IDS = Array.from({ length: 1000 }, (_, i) => `case-${String(i).padStart(4, "0")}`);
const FAMILIES = new Map(IDS.map((id, i) => [id, `family-${i % 10}`]));
const MASK = {
  count: 20_000,
  valid_count: 10_000,
  invalid_count: 10_000,
  balanced_accuracy: { numerator: 39, denominator: 40, value: 0.975 },
} as MaskMetrics;

const json = <T>(bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes)) as T;

Deno.test("statisticsBytes() of the matrix is canonical, and claim and statistics state the same interval", () => {
  const bytes = statisticsBytes(PARAMS, { ...matrix(IDS, FAMILIES, RATES), mask: MASK });
  const claim = json<ClaimCheck>(bytes.claim);
  const statistics = json<StatisticsReport>(bytes.statistics);
  assert.deepEqual([claim.canonical, claim.hypothesis_passed], [true, true]);
  assert.deepEqual(claim.checks.filter(({ passed }) => !passed), []);
  const [primary, total, ...secondary] = statistics.comparisons;
  assert.deepEqual(claim.primary_comparison.interval, primary!.resamplings.seeds_and_cases!.interval);
  assert.deepEqual(claim.primary_comparison.tsr_difference, primary!.difference);
  assert.deepEqual([primary!.role, total!.role, secondary.length], ["primary", "total_system", 6]);
  assert.equal(statistics.holm?.tests.length, 6);
});

Deno.test("statisticsBytes() of a null result is canonical, and only the hypothesis fails", () => {
  const bytes = statisticsBytes(PARAMS, { ...matrix(IDS, FAMILIES, NO_EFFECT), mask: MASK });
  const claim = json<ClaimCheck>(bytes.claim);
  assert.deepEqual([claim.canonical, claim.hypothesis_passed], [true, false]);
  assert.deepEqual(claim.checks.filter(({ passed }) => !passed).map(({ name }) => name), ["hypothesis"]);
});

Deno.test("statisticsBytes() refuses a trace without case or outcome, and a mask measured on one class", () => {
  const good = { ...matrix(IDS.slice(0, 20), FAMILIES, RATES), mask: MASK };
  for (const [line, field] of [['{"success":true}', "case_id"], ['{"case_id":"x","success":1}', "success"]]) {
    assert.throws(
      () => statisticsBytes(PARAMS, { ...good, traces: () => [line!] }),
      (error) => hasCode(error, "bad_trace") && error.details["field"] === field,
    );
  }
  assert.throws(
    () => statisticsBytes(PARAMS, { ...good, mask: { ...MASK, balanced_accuracy: null } }),
    (error) => hasCode(error, "one_class_only"),
  );
});

Deno.test("statisticsStage reads what metrics and mask stages write, and says that twenty cases are no claim", async () => {
  const tasks = generateSplit({ split: "test", size: 20, baseSeed: 5 });
  const families = new Map(tasks.map(({ case_id, family }) => [case_id, family]));
  const { metrics, traces } = matrix([...families.keys()], families, RATES);
  const mask = actionValidityEvidence(tasks, {
    seed: 5,
    bootstrap: { samples: 0, confidence: 0.95, seed: 7 },
  });
  const given = {
    params: PARAMS as unknown as typeof PLANNED,
    inputs: {
      test: writeTaskLines(tasks),
      metrics: canonicalBytes(metrics),
      mask: canonicalBytes(mask.metrics),
      ...Object.fromEntries(
        PARAMS.runs.map(({ traces: name }) => [name, traces(name).map((line) => line + "\n").join("")]),
      ),
    },
  };
  const outputs = await runStageInMemory(statisticsStage, given);
  assert.deepEqual(await runStageInMemory(statisticsStage, given), outputs);
  const claim = json<ClaimCheck>(outputs["claim.json"]!);
  assert.deepEqual([claim.canonical, claim.hypothesis_passed], [false, false]);
  assert.deepEqual(claim.checks.filter(({ passed }) => !passed).map(({ name }) => name), [
    "distinct_test_cases",
    "action_rows",
    "action_rows_per_class",
    "hypothesis",
  ]);
  assert.equal(json<StatisticsReport>(outputs["statistics.json"]!).cases, 20);
});
