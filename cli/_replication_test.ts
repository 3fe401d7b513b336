import assert from "node:assert/strict";
import { VARIANTS } from "../lib/pipeline/config_variants.ts";
import { FAMILIES } from "../lib/benchmark/families.ts";
import type { CaseCounts } from "../lib/evaluate/case_counts.ts";
import { metricsReport } from "../lib/evaluate/metrics_report.ts";
import { publishedResults, replicate, replicationLines } from "./_replication.ts";

const PUBLISHED = publishedResults();

/** A run of B and E in which the first so many of 100 cases succeed. */
function ours(successes: { readonly b: number; readonly e: number }) {
  const cases = Array.from({ length: 100 }, (_, i) => `case-${String(i).padStart(3, "0")}`);
  const rows = (count: number) =>
    cases.map((case_id, i): CaseCounts => ({
      case_id,
      family: "calendar_coordination",
      success: i < count ? 1 : 0,
      forbidden: 0,
      steps: 12,
      executed: 12,
      executedInvalid: 0,
      efficiency: 0,
      successMs: i < count ? 15_000 : 0,
      costMs: i < count ? 15_000 : 80_000,
    }));
  return metricsReport([
    { variant: "B-BC-Mask", seed: 17, rows: rows(successes.b) },
    { variant: "E-PPO-Progress-Mask", seed: 17, rows: rows(successes.e) },
  ], {
    planned: cases,
    timeoutMs: 80_000,
    bootstrap: { samples: 100, confidence: 0.95, seed: 7 },
    comparisons: [{ treatment: "E-PPO-Progress-Mask", baseline: "B-BC-Mask" }],
  });
}

Deno.test("publishedResults() agree with themselves, wherever a figure was published twice", () => {
  // protocol/numbers.md: counts in section 2, rates per seed and per family, the difference in section 1
  const rate = (name: string) =>
    PUBLISHED.variants.find(({ variant }) => variant === name)!.metrics.tsr.value;
  assert.deepEqual(PUBLISHED.variants.map(({ variant }) => variant), VARIANTS.map(({ name }) => name));
  for (const { cases, successful_cases, executed_actions, metrics, ...by } of PUBLISHED.variants) {
    assert.equal(successful_cases / cases, metrics.tsr.value);
    assert.equal(executed_actions / cases, metrics.mean_steps.value);
    for (const rates of [Object.values(by.tsr_by_seed), Object.values(by.tsr_by_family)]) {
      const mean = rates.reduce((sum, one) => sum + one, 0) / rates.length;
      assert.ok(Math.abs(mean - metrics.tsr.value) < 1e-9, by.variant);
    }
    assert.deepEqual(Object.keys(by.tsr_by_seed).map(Number), PUBLISHED.source.run_seeds);
    assert.deepEqual(Object.keys(by.tsr_by_family).sort(), FAMILIES.map(({ key }) => key).sort());
    for (const { value, interval } of Object.values(metrics)) {
      if (interval !== null) assert.ok(interval[0] < value && value < interval[1]);
    }
  }
  const difference = rate("E-PPO-Progress-Mask") - rate("B-BC-Mask");
  assert.ok(Math.abs(difference - PUBLISHED.comparison.tsr_difference.value) < 1e-12);
});

Deno.test("replicate() sets value, interval, difference and overlap beside each published figure", () => {
  const found = replicate(ours({ b: 46, e: 90 }), { published: PUBLISHED, balancedAccuracy: 0.975 });
  const of = (metric: string, variant: string) =>
    found.metrics.find((one) => one.metric === metric && one.of === variant)!;
  const b = of("tsr", "B-BC-Mask");
  assert.deepEqual([b.ours!.value, b.published.value, b.overlap], [0.46, 0.4636, true]);
  assert.ok(Math.abs(b.difference! - (0.46 - 0.4636)) < 1e-12);
  const e = of("tsr", "E-PPO-Progress-Mask");
  assert.deepEqual([e.ours!.value, e.overlap], [0.9, false]);
  assert.deepEqual(of("tsr", "D-PPO-Sparse-Mask"), {
    metric: "tsr",
    of: "D-PPO-Sparse-Mask",
    ours: null,
    published: { value: 0.5232, interval: [0.50079, 0.54441] },
    difference: null,
    overlap: null,
  });
  // No interval was published for it, and there is none of ours.
  const time = of("successful_conditional_simulated_service_time_s", "B-BC-Mask");
  assert.deepEqual([time.ours, time.overlap], [{ value: 15, interval: null }, null]);
  assert.deepEqual([found.comparison.ours!.value, found.comparison.published.value], [0.44, 0.0652]);
  assert.equal(found.comparison.overlap, false);
  assert.equal(found.metrics.length, 8 * 6);
  assert.equal(found.seeds.filter((one) => one.ours !== null).length, 2);
  assert.deepEqual(found.pilot.map(({ ours: own }) => own?.value ?? null), [null, null, null, null, 0.975]);
});

Deno.test("replicationLines() prints a table a metric, missing figures as dashes", () => {
  const report = ours({ b: 46, e: 90 });
  const found = replicate(report, { published: PUBLISHED, balancedAccuracy: null });
  const lines = replicationLines(found, { report, published: PUBLISHED });
  const text = lines.join("\n");
  assert.match(
    text,
    /^ours +\d+ seeds of 100 cases; intervals: case_cluster_percentile, 95 %, \d+ replicates\n/,
  );
  assert.match(text, /\npublished +run 886622c5cb6cffc3 \(release v0\.1\.0/);
  const both = found.metrics.filter(({ overlap }) => overlap !== null);
  const common = both.filter(({ overlap }) => overlap === true);
  assert.ok(text.includes(`\noverlap    ${common.length} of ${both.length} intervals`));
  assert.match(text, /of E-PPO-Progress-Mask - B-BC-Mask: no\n/);
  assert.match(text, /\ntsr, %\n/);
  assert.match(text, /B-BC-Mask +46\.00 \[[\d.]+, [\d.]+\] +46\.36 \[44\.00, 48\.62\] +-0\.36 +yes\n/);
  assert.match(
    text,
    /E-PPO-Progress-Mask +90\.00 \[[\d.]+, [\d.]+\] +52\.88 \[50\.68, 55\.00\] +\+37\.12 +no\n/,
  );
  assert.match(text, /A-BC-Unmasked +- +7\.40 \[6\.40, 8\.42\] +- +-\n/);
  assert.match(text, /mean_steps, steps\n/);
  assert.doesNotMatch(text, /NaN|undefined|null/);
});
