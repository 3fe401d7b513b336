import { canonicalBytes } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import { type Benchmark, generateBenchmark } from "../benchmark/generate.ts";
import { benchmarkManifest } from "../benchmark/manifest.ts";
import { writeTaskLines } from "../benchmark/task_lines.ts";
import type { Run } from "../store/read_run.ts";
import { SPLITS } from "../world/contracts.ts";
import { digestOfOutput } from "./run_blobs.ts";
import { verifyError } from "./verify_code.ts";
import type { VerifySubject } from "./verify_subject.ts";

/** Number of the first line in which a recorded blob differs from other bytes, from 1. */
function firstLine(expected: Uint8Array, recorded: Iterable<Uint8Array>): number {
  let line = 1;
  let at = 0;
  for (const chunk of recorded) {
    for (const byte of chunk) {
      if (byte !== expected[at++]) return line;
      if (byte === 0x0a) line++;
    }
  }
  return line;
}

/**
 * Generates the benchmark from the config and compares every byte of the recorded one, tasks and manifest.
 *
 * @returns the tasks, which later steps use in place of the recorded ones
 * @throws TracewrightError "benchmark_mismatch" with the first line that differs
 */
export function regenerate(run: Run, { benchmark }: VerifySubject): Benchmark {
  const { node, sizes, baseSeed } = benchmark;
  const made = generateBenchmark({ sizes, baseSeed });
  const compare = (output: string, bytes: Uint8Array) => {
    const [expected, actual] = [digestOf(bytes), digestOfOutput(run, { node, output })];
    if (expected === actual) return;
    throw verifyError("benchmark_mismatch", {
      verify_step: "regenerate",
      node,
      output,
      line: firstLine(bytes, run.open(actual).chunks()),
      expected,
      actual,
      hint: "the config, generated again, gives other tasks",
    });
  };
  for (const split of SPLITS) compare(`${split}.jsonl`, writeTaskLines(made[split]));
  compare("manifest.json", canonicalBytes(benchmarkManifest({ benchmark: made, baseSeed })));
  return made;
}
