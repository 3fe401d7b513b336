import type { KernelArena } from "./arena.ts";

/** A gradient below this becomes zero: a peaked softmax would otherwise fill the matrices with denormal numbers. */
const TINY_GRADIENT = 1e-18;

/** The softmax of one decision. */
export interface MaskedSoftmax {
  /** Shape [A], 0 where masked; a view that the next softmax overwrites. */
  readonly probabilities: Float64Array;
  /** ln of the sum of exp(logit) over the unmasked candidates; log-probability = logit - normaliser. */
  readonly normaliser: number;
}

/**
 * What a network's last layer gave for a batch, and where the gradient of a loss with respect to it goes. A loss reads
 * `logits` and `values` and sets gradients; those it does not set are 0.
 */
export class Head {
  /** Shape [N + 1], from 0. */
  readonly offsets: Int32Array;
  /** Shape [M]. */
  readonly logits: Float32Array;
  /** Shape [N]. */
  readonly values: Float32Array;
  /** Index in kernel memory of the gradients of the logits [M] and of the values [N]. */
  readonly logitGradient: number;
  readonly valueGradient: number;
  readonly #arena: KernelArena;
  readonly #logits: number;
  readonly #maskBytes: number;
  readonly #probabilities: number;

  /** @param at indices in kernel memory of logits [M] and values [N] */
  constructor(
    arena: KernelArena,
    { offsets, logits, values }: {
      readonly offsets: Int32Array;
      readonly logits: number;
      readonly values: number;
    },
  ) {
    const n = offsets.length - 1;
    const m = offsets[n]!;
    let largest = 0;
    for (let d = 0; d < n; d++) largest = Math.max(largest, offsets[d + 1]! - offsets[d]!);
    this.#arena = arena;
    this.offsets = offsets;
    this.#logits = logits;
    this.logits = arena.floats.subarray(logits, logits + m);
    this.values = arena.floats.subarray(values, values + n);
    this.logitGradient = arena.allocate(m);
    this.valueGradient = arena.allocate(n);
    arena.floats.fill(0, this.logitGradient, this.logitGradient + m);
    arena.floats.fill(0, this.valueGradient, this.valueGradient + n);
    this.#maskBytes = arena.allocate(Math.ceil(largest / 4)) * 4;
    this.#probabilities = arena.allocate(largest * 2) / 2;
  }

  /** Number of decisions. */
  get decisions(): number {
    return this.offsets.length - 1;
  }

  /** The softmax of one decision over the candidates whose entry in `mask`, shape [M], is not 0. */
  softmax(decision: number, mask: Uint8Array): MaskedSoftmax {
    const first = this.offsets[decision]!;
    const n = this.offsets[decision + 1]! - first;
    const { kernels } = this.#arena;
    for (let i = 0; i < n; i++) kernels.bytes[this.#maskBytes + i] = mask[first + i]!;
    const normaliser = kernels.maskedSoftmax(n, this.#logits + first, this.#maskBytes, this.#probabilities);
    const probabilities = kernels.doubles.subarray(this.#probabilities, this.#probabilities + n);
    return { probabilities, normaliser };
  }

  /** Sets d loss / d logit of a candidate, an index into `logits`. */
  setLogitGradient(candidate: number, gradient: number): void {
    this.#arena.floats[this.logitGradient + candidate] = withoutTail(gradient);
  }

  /** Sets d loss / d value of a decision. */
  setValueGradient(decision: number, gradient: number): void {
    this.#arena.floats[this.valueGradient + decision] = withoutTail(gradient);
  }
}

/** A loss: reads a head and sets gradients on it. */
export type Objective = (head: Head) => void;

function withoutTail(gradient: number): number {
  return Math.abs(gradient) < TINY_GRADIENT ? 0 : gradient;
}
