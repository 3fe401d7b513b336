import assert from "node:assert/strict";
import { canonicalBytes } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { BENCHMARK, CONFIG, exampleBlobs, exampleMetrics, TRAINING } from "./_example_records.ts";
import { runReport } from "./run_report.ts";

Deno.test("runReport() names everything that the run stands on", () => {
  const blobs = exampleBlobs();
  const report = runReport(blobs);
  assert.ok(report.startsWith("# Experiment tiny\n"));
  for (
    const [what, value] of [
      ["experiment", "tiny"],
      ["config", digestOf(blobs.config)],
      ["benchmark", digestOf(blobs.benchmark)],
      ["metrics", digestOf(blobs.metrics)],
      ["generator", "benchmark-v1.3.0"],
      ["semantics", "current"],
      ["benchmark seed", "20260808"],
      ["run seeds", "[17,29]"],
      ["bootstrap seed", "7"],
    ]
  ) {
    assert.ok(report.includes(`| ${what} | \`${value}\` |`), what);
  }
});

Deno.test("runReport() orders records by name and does not depend on the order they come in", () => {
  const { records } = exampleBlobs();
  const report = runReport(exampleBlobs());
  assert.equal(runReport(exampleBlobs({ records: records.toReversed() })), report);
  assert.ok(report.indexOf("| bc/17 |") < report.indexOf("| ppo/e/17 |"));
  assert.ok(report.includes("| progress/17 | 64 | 37.50 | 0.7654 |"));
  assert.ok(report.includes("255/256"));
});

Deno.test("runReport() refuses a blob that is not what its name says", () => {
  const refused = (changes: Partial<ReturnType<typeof exampleBlobs>>, record: string, field: string) =>
    assert.throws(() => runReport(exampleBlobs(changes)), (error) => {
      assert.ok(hasCode(error, "bad_record"), String(error));
      assert.deepEqual([error.details["record"], error.details["field"]], [record, field]);
      return true;
    });
  refused({ config: canonicalBytes({ ...CONFIG, name: null }) }, "config", "name");
  refused({ config: canonicalBytes({ ...CONFIG, seeds: [] }) }, "config", "seeds.benchmark_seed");
  refused({ config: canonicalBytes("tiny") }, "config", "name");
  refused(
    { benchmark: canonicalBytes({ ...BENCHMARK, generator_version: true }) },
    "benchmark",
    "generator_version",
  );
  refused({ metrics: canonicalBytes({ ...exampleMetrics(), runs: 3 }) }, "metrics", "runs");
  refused(
    { records: [{ name: "calibration/progress/17", bytes: canonicalBytes(TRAINING) }] },
    "calibration",
    "schema",
  );
  refused(
    { records: [{ name: "training/bc/17", bytes: canonicalBytes({ ...TRAINING, updates: -1 }) }] },
    "training",
    "updates",
  );
});

Deno.test("runReport() refuses bytes that are not canonical", () => {
  const spaced = new TextEncoder().encode(JSON.stringify(CONFIG, null, 2));
  for (const part of ["config", "benchmark", "metrics"] as const) {
    assert.throws(
      () => runReport(exampleBlobs({ [part]: spaced })),
      (error) => hasCode(error, "not_canonical"),
    );
  }
});
