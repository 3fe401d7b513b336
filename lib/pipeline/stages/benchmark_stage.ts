import { z } from "zod";
import { canonicalBytes } from "../../core/canonical_json.ts";
import { generateBenchmark } from "../../benchmark/generate.ts";
import { benchmarkManifest } from "../../benchmark/manifest.ts";
import { writeTaskLines } from "../../benchmark/task_lines.ts";
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
  run({ params: { benchmark_seed, benchmark }, output }) {
    const splits = generateBenchmark({
      sizes: { train: benchmark.train_tasks, dev: benchmark.dev_tasks, test: benchmark.test_tasks },
      baseSeed: benchmark_seed,
    });
    const manifest = benchmarkManifest({ benchmark: splits, baseSeed: benchmark_seed });
    for (const split of SPLITS) output(`${split}.jsonl`).write(writeTaskLines(splits[split]));
    output("manifest.json").write(canonicalBytes(manifest));
  },
});
