import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { generateBenchmark } from "./generate.ts";
import { benchmarkManifest, setDigest } from "./manifest.ts";
import { writeTaskLines } from "./task_lines.ts";

const baseSeed = 20260808;
const benchmark = generateBenchmark({ sizes: { train: 32, dev: 12, test: 32 }, baseSeed });

Deno.test("benchmarkManifest() counts and digests every split", () => {
  const manifest = benchmarkManifest({ benchmark, baseSeed });
  assert.deepEqual(Object.keys(manifest), ["benchmark_name", "generator_version", "base_seed", "files"]);
  assert.deepEqual([manifest.benchmark_name, manifest.generator_version, manifest.base_seed], [
    "benchmark-v1",
    "benchmark-v1.3.0",
    baseSeed,
  ]);
  const { test, dev } = manifest.files;
  assert.deepEqual([test.split, test.path, test.count, test.oracle_solvable], ["test", "test.jsonl", 32, 32]);
  assert.equal(test.sha256, digestOf(writeTaskLines(benchmark.test)));
  assert.equal(test.seed_digest, digestOf(benchmark.test.map((task) => `${task.seed}`).sort().join("\n")));
  assert.equal(test.entity_digest, digestOf(benchmark.test.map((task) => task.entity_id).sort().join("\n")));
  // 4 tasks in two families (1/2/1) and 3 in eight (1/1/1)
  assert.deepEqual(test.length_counts, { short: 10, medium: 12, long: 10 });
  assert.deepEqual(Object.values(test.family_counts), [4, 4, 3, 3, 3, 3, 3, 3, 3, 3]);
  assert.deepEqual(Object.values(dev.family_counts), [2, 2, 1, 1, 1, 1, 1, 1, 1, 1]);
  assert.equal(canonicalJson(benchmarkManifest({ benchmark, baseSeed })), canonicalJson(manifest));
});

Deno.test("setDigest() does not depend on order and sorts numbers as text", () => {
  assert.equal(setDigest([10, 9]), setDigest([9, 10]));
  assert.equal(setDigest([10, 9]), digestOf("10\n9"));
});

function changed(change: Partial<WorkflowTask>): () => unknown {
  const test = benchmark.test.map((task, i) => i === 31 ? { ...task, ...change } : task);
  return () => benchmarkManifest({ benchmark: { ...benchmark, test }, baseSeed });
}

Deno.test("benchmarkManifest() refuses a benchmark that is not what it says, in whichever split", () => {
  const last = benchmark.test[31]!;
  const refused: readonly (readonly [string, () => unknown])[] = [
    ["wrong_split", changed({ split: "dev" })],
    ["wrong_version", changed({ generator_version: "benchmark-v1.2.0" })],
    ["wrong_seed", changed({ seed: last.seed + 500 })],
    ["wrong_seed", () => benchmarkManifest({ benchmark, baseSeed: baseSeed + 1 })],
    ["unsolvable_task", changed({ oracle_plans: [last.oracle_plans[0]!.slice(1)] })],
    [
      "unsolvable_task",
      changed({
        workflow_nodes: last.workflow_nodes.map((node, i) =>
          i === 3 ? { ...node, required_predecessors: ["op_none"] } : node
        ),
      }),
    ],
    ["unsolvable_task", changed({ optimal_steps: last.optimal_steps + 1 })],
    ["duplicate_in_split", changed({ entity_id: benchmark.test[0]!.entity_id })],
    ["split_overlap", changed({ case_id: benchmark.train[0]!.case_id })],
    ["bad_size", () => benchmarkManifest({ benchmark: { ...benchmark, dev: [] }, baseSeed })],
  ];
  for (const [code, build] of refused) assert.throws(build, (error) => hasCode(error, code), code);
});
