import { z } from "zod";
import { canonicalBytes } from "../../core/canonical_json.ts";
import { generateTasks } from "../../benchmark/generate.ts";
import { BenchmarkSummary } from "../../benchmark/manifest.ts";
import { defineStage } from "../../stage/define_stage.ts";
import { SPLITS } from "../../world/contracts.ts";
import { MEDIA } from "../media_types.ts";

const params = z.strictObject({
  benchmark_seed: z.int(),
  benchmark: z.strictObject({
    generator: z.literal("benchmark-v1.3.0"),
    train_tasks: z.int(),
    dev_tasks: z.int(),
    test_tasks: z.int(),
  }),
});

/** Generates the three splits, checks that the oracle solves every case, and describes them. */
export const benchmarkStage = defineStage({
  name: "benchmark",
  version: 1,
  params,
  inputs: {},
  outputs: {
    "train.jsonl": { media_type: MEDIA.tasks },
    "dev.jsonl": { media_type: MEDIA.tasks },
    "test.jsonl": { media_type: MEDIA.tasks },
    "manifest.json": { media_type: MEDIA.benchmark },
  },
  run({ params: { benchmark_seed, benchmark }, output, progress }) {
    const sizes = { train: benchmark.train_tasks, dev: benchmark.dev_tasks, test: benchmark.test_tasks };
    const total = sizes.train + sizes.dev + sizes.test;
    const summary = new BenchmarkSummary(benchmark_seed);
    let done = 0;
    for (const split of SPLITS) {
      const lines = output(`${split}.jsonl`);
      for (const task of generateTasks({ split, size: sizes[split], baseSeed: benchmark_seed })) {
        lines.write(summary.add(split, task));
        progress(++done / total, { unit: "tasks", count: done, total });
      }
    }
    output("manifest.json").write(canonicalBytes(summary.finish()));
  },
});
