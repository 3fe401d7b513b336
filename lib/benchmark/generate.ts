/** Benchmark v1.3, whole splits. Source: protocol/benchmark-v1.3.md sections 2 and 3. */
import { TracewrightError } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import type { Difficulty, Split, WorkflowTask } from "../world/contracts.ts";
import { DIFFICULTIES, SPLITS } from "../world/contracts.ts";
import type { BenchmarkCode } from "./_error.ts";
import { FAMILIES } from "./families.ts";
import { familyQuotas, TIER_LENGTHS, tierQuotas } from "./quotas.ts";
import { checkSplitIsolation } from "./split_isolation.ts";
import { generateTaskV13, STREAM_V13, taskCaseId, type TaskRequest } from "./task_v13.ts";

/** Tasks of each split, every one at least 1. */
export type SplitSizes = Readonly<Record<Split, number>>;

/** All three splits, each sorted by case id. */
export type Benchmark = Readonly<Record<Split, readonly WorkflowTask[]>>;

/** Largest base seed: it is derived from 8 hexadecimal digits. */
const MAX_BASE_SEED = 0xffff_ffff;

function checkRequest(size: number, baseSeed: number, split: Split): void {
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new TracewrightError<"benchmark", BenchmarkCode>("bad_size", {
      split,
      expected: "a whole number of tasks, at least 1",
      actual: size,
    });
  }
  if (!Number.isSafeInteger(baseSeed) || baseSeed < 0 || baseSeed > MAX_BASE_SEED) {
    throw new TracewrightError<"benchmark", BenchmarkCode>("bad_seed", {
      expected: `a whole number from 0 to ${MAX_BASE_SEED}`,
      actual: baseSeed,
    });
  }
}

/** The tasks of one family: its tiers in shuffled order, and the k-th task of a tier taking the k-th length of its cycle. */
function planFamily(
  { split, baseSeed }: SplitRequest,
  { familyIndex, quota }: { readonly familyIndex: number; readonly quota: number },
): TaskRequest[] {
  const tiers = tierQuotas(quota);
  const order = DIFFICULTIES.flatMap((tier) => Array<Difficulty>(tiers[tier]).fill(tier));
  new RandomStream(baseSeed, STREAM_V13, split, FAMILIES[familyIndex]!.key, "tiers").shuffle(order);
  const taken = { short: 0, medium: 0, long: 0 };
  return order.map((difficulty, ordinal) => {
    const lengths = TIER_LENGTHS[difficulty];
    const length = lengths[taken[difficulty]++ % lengths.length]!;
    return { split, baseSeed, familyIndex, ordinal, difficulty, length };
  });
}

/**
 * What a split will hold, before any task is made, family by family.
 *
 * @throws TracewrightError "bad_size" or "bad_seed"
 */
export function planSplit(request: SplitRequest): TaskRequest[] {
  checkRequest(request.size, request.baseSeed, request.split);
  return familyQuotas(request.size).flatMap((quota, familyIndex) =>
    planFamily(request, { familyIndex, quota })
  );
}

/** Which split, how many tasks, and the benchmark's seed. */
export interface SplitRequest {
  readonly split: Split;
  /** At least 1. */
  readonly size: number;
  /** An unsigned 32-bit number. */
  readonly baseSeed: number;
}

/**
 * Generates one split, task by task, sorted by case id: a large split is never in memory as a whole, and no more than the
 * plan of one family is.
 *
 * @returns frozen tasks
 * @throws TracewrightError "bad_size" or "bad_seed"
 */
export function* generateTasks(request: SplitRequest): Generator<WorkflowTask> {
  const { split, size, baseSeed } = request;
  checkRequest(size, baseSeed, split);
  // No key holds a hyphen, so the ids of a family stand together, where its key does among the keys with a hyphen each.
  const families = familyQuotas(size).map((quota, familyIndex) => ({
    quota,
    familyIndex,
    key: FAMILIES[familyIndex]!.key + "-",
  })).sort(by(({ key }) => key));
  for (const family of families) {
    const planned = planFamily(request, family).map((task) => ({ id: taskCaseId(task), task }));
    for (const { task } of planned.sort(by(({ id }) => id))) yield generateTaskV13(task);
  }
}

function by<T>(text: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0;
}

/** {@link generateTasks}, all at once. */
export function generateSplit(request: SplitRequest): WorkflowTask[] {
  return [...generateTasks(request)];
}

/**
 * Generates the three splits and checks that they share no case, entity or seed.
 *
 * @throws TracewrightError "bad_size", "bad_seed", "duplicate_in_split" or "split_overlap"
 */
export function generateBenchmark(
  { sizes, baseSeed }: { readonly sizes: SplitSizes; readonly baseSeed: number },
): Benchmark {
  // sizes first: a bad one should not be found after minutes of work on the others
  for (const split of SPLITS) checkRequest(sizes[split], baseSeed, split);
  const [train, dev, test] = [
    generateSplit({ split: "train", size: sizes.train, baseSeed }),
    generateSplit({ split: "dev", size: sizes.dev, baseSeed }),
    generateSplit({ split: "test", size: sizes.test, baseSeed }),
  ];
  checkSplitIsolation({ train, dev, test });
  return { train, dev, test };
}
