import type { Kernels } from "./kernels.ts";

/** Indices into kernel memory of one dense layer at work on `rows` rows. */
export interface DenseForward {
  readonly rows: number;
  readonly inputs: number;
  readonly outputs: number;
  /** [rows, inputs] */
  readonly x: number;
  /** [inputs, outputs] */
  readonly weight: number;
  /** [outputs] */
  readonly bias: number;
  /** [rows, outputs] */
  readonly out: number;
}

/** out = relu(x weight + bias): the bias first, then one chain over the inputs. */
export function denseRelu(kernels: Kernels, layer: DenseForward): void {
  dense(kernels, layer);
  kernels.relu(layer.rows * layer.outputs, layer.out);
}

/** out = x weight + bias */
export function dense(kernels: Kernels, layer: DenseForward): void {
  const { rows, inputs, outputs, x, weight, bias, out } = layer;
  kernels.fillRows(rows, outputs, bias, out);
  kernels.matmul(rows, outputs, inputs, x, weight, out, 1);
}

/** Indices into kernel memory for the gradients of one dense layer's parameters. */
export interface DenseBackward {
  readonly rows: number;
  readonly inputs: number;
  readonly outputs: number;
  /** [rows, inputs] */
  readonly x: number;
  /** [rows, outputs], the gradient of the layer's output before relu */
  readonly dy: number;
  /** [inputs, outputs], added to */
  readonly dWeight: number;
  /** [outputs], added to */
  readonly dBias: number;
}

/** dWeight += transpose(x) dy; dBias += the column sums of dy. */
export function denseBackward(kernels: Kernels, layer: DenseBackward): void {
  const { rows, inputs, outputs, x, dy, dWeight, dBias } = layer;
  kernels.addRows(rows, outputs, dy, dBias);
  kernels.matmulTransposed(rows, outputs, inputs, x, dy, dWeight, 1);
}

/** The float32 sum of `n` numbers from index `x` on, one chain. */
export function chainSum(kernels: Kernels, { n, x }: { readonly n: number; readonly x: number }): number {
  let sum = 0;
  for (let i = x; i < x + n; i++) sum = Math.fround(sum + kernels.floats[i]!);
  return sum;
}
