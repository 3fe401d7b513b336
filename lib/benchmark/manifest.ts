/** The manifest of benchmark v1.3. Source: protocol/benchmark-v1.3.md section 9. */
import type { Digest } from "../core/digest.ts";
import { digestOf, DigestWriter } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import type { Difficulty, Split, WorkflowTask } from "../world/contracts.ts";
import { SPLITS } from "../world/contracts.ts";
import { verifyOracle } from "../world/oracle.ts";
import type { BenchmarkCode } from "./_error.ts";
import { FAMILIES } from "./families.ts";
import type { Benchmark } from "./generate.ts";
import { SplitIsolation } from "./split_isolation.ts";
import { GENERATOR_V13, taskSeed } from "./task_v13.ts";
import { sortedTasks, taskLine } from "./task_lines.ts";

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

function refuse(code: BenchmarkCode, task: WorkflowTask, expected: unknown, actual: unknown): never {
  throw new TracewrightError<"benchmark", BenchmarkCode>(code, {
    case: task.case_id,
    split: task.split,
    expected,
    actual,
  });
}

/** A task belongs where it stands, to this generator and to this seed, and can be solved in its optimal steps. */
function checkTask(split: Split, task: WorkflowTask, baseSeed: number): void {
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

/** What is known of a split so far. */
class SplitSummary {
  readonly #hash = new DigestWriter();
  readonly #seeds: number[] = [];
  readonly #entities: string[] = [];
  readonly #families: Record<string, number> = Object.fromEntries(FAMILIES.map(({ key }) => [key, 0]));
  readonly #lengths: Record<Difficulty, number> = { short: 0, medium: 0, long: 0 };

  add(task: WorkflowTask, line: Uint8Array): void {
    this.#hash.write(line);
    this.#seeds.push(task.seed);
    this.#entities.push(task.entity_id);
    this.#families[task.family] = (this.#families[task.family] ?? 0) + 1;
    this.#lengths[task.difficulty]++;
  }

  finish(split: Split): BenchmarkFile {
    const count = this.#seeds.length;
    if (count === 0) {
      throw new TracewrightError<"benchmark", BenchmarkCode>("bad_size", {
        split,
        expected: "at least one task",
        actual: 0,
      });
    }
    return {
      split,
      path: `${split}.jsonl`,
      count,
      sha256: this.#hash.finish(),
      family_counts: this.#families,
      length_counts: this.#lengths,
      seed_digest: setDigest(this.#seeds),
      entity_digest: setDigest(this.#entities),
      oracle_solvable: count,
    };
  }
}

/**
 * Describes a benchmark while it is generated, and checks all of it: split labels, generator version, seeds, isolation,
 * and that the first oracle plan of every task succeeds. Keeps names, never tasks.
 */
export class BenchmarkSummary {
  readonly #baseSeed: number;
  readonly #isolation = new SplitIsolation();
  readonly #splits = { train: new SplitSummary(), dev: new SplitSummary(), test: new SplitSummary() };

  constructor(baseSeed: number) {
    this.#baseSeed = baseSeed;
  }

  /**
   * Takes the next task of a split, in case-id order.
   *
   * @returns the task's line, newline included, as it stands in the split's file
   * @throws TracewrightError "wrong_split", "wrong_version", "wrong_seed", "unsolvable_task", "duplicate_in_split" or
   * "split_overlap"
   */
  add(split: Split, task: WorkflowTask): Uint8Array {
    this.#isolation.add(split, task);
    checkTask(split, task, this.#baseSeed);
    const line = taskLine(task);
    this.#splits[split].add(task, line);
    return line;
  }

  /** @throws TracewrightError "bad_size" for an empty split */
  finish(): BenchmarkManifest {
    const [train, dev, test] = SPLITS.map((split) => this.#splits[split].finish(split));
    return {
      benchmark_name: "benchmark-v1",
      generator_version: GENERATOR_V13,
      base_seed: this.#baseSeed,
      files: { train: train!, dev: dev!, test: test! },
    };
  }
}

/**
 * {@link BenchmarkSummary} of whole splits. It writes nothing, so a refusal leaves whatever was there before as it was.
 *
 * @throws what {@link BenchmarkSummary} throws
 */
export function benchmarkManifest(
  { benchmark, baseSeed }: { readonly benchmark: Benchmark; readonly baseSeed: number },
): BenchmarkManifest {
  const summary = new BenchmarkSummary(baseSeed);
  for (const split of SPLITS) for (const task of sortedTasks(benchmark[split])) summary.add(split, task);
  return summary.finish();
}
