import { RandomStream } from "../core/random_stream.ts";
import type { PairedTable } from "./paired_table.ts";

/** Name of the stream of flips below the bootstrap root, for more cases than are enumerated. */
export const CASE_SIGN_FLIP_STREAM = "paired_case_sign_flip";

/** A p value over cases, and how it was found. */
export interface CaseSignFlip {
  readonly method: "exact" | "monte_carlo";
  /** Two-sided. Never below {@link SMALLEST_P}, which then is an upper bound. */
  readonly p_value: number;
  /** Cases whose differences do not cancel over seeds; only they can be flipped to effect. */
  readonly flipped_cases: number;
  /** Null when exact. */
  readonly samples: number | null;
}

/** The smallest normal double: what smaller probabilities are written as. */
export const SMALLEST_P = 2.2250738585072014e-308;

/** Additions beyond which the exact distribution is sampled instead; about a second. */
const EXACT_WORK = 1_000_000_000;

/**
 * P(X <= limit) of X = sum of magnitudes times fair coins, by adding one magnitude at a time to the distribution. Only sums
 * of non-negative numbers and halvings: the relative error is below n 2^-52.
 */
function lowerTail(magnitudes: readonly number[], limit: number): number {
  const chance = new Float64Array(limit + 1);
  chance[0] = 1;
  let reach = 0;
  for (const k of magnitudes) {
    reach = Math.min(limit, reach + k);
    for (let x = reach; x >= k; x--) chance[x] = (chance[x]! + chance[x - k]!) / 2;
    for (let x = Math.min(k - 1, reach); x >= 0; x--) chance[x]! /= 2;
  }
  let sum = 0;
  for (const value of chance) sum += value;
  return sum;
}

function bitCount(word: number): number {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Heads of n fair coins, 32 coins a draw. */
function heads(stream: RandomStream, n: number): number {
  let sum = 0;
  for (let left = n; left > 0; left -= 32) {
    const word = stream.integer(0x1_0000_0000);
    sum += bitCount(left >= 32 ? word : word & (2 ** left - 1));
  }
  return sum;
}

function sampledP(
  magnitudes: readonly number[],
  { observed, samples, seed }: { readonly observed: number; readonly samples: number; readonly seed: number },
): number {
  const stream = new RandomStream(seed, CASE_SIGN_FLIP_STREAM);
  const counts = new Map<number, number>(); // magnitudes ascend, and so do the keys
  for (const k of magnitudes) counts.set(k, (counts.get(k) ?? 0) + 1);
  let extreme = 0;
  for (let sample = 0; sample < samples; sample++) {
    let sum = 0;
    for (const [k, n] of counts) sum += k * (2 * heads(stream, n) - n);
    if (Math.abs(sum) >= observed) extreme++;
  }
  // The observed signs are one of the flips (Phipson and Smyth 2010).
  return (extreme + 1) / (samples + 1);
}

/**
 * Sign-flip test over cases, two-sided: all seeds of a case are flipped together, so they are never taken for independent.
 * Exact, over all 2^n flips, by convolution; sampled only where that would take seconds (tens of thousands of cases).
 * Its population is new cases for these trained seeds: it says nothing about seeds that were not trained, and where seeds
 * differ it is far too sure for that.
 *
 * @param settings for sampling: how often, below which root, and from how much exact work on (a test lowers it)
 */
export function caseSignFlip(
  { caseSums, total }: PairedTable,
  { samples, seed, exactWork = EXACT_WORK }: {
    readonly samples: number;
    readonly seed: number;
    readonly exactWork?: number;
  },
): CaseSignFlip {
  const magnitudes = [...caseSums].filter((sum) => sum !== 0).map(Math.abs).sort((a, b) => a - b);
  const flipped_cases = magnitudes.length;
  const observed = Math.abs(total);
  if (observed === 0) return { method: "exact", p_value: 1, flipped_cases, samples: null };
  const limit = (magnitudes.reduce((sum, k) => sum + k, 0) - observed) / 2;
  if (limit * flipped_cases >= exactWork) {
    const p_value = sampledP(magnitudes, { observed, samples, seed });
    return { method: "monte_carlo", p_value, flipped_cases, samples };
  }
  const p_value = Math.min(1, Math.max(SMALLEST_P, 2 * lowerTail(magnitudes, limit)));
  return { method: "exact", p_value, flipped_cases, samples: null };
}
