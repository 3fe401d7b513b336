import { evaluateError } from "./_error.ts";
import type { PairedTable } from "./paired_table.ts";
import { type Rational, rational } from "./rational.ts";

/** A test with an exact p value. */
export interface ExactTest {
  readonly p_value: Rational;
  /** The smallest p that any signs could have given with so many non-zero differences; above 0.05 it cannot be significant. */
  readonly smallest_attainable_p: Rational;
}

/** More seeds than this would need more than a million flips. */
export const MAX_FLIPPED_SEEDS = 20;

/** 2 / 2^n: all of n signs alike, either way; 1 for n = 0. */
export function smallestSignP(nonZero: number): Rational {
  return rational(1, 2n ** BigInt(Math.max(0, nonZero - 1)));
}

/**
 * Exact sign-flip test over seeds, two-sided: of all 2^S ways to swap the variants within seeds, the share whose mean
 * difference is at least as far from zero. Its population is newly trained seeds on these cases; it assumes nothing but that
 * without an effect the two variants of a seed could be exchanged. Source: Fisher 1935, The Design of Experiments, section 21.
 *
 * @throws TracewrightError "too_many_seeds" beyond {@link MAX_FLIPPED_SEEDS}
 */
export function seedSignFlip({ seedSums, total }: PairedTable): ExactTest {
  const count = seedSums.length;
  if (count > MAX_FLIPPED_SEEDS) {
    throw evaluateError("too_many_seeds", {
      expected: `at most ${MAX_FLIPPED_SEEDS} seeds`,
      actual: count,
      hint: "use the sign test, or the interval over seeds and cases",
    });
  }
  const observed = Math.abs(total);
  const flips = 2 ** count;
  const sign = new Int8Array(count).fill(1);
  let sum = total;
  let extreme = 0;
  // A Gray code changes one sign from each flip to the next: the lowest set bit of its number.
  for (let flip = 1; flip <= flips; flip++) {
    if (Math.abs(sum) >= observed) extreme++;
    const which = 31 - Math.clz32(flip & -flip);
    if (which >= count) break;
    sum -= 2 * sign[which]! * seedSums[which]!;
    sign[which] = -sign[which]!;
  }
  return {
    p_value: rational(extreme, flips),
    smallest_attainable_p: smallestSignP(seedSums.filter((difference) => difference !== 0).length),
  };
}
