/**
 * How many tasks of which length a split holds. Integer arithmetic throughout.
 * Source: protocol/benchmark-v1.3.md section 2.
 */
import type { Difficulty } from "../world/contracts.ts";
import { FAMILIES } from "./families.ts";

/** Shares of the tiers in tenths, in the order in which ties of the largest remainder are settled. */
const TIERS: readonly (readonly [Difficulty, number])[] = [["medium", 4], ["short", 3], ["long", 3]];

/** Lengths a tier cycles through. */
export const TIER_LENGTHS: Readonly<Record<Difficulty, readonly number[]>> = {
  short: [6, 7, 8],
  medium: [9, 10, 11],
  long: [12, 13, 14, 15],
};

/** Tasks of each family, shape [10]: equal shares, the remainder one each to the lowest indices. */
export function familyQuotas(size: number): number[] {
  const share = Math.floor(size / FAMILIES.length);
  return FAMILIES.map((_, i) => share + (i < size % FAMILIES.length ? 1 : 0));
}

/** Tasks of each tier among `size` of one family: 30/40/30 by largest remainder; ties go medium, short, long. */
export function tierQuotas(size: number): Record<Difficulty, number> {
  const quotas = { short: 0, medium: 0, long: 0 };
  let left = size;
  for (const [tier, tenths] of TIERS) {
    quotas[tier] = Math.floor(size * tenths / 10);
    left -= quotas[tier];
  }
  // a stable sort keeps the order of TIERS among equal remainders
  const byRemainder = [...TIERS].sort((a, b) => (size * b[1]) % 10 - (size * a[1]) % 10);
  for (const [tier] of byRemainder.slice(0, left)) quotas[tier] += 1;
  return quotas;
}
