/**
 * The exact `exp` and `ln` of the project and what is built on them. The platform's own `Math.exp` and `Math.log`
 * may differ by a unit in the last place between engines; these are WebAssembly, pinned by their bytes.
 */
import { exp, ln } from "./numerics.wasm";

export { exp, ln };

/**
 * 1 / (1 + e^-x), without overflow for large |x|.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { exp, ln, sigmoid } from "./numerics.ts";
 *
 * assert.equal(ln(exp(1)), 1);
 * assert.equal(sigmoid(0), 0.5);
 * ```
 */
export function sigmoid(x: number): number {
  if (x >= 0) return 1 / (1 + exp(-x));
  const e = exp(x);
  return e / (1 + e);
}

/**
 * Natural logarithms of the softmax of `logits` over the selectable slots. The maximum is subtracted first and the
 * exponentials are summed in slot order, so the result is one defined sequence of operations.
 *
 * @param logits shape [A]
 * @param mask shape [A]; a false slot gets -Infinity. At least one must be true.
 * @returns shape [A]
 */
export function logSoftmax(logits: ArrayLike<number>, mask: ArrayLike<boolean>): Float64Array {
  let maximum = -Infinity;
  for (let i = 0; i < logits.length; i++) if (mask[i] && logits[i]! > maximum) maximum = logits[i]!;
  let sum = 0;
  for (let i = 0; i < logits.length; i++) if (mask[i]) sum += exp(logits[i]! - maximum);
  const normaliser = ln(sum) + maximum;
  const out = new Float64Array(logits.length).fill(-Infinity);
  for (let i = 0; i < logits.length; i++) if (mask[i]) out[i] = logits[i]! - normaliser;
  return out;
}

/** The lowest index of the largest selectable value; -1 where nothing is selectable. */
export function argmax(values: ArrayLike<number>, mask: ArrayLike<boolean>): number {
  let best = -1;
  for (let i = 0; i < values.length; i++) {
    if (mask[i] && (best < 0 || values[i]! > values[best]!)) best = i;
  }
  return best;
}
