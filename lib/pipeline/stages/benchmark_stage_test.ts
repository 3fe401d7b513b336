import assert from "node:assert/strict";
import { generateBenchmark } from "../../benchmark/generate.ts";
import { benchmarkManifest } from "../../benchmark/manifest.ts";
import { readTaskLines } from "../../benchmark/task_lines.ts";
import { canonicalBytes } from "../../core/canonical_json.ts";
import { hasCode } from "../../core/error.ts";
import { runStageInMemory } from "../../stage/run_stage.ts";
import { SPLITS } from "../../world/contracts.ts";
import { ExampleRun, TINY } from "../_example_run.ts";
import { benchmarkStage } from "./benchmark_stage.ts";

const RUN = new ExampleRun();

Deno.test("benchmarkStage writes the three splits and their manifest, the same bytes twice", async () => {
  const outputs = await RUN.outputs("benchmark");
  assert.deepEqual(Object.keys(outputs).sort(), ["dev.jsonl", "manifest.json", "test.jsonl", "train.jsonl"]);
  const sizes = { train: 12, dev: 10, test: 12 };
  const benchmark = generateBenchmark({ sizes, baseSeed: TINY.seeds.benchmark_seed });
  for (const split of SPLITS) assert.deepEqual(readTaskLines(outputs[`${split}.jsonl`]!), benchmark[split]);
  const manifest = benchmarkManifest({ benchmark, baseSeed: TINY.seeds.benchmark_seed });
  assert.deepEqual(outputs["manifest.json"], canonicalBytes(manifest));
  assert.deepEqual(await RUN.again("benchmark"), outputs);
});

Deno.test("benchmarkStage makes other cases from another seed", async () => {
  const params = { ...RUN.params("benchmark"), benchmark_seed: 1 };
  const other = await runStageInMemory(benchmarkStage, { params, inputs: {} });
  const ids = (bytes: Uint8Array) => readTaskLines(bytes).map(({ entity_id }) => entity_id);
  const outputs = await RUN.outputs("benchmark");
  assert.ok(ids(other["test.jsonl"]!).every((id) => !ids(outputs["test.jsonl"]!).includes(id)));
});

Deno.test("benchmarkStage refuses sizes and generators that there are not", async () => {
  const params = RUN.params("benchmark");
  const benchmark = params["benchmark"] as Record<string, unknown>;
  const run = (changes: Record<string, unknown>) =>
    runStageInMemory(benchmarkStage, {
      params: { ...params, benchmark: { ...benchmark, ...changes } } as typeof params,
      inputs: {},
    });
  await assert.rejects(run({ train_tasks: 0 }), (error) => hasCode(error, "bad_size"));
  await assert.rejects(run({ generator: "benchmark-v1.4.0" }), (error) => hasCode(error, "bad_params"));
});
