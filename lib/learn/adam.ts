import { learnError } from "./_error.ts";
import type { ParameterBlock } from "./parameter_block.ts";

/** Settings of {@link Adam}; the defaults are the paper's. */
export interface AdamOptions {
  readonly learningRate: number;
  readonly beta1?: number;
  readonly beta2?: number;
  readonly epsilon?: number;
}

/**
 * Adam (Kingma and Ba 2015, algorithm 1) in float32. The powers beta^t are iterated products, because `Math.pow` is not
 * specified to the bit; moments below 1e-30 become zero, because denormal numbers are slow.
 */
export class Adam {
  readonly #block: ParameterBlock;
  readonly #options: Required<AdamOptions>;
  readonly #first: number;
  readonly #second: number;
  #power1 = 1;
  #power2 = 1;

  /** @throws TracewrightError "bad_option" for a learning rate that is not finite and positive */
  constructor(block: ParameterBlock, options: AdamOptions) {
    if (!(options.learningRate > 0 && options.learningRate < Infinity)) {
      throw learnError("bad_option", {
        option: "learningRate",
        expected: "> 0",
        actual: options.learningRate,
      });
    }
    this.#block = block;
    this.#options = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, ...options };
    this.#first = block.arena.allocate(block.span);
    this.#second = block.arena.allocate(block.span);
    block.arena.floats.fill(0, this.#first, this.#first + block.span);
    block.arena.floats.fill(0, this.#second, this.#second + block.span);
  }

  /** One step along the block's gradient. */
  step(): void {
    const { learningRate, beta1, beta2, epsilon } = this.#options;
    const { arena, span, start, gradientStart } = this.#block;
    this.#power1 *= beta1;
    this.#power2 *= beta2;
    arena.kernels.adam(
      span,
      start,
      gradientStart,
      this.#first,
      this.#second,
      beta1,
      beta2,
      learningRate / (1 - this.#power1),
      1 / (1 - this.#power2),
      epsilon,
    );
  }

  /** Copies of the two moments, each of shape [size]. */
  moments(): { readonly first: Float32Array; readonly second: Float32Array } {
    const { arena, size } = this.#block;
    return {
      first: arena.floats.slice(this.#first, this.#first + size),
      second: arena.floats.slice(this.#second, this.#second + size),
    };
  }
}
