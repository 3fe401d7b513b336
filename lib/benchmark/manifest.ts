/** The manifest of benchmark v1.3. Source: protocol/benchmark-v1.3.md section 9. */
import type { Digest } from "../core/digest.ts";
import { digestOf } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import type { Difficulty, Split, WorkflowTask } from "../world/contracts.ts";
import { SPLITS } from "../world/contracts.ts";
import { verifyOracle } from "../world/oracle.ts";
import type { BenchmarkCode } from "./_error.ts";
import { FAMILIES } from "./families.ts";
import type { Benchmark } from "./generate.ts";
import { checkSplitIsolation } from "./split_isolation.ts";
import { GENERATOR_V13, taskSeed } from "./task_v13.ts";
import { writeTaskLines } from "./task_lines.ts";

/** What the manifest says of one split's file. */
export interface BenchmarkFile {
  readonly split: Split;
  readonly path: string;
  readonly count: number;
  readonly sha256: Digest;
  /** Tasks a family, all ten families present. */
  readonly family_counts: Readonly<Record<string, number>>;
  readonly length_counts: Readonly<Record<Difficulty, number>>;
  readonly seed_digest: Digest;
  readonly entity_digest: Digest;
  /** Tasks whose first oracle plan was replayed to success; always all of them. */
  readonly oracle_solvable: number;
}

/** The whole benchmark in names, counts and digests. */
export interface BenchmarkManifest {
  readonly benchmark_name: "benchmark-v1";
  readonly generator_version: string;
  readonly base_seed: number;
  readonly files: Readonly<Record<Split, BenchmarkFile>>;
}

/** The digest of a set: its values as text, sorted as text, joined by newlines. */
export function setDigest(values: readonly (string | number)[]): Digest {
  return digestOf(values.map(String).sort().join("\n"));
}

/** Values with how often each occurs; keys that never occur stay at 0. */
function counts<K extends string>(keys: readonly K[], values: readonly string[]): Record<K, number> {
  const table = Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>;
  for (const value of values) table[value as K] = (table[value as K] ?? 0) + 1;
  return table;
}

function refuse(code: BenchmarkCode, task: WorkflowTask, expected: unknown, actual: unknown): never {
  throw new TracewrightError<"benchmark", BenchmarkCode>(code, {
    case: task.case_id,
    split: task.split,
    expected,
    actual,
  });
}

/** Every task belongs where it stands, to this generator and to this seed, and can be solved in its optimal steps. */
function checkSplit(split: Split, tasks: readonly WorkflowTask[], baseSeed: number): void {
  for (const task of tasks) {
    if (task.split !== split) refuse("wrong_split", task, split, task.split);
    if (task.generator_version !== GENERATOR_V13) {
      refuse("wrong_version", task, GENERATOR_V13, task.generator_version);
    }
    const familyIndex = FAMILIES.findIndex((family) => family.key === task.family);
    const seed = taskSeed({ split, baseSeed, familyIndex, ordinal: Number(task.case_id.slice(-4)) });
    if (task.seed !== seed) refuse("wrong_seed", task, seed, task.seed);
    const report = verifyOracle(task);
    if (!report.solvable || report.executed_steps !== task.optimal_steps) {
      refuse("unsolvable_task", task, `success in ${task.optimal_steps} steps`, report);
    }
  }
}

/**
 * Describes a benchmark, after checking all of it: split labels, generator version, seeds, isolation, and that the first
 * oracle plan of every task succeeds. It writes nothing, so a refusal leaves whatever was there before as it was.
 *
 * @throws TracewrightError "bad_size" for an empty split, "wrong_split", "wrong_version", "wrong_seed",
 * "unsolvable_task", "duplicate_in_split" or "split_overlap"
 */
export function benchmarkManifest(
  { benchmark, baseSeed }: { readonly benchmark: Benchmark; readonly baseSeed: number },
): BenchmarkManifest {
  checkSplitIsolation(benchmark);
  for (const split of SPLITS) checkSplit(split, benchmark[split], baseSeed);
  const file = (split: Split): BenchmarkFile => {
    const tasks = benchmark[split];
    if (tasks.length === 0) {
      throw new TracewrightError<"benchmark", BenchmarkCode>("bad_size", {
        split,
        expected: "at least one task",
        actual: 0,
      });
    }
    return {
      split,
      path: `${split}.jsonl`,
      count: tasks.length,
      sha256: digestOf(writeTaskLines(tasks)),
      family_counts: counts(FAMILIES.map((family) => family.key), tasks.map((task) => task.family)),
      length_counts: counts(["short", "medium", "long"], tasks.map((task) => task.difficulty)),
      seed_digest: setDigest(tasks.map((task) => task.seed)),
      entity_digest: setDigest(tasks.map((task) => task.entity_id)),
      oracle_solvable: tasks.length,
    };
  };
  return {
    benchmark_name: "benchmark-v1",
    generator_version: GENERATOR_V13,
    base_seed: baseSeed,
    files: { train: file("train"), dev: file("dev"), test: file("test") },
  };
}
