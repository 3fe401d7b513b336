import { learnError } from "./_error.ts";
import { type Kernels, wasmKernels } from "./kernels.ts";

/** Memories that have a holder. */
const held = new WeakSet<Kernels>();

/**
 * The holder of a kernel memory, which it hands out from low to high. What lives as long as the arena (parameters,
 * gradients, moments) is allocated first; what lives for one call (activations) is allocated in {@link scoped}, which
 * gives it back. A realm has one WebAssembly memory, hence one live arena: networks that live together share it, and
 * disposing of it ends them all.
 *
 * @example
 * ```ts
 * import { KernelArena } from "./arena.ts";
 * using arena = new KernelArena();
 * const a = arena.allocate(100);
 * arena.floats.fill(1, a, a + 100);
 * ```
 */
export class KernelArena implements Disposable {
  readonly kernels: Kernels;
  #top: number;
  #live = true;

  /**
   * @param kernels the compiled kernels, or an oracle in a test
   * @throws TracewrightError "arena_busy" while another arena holds the same memory
   */
  constructor(kernels: Kernels = wasmKernels) {
    if (held.has(kernels)) {
      throw learnError("arena_busy", {
        message: "the memory of the training kernels has a holder",
        hint: "share its arena, or dispose of it first",
      });
    }
    held.add(kernels);
    this.kernels = kernels;
    this.#top = kernels.base;
  }

  /** The memory as float32. */
  get floats(): Float32Array<ArrayBuffer> {
    return this.kernels.floats;
  }

  /**
   * Room for `size` float32 on a cache line of its own; holds whatever was there before.
   *
   * @returns an index into {@link floats}, a multiple of 16
   * @throws TracewrightError "arena_exhausted", "arena_closed"
   */
  allocate(size: number): number {
    if (!this.#live) {
      throw learnError("arena_closed", { hint: "use a network before its arena is disposed of" });
    }
    const at = this.#top;
    const top = at + ((size + 15) & ~15);
    if (top > this.kernels.floats.length) {
      throw learnError("arena_exhausted", {
        message: "the training kernels have a fixed memory",
        expected: `at most ${this.kernels.floats.length - at} float32`,
        actual: size,
        hint: "use smaller mini-batches",
      });
    }
    this.#top = top;
    return at;
  }

  /** Runs `work`, then takes back everything that it allocated. */
  scoped<T>(work: () => T): T {
    const top = this.#top;
    try {
      return work();
    } finally {
      this.#top = top;
    }
  }

  [Symbol.dispose](): void {
    if (!this.#live) return;
    this.#live = false;
    held.delete(this.kernels);
  }
}
