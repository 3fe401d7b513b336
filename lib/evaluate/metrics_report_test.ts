import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import { caseClusterIntervals } from "./case_cluster_bootstrap.ts";
import { type CaseCounts, EFFICIENCY_PARTS } from "./case_counts.ts";
import { METRICS_SCHEMA, metricsReport, type ScoredRun } from "./metrics_report.ts";

/** A case solved in twice the optimal steps, or failed. */
function row(case_id: string, success: 0 | 1): CaseCounts {
  return {
    case_id,
    family: `family-${case_id.slice(0, 1)}`,
    success,
    forbidden: 0,
    steps: 8,
    executed: 8,
    executedInvalid: success === 1 ? 0 : 2,
    efficiency: success === 1 ? EFFICIENCY_PARTS / 2 : 0,
    successMs: success === 1 ? 10_000 : 0,
    costMs: success === 1 ? 10_000 : 80_000,
  };
}

const PLANNED = ["a1", "a2", "b1", "b2"];
const run = (variant: string, seed: number, outcome: string): ScoredRun => ({
  variant,
  seed,
  rows: PLANNED.slice(0, outcome.length).map((id, i) => row(id, outcome[i] === "1" ? 1 : 0)),
});

const BOOTSTRAP = { samples: 20, confidence: 0.95, seed: 7 };
const SETTINGS = { planned: PLANNED, timeoutMs: 80_000, bootstrap: BOOTSTRAP, comparisons: [] };
const report = (runs: readonly ScoredRun[], changes: Partial<Parameters<typeof metricsReport>[1]> = {}) =>
  metricsReport(runs, { ...SETTINGS, ...changes });

Deno.test("metricsReport() counts planned, run, excluded and scored cases of every run", () => {
  const { runs } = report([run("B", 17, "1100"), run("E", 17, "111")]);
  assert.deepEqual(runs.map(({ denominators }) => denominators), [
    { planned: 4, run: 4, excluded: { missing_trace: 0 }, scored: 4 },
    { planned: 4, run: 3, excluded: { missing_trace: 1 }, scored: 3 },
  ]);
  // Nobody fills a gap: three of three, not three of four.
  assert.deepEqual(runs[1]!.metrics.tsr, { numerator: 1, denominator: 1, value: 1 });
});

Deno.test("metricsReport() refuses foreign cases, repeated cases, repeated runs and empty runs", () => {
  const [first, ...rest] = run("B", 17, "1100").rows;
  const refused = (rows: readonly CaseCounts[], message: RegExp) =>
    assert.throws(() => report([{ variant: "B", seed: 17, rows }]), (error) => {
      assert.ok(hasCode(error, "unexpected_case"));
      assert.match(error.message, message);
      return true;
    });
  refused([{ ...first!, case_id: "c1" }, ...rest], /does not belong to the test split/);
  refused([first!, first!, ...rest], /scored twice/);
  const twice = [run("B", 17, "1100"), run("B", 17, "1111")];
  assert.throws(() => report(twice), (error) => hasCode(error, "duplicate_run"));
  assert.throws(() => report([run("B", 17, "")]), (error) => hasCode(error, "no_cases"));
});

Deno.test("metricsReport() states every seed and pools the seeds of a variant, in the given order", () => {
  const runs = [run("E", 17, "1110"), run("E", 29, "1000"), run("B", 17, "0000"), run("B", 29, "1100")];
  const { schema, timeout_s, bootstrap, runs: seeds, variants } = report(runs);
  assert.deepEqual([schema, timeout_s, bootstrap], [METRICS_SCHEMA, 80, BOOTSTRAP]);
  assert.deepEqual(
    seeds.map(({ variant, seed, metrics }) => [variant, seed, metrics.tsr.value]),
    [["E", 17, 0.75], ["E", 29, 0.25], ["B", 17, 0], ["B", 29, 0.5]],
  );
  assert.deepEqual(
    variants.map(({ variant, seeds, metrics }) => [variant, seeds, metrics.cases, metrics.tsr.value]),
    [["E", [17, 29], 8, 0.5], ["B", [17, 29], 8, 0.25]],
  );
  // By hand for E pooled: family a 1+1+1+0 of 4, family b 1+0+0+0 of 4; efficiency 1/2 for each of the 4 successes.
  const [pooled] = variants;
  assert.equal(pooled!.metrics.families["family-a"]!.tsr.value, 0.75);
  assert.equal(pooled!.metrics.macro_tsr.value, 0.5);
  assert.equal(pooled!.metrics.steps_efficiency.value, 0.25);
  assert.equal(pooled!.metrics.invalid_action_rate.value, 8 / 64);
  assert.equal(pooled!.metrics.timeout_penalized_simulated_cost_s.value, 45);
});

Deno.test("metricsReport() keeps the seeds of a drawn case together in pooled intervals", () => {
  const [first, second] = [run("E", 17, "1100"), run("E", 29, "0011")];
  const { variants, runs } = report([first, second]);
  // Each case succeeds in one of its two seeds, so every replicate of cases gives one half.
  const { tsr } = variants[0]!.metrics.confidence_intervals;
  assert.deepEqual([tsr!.low, tsr!.high], [0.5, 0.5]);
  assert.deepEqual(runs[0]!.metrics.confidence_intervals, caseClusterIntervals(first.rows, BOOTSTRAP));
  assert.ok(runs[0]!.metrics.confidence_intervals.tsr!.low < 0.5);
});

Deno.test("metricsReport() pairs treatment and baseline over all seeds", () => {
  const runs = [run("E", 17, "1110"), run("B", 17, "0010"), run("E", 29, "1111"), run("B", 29, "0111")];
  const comparisons = [{ treatment: "E", baseline: "B" }];
  const [comparison] = report(runs, { comparisons }).comparisons;
  // (1 + 1 + 0 + 0) + (1 + 0 + 0 + 0) of 8 pairs
  assert.deepEqual(comparison!.difference, { numerator: 3, denominator: 8, value: 0.375 });
  assert.deepEqual([comparison!.treatment, comparison!.baseline], ["E", "B"]);
  assert.deepEqual([comparison!.seed_count, comparison!.case_count, comparison!.paired_observations], [
    2,
    4,
    8,
  ]);
  assert.ok(comparison!.interval!.low <= 0.375 && 0.375 <= comparison!.interval!.high);
});

Deno.test("metricsReport() refuses a comparison without pairs", () => {
  const comparisons = [{ treatment: "E", baseline: "B" }];
  const refused = (runs: readonly ScoredRun[]) =>
    assert.throws(() => report(runs, { comparisons }), (error) => hasCode(error, "unpaired_outcomes"));
  refused([run("E", 17, "1111")]);
  refused([run("E", 17, "1111"), run("B", 29, "1111")]);
  refused([run("E", 17, "1111"), run("B", 17, "111")]);
});

Deno.test("metricsReport() makes no interval for 0 samples, and has a canonical form", () => {
  const comparisons = [{ treatment: "E", baseline: "B" }];
  const runs = [run("E", 17, "1111"), run("B", 17, "0000")];
  const none = report(runs, { comparisons, bootstrap: { ...BOOTSTRAP, samples: 0 } });
  assert.deepEqual(none.variants[0]!.metrics.confidence_intervals, {});
  assert.equal(none.comparisons[0]!.interval, null);
  assert.equal(canonicalJson(report(runs, { comparisons })), canonicalJson(report(runs, { comparisons })));
  assert.ok(!/latency|mask|wall/.test(canonicalJson(none))); // metrics of the policy, in simulated time only
});
