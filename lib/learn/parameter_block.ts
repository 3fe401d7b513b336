import { type Digest, digestOf } from "../core/digest.ts";
import { learnError } from "./_error.ts";
import type { KernelArena } from "./arena.ts";

/** One weight matrix [inputs, outputs] or bias row [1, outputs], row-major, at `offset` in the parameters. */
export interface ParameterEntry {
  readonly name: string;
  readonly rows: number;
  readonly cols: number;
  readonly offset: number;
}

/** The named parts of a network's parameters, back to back. */
export type ParameterLayout = readonly ParameterEntry[];

/** Lays parts out back to back, in the order given. */
export function parameterLayout(
  parts: readonly (readonly [name: string, rows: number, cols: number])[],
): ParameterLayout {
  let offset = 0;
  return parts.map(([name, rows, cols]) => {
    const entry = { name, rows, cols, offset };
    offset += rows * cols;
    return entry;
  });
}

/** Number of float32 in a layout. */
export function parameterCount(layout: ParameterLayout): number {
  const last = layout.at(-1);
  return last === undefined ? 0 : last.offset + last.rows * last.cols;
}

/** The parameters of one network and their gradient, in kernel memory. */
export class ParameterBlock {
  readonly layout: ParameterLayout;
  /** Number of parameters. */
  readonly size: number;
  /** Number of float32 from `start` on that a kernel may work on: `size` up to a multiple of 4. */
  readonly span: number;
  /** Index in kernel memory of the first parameter, and of the first entry of the gradient. */
  readonly start: number;
  readonly gradientStart: number;
  readonly arena: KernelArena;

  constructor(arena: KernelArena, layout: ParameterLayout) {
    this.arena = arena;
    this.layout = layout;
    this.size = parameterCount(layout);
    this.span = (this.size + 3) & ~3;
    this.start = arena.allocate(this.span);
    this.gradientStart = arena.allocate(this.span);
    arena.floats.fill(0, this.start, this.start + this.span);
    this.clearGradient();
  }

  /** Index in kernel memory of a part's first parameter. */
  at(name: string): number {
    return this.start + this.#entry(name).offset;
  }

  /** Index in kernel memory of a part's gradient. */
  gradientAt(name: string): number {
    return this.gradientStart + this.#entry(name).offset;
  }

  #entry(name: string): ParameterEntry {
    const entry = this.layout.find((part) => part.name === name);
    if (entry === undefined) throw learnError("bad_shape", { message: "no such part", actual: name });
    return entry;
  }

  /** A copy of the parameters, shape [size]. */
  get(): Float32Array<ArrayBuffer> {
    return this.arena.floats.slice(this.start, this.start + this.size);
  }

  /**
   * Replaces the parameters.
   *
   * @throws TracewrightError "bad_shape" for another length, "non_finite" for NaN or an infinity
   */
  set(values: Float32Array): void {
    if (values.length !== this.size) {
      throw learnError("bad_shape", {
        message: "another number of parameters",
        expected: this.size,
        actual: values.length,
      });
    }
    const bad = values.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0) throw learnError("non_finite", { parameter: bad, actual: values[bad] });
    this.arena.floats.set(values, this.start);
  }

  /** The live gradient, shape [size]. */
  get gradient(): Float32Array<ArrayBuffer> {
    return this.arena.floats.subarray(this.gradientStart, this.gradientStart + this.size);
  }

  clearGradient(): void {
    this.arena.floats.fill(0, this.gradientStart, this.gradientStart + this.span);
  }
}

/** Parameters as bytes: float32, little-endian, on any machine. */
export function parameterBytes(parameters: Float32Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parameters.length * 4);
  const view = new DataView(bytes.buffer);
  parameters.forEach((value, i) => view.setFloat32(i * 4, value, true));
  return bytes;
}

/** The content address of {@link parameterBytes}. */
export function parameterDigest(parameters: Float32Array): Digest {
  return digestOf(parameterBytes(parameters));
}

/** Euclidean distance between two parameter vectors, in double precision, summed from the first entry on. */
export function l2Delta({ from, to }: { readonly from: Float32Array; readonly to: Float32Array }): number {
  if (from.length !== to.length) throw learnError("bad_shape", { expected: from.length, actual: to.length });
  let sum = 0;
  for (let i = 0; i < from.length; i++) {
    const d = to[i]! - from[i]!;
    sum += d * d;
  }
  return Math.sqrt(sum);
}
