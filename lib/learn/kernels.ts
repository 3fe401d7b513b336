import * as module from "./kernels.wasm";

/**
 * The float32 kernels of training and the memory they work in. Addresses are indices into `floats`; where a name says
 * so, into `doubles` or `bytes`. Matrices are row-major and dense. What each kernel computes, operation by operation,
 * is written in `kernel_oracle.ts`; the WebAssembly module gives the same bits.
 */
export interface Kernels {
  /** The memory as float32, float64 and bytes: one buffer of fixed size. */
  readonly floats: Float32Array<ArrayBuffer>;
  readonly doubles: Float64Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** First index of `floats` that is free, a multiple of 16. */
  readonly base: number;

  matmul(rows: number, cols: number, depth: number, a: number, b: number, c: number, add: number): void;
  matmulTransposed(
    rows: number,
    cols: number,
    depth: number,
    a: number,
    b: number,
    c: number,
    add: number,
  ): void;
  transpose(rows: number, cols: number, x: number, out: number): void;
  fillRows(rows: number, cols: number, row: number, out: number): void;
  relu(n: number, x: number): void;
  reluBackward(n: number, activation: number, gradient: number): void;
  addRows(rows: number, cols: number, x: number, out: number): void;
  scaleColumns(rows: number, cols: number, x: number, row: number, out: number): void;
  dotRows(rows: number, cols: number, x: number, weight: number, bias: number, out: number): void;
  dotRowsBackward(
    rows: number,
    cols: number,
    x: number,
    g: number,
    weight: number,
    dWeight: number,
    dx: number,
    dSum: number,
  ): void;
  fold(width: number, w: number, wp: number, s: number, out: number): void;
  foldTransposed(width: number, wT: number, wpT: number, s: number, out: number): void;
  foldBackward(width: number, dm: number, wp: number, s: number, dw: number, dwp: number, ds: number): void;
  productBackward(
    rows: number,
    cols: number,
    da: number,
    dp: number,
    u: number,
    s: number,
    du: number,
    ds: number,
  ): void;
  /** `bytes` and `out` index the byte and the float64 view. */
  maskedSoftmax(n: number, logits: number, bytes: number, out: number): number;
  adam(
    n: number,
    parameters: number,
    gradient: number,
    first: number,
    second: number,
    beta1: number,
    beta2: number,
    rate: number,
    correction: number,
    epsilon: number,
  ): void;
}

const buffer = (module.memory as WebAssembly.Memory).buffer as ArrayBuffer;

/**
 * The compiled kernels. A realm (a page, a worker) has one instance, so one memory; {@link KernelArena} sees to it that
 * it has one holder at a time.
 */
export const wasmKernels: Kernels = {
  floats: new Float32Array(buffer),
  doubles: new Float64Array(buffer),
  bytes: new Uint8Array(buffer),
  base: ((module.heapBase() + 63) & ~63) >> 2,
  matmul: module.matmul,
  matmulTransposed: module.matmulTransposed,
  transpose: module.transpose,
  fillRows: module.fillRows,
  relu: module.relu,
  reluBackward: module.reluBackward,
  addRows: module.addRows,
  scaleColumns: module.scaleColumns,
  dotRows: module.dotRows,
  dotRowsBackward: module.dotRowsBackward,
  fold: module.fold,
  foldTransposed: module.foldTransposed,
  foldBackward: module.foldBackward,
  productBackward: module.productBackward,
  maskedSoftmax: module.maskedSoftmax,
  adam: module.adam,
};
