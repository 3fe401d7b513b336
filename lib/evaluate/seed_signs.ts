import type { PairedTable } from "./paired_table.ts";
import { rational } from "./rational.ts";
import { type ExactTest, smallestSignP } from "./seed_sign_flip.ts";

/** How many seeds favour which variant, and whether that could be chance. */
export interface SeedSigns extends ExactTest {
  readonly positive: number;
  readonly negative: number;
  readonly zero: number;
}

/**
 * Exact two-sided sign test over seeds: with n seeds that differ and k of the rarer sign, p = min(1, 2 sum_{i <= k} C(n, i)
 * / 2^n). Seeds without a difference are left out. Source: Dixon and Mood 1946, "The statistical sign test".
 */
export function seedSigns({ seedSums }: PairedTable): SeedSigns {
  const positive = seedSums.filter((difference) => difference > 0).length;
  const negative = seedSums.filter((difference) => difference < 0).length;
  const n = positive + negative;
  let ways = 0n;
  let choose = 1n; // C(n, i)
  for (let i = 0; i <= Math.min(positive, negative); i++) {
    ways += choose;
    choose = choose * BigInt(n - i) / BigInt(i + 1);
  }
  const all = 2n ** BigInt(n);
  return {
    positive,
    negative,
    zero: seedSums.length - n,
    p_value: 2n * ways >= all ? rational(1, 1) : rational(2n * ways, all),
    smallest_attainable_p: smallestSignP(n),
  };
}
