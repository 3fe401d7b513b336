import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plusFromState } from "pure-rand/generator/xoroshiro128plus";
import type { RandomGenerator } from "pure-rand/types/RandomGenerator";
import { canonicalJson } from "./canonical_json.ts";
import { sha256Hex } from "./digest.ts";
import { TracewrightError } from "./error.ts";
import { ln } from "./numerics.ts";

/** Schema of the hashed path below a seed root; part of every derived stream. */
const SCHEMA = "tracewright.stream.v1";

/** A step of the path that names a stream, e.g. `"rollout"`, 3, `"case-17"`. */
export type StreamName = string | number;

/**
 * A named stream of random numbers. A stream is derived from a seed root and a path of names by hashing, never by
 * adding to a seed, so streams with different names are independent and adding one moves no other.
 * Generator: xoroshiro128+ of `pure-rand`, its state the first four big-endian int32 of
 * SHA-256(canonical [schema, root, ...names]).
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { RandomStream } from "./random_stream.ts";
 *
 * const draw = (...names: string[]) => new RandomStream(17, ...names).integer(1_000_000);
 * assert.equal(draw("rollout", "case-1"), draw("rollout", "case-1"));
 * assert.notEqual(draw("rollout", "case-1"), draw("rollout", "case-2"));
 * ```
 */
export class RandomStream {
  readonly #generator: RandomGenerator;

  constructor(root: number, ...names: readonly StreamName[]) {
    if (!Number.isSafeInteger(root)) {
      throw new TracewrightError<"core", "bad_seed">("bad_seed", {
        expected: "a safe integer",
        actual: root,
      });
    }
    const hex = sha256Hex(canonicalJson([SCHEMA, root, ...names]));
    const word = (index: number) => Number.parseInt(hex.slice(8 * index, 8 * index + 8), 16) | 0;
    this.#generator = xoroshiro128plusFromState([word(0), word(1), word(2), word(3)]);
  }

  /** A multiple of 2^-53 in [0, 1). */
  uniform(): number {
    return uniformFloat64(this.#generator);
  }

  /** An unbiased integer in [0, below). */
  integer(below: number): number {
    if (!Number.isSafeInteger(below) || below < 1) {
      throw new TracewrightError<"core", "bad_range">("bad_range", {
        expected: "a positive integer",
        actual: below,
      });
    }
    return uniformInt(this.#generator, 0, below - 1);
  }

  /** One element, each equally likely. */
  pick<T>(items: readonly T[]): T {
    return items[this.integer(items.length)]!;
  }

  /** Fisher-Yates, in place, from the last position down; returns its argument. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      const held = items[i]!;
      items[i] = items[j]!;
      items[j] = held;
    }
    return items;
  }

  /** The numbers 0 to n - 1 in random order. */
  permutation(n: number): Int32Array {
    const order = Int32Array.from({ length: n }, (_, i) => i);
    for (let i = n - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      const held = order[i]!;
      order[i] = order[j]!;
      order[j] = held;
    }
    return order;
  }

  /** A standard normal number by Marsaglia's polar method (1964), with the project's own `ln`; the twin is dropped. */
  normal(): number {
    for (;;) {
      const x = 2 * this.uniform() - 1;
      const y = 2 * this.uniform() - 1;
      const s = x * x + y * y;
      if (s > 0 && s < 1) return x * Math.sqrt(-2 * ln(s) / s);
    }
  }
}
