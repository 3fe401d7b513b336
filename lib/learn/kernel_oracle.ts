import { exp, ln } from "../core/numerics.ts";
import type { Kernels } from "./kernels.ts";

const f32 = Math.fround;
/** As in the module: an Adam moment below this becomes zero. */
const TINY_MOMENT = f32(1e-30);

/**
 * The definition of the training kernels, in plain TypeScript: every float32 operation rounded once with `Math.fround`,
 * every sum one chain in the order written. About twenty times slower than the WebAssembly module, which must give the
 * same bits. For tests and for readers.
 */
export class KernelOracle implements Kernels {
  readonly floats: Float32Array<ArrayBuffer>;
  readonly doubles: Float64Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly base = 0;

  /** @param floats size of the memory in float32, a multiple of 2 */
  constructor(floats: number) {
    const buffer = new ArrayBuffer(floats * 4);
    this.floats = new Float32Array(buffer);
    this.doubles = new Float64Array(buffer);
    this.bytes = new Uint8Array(buffer);
  }

  /** C[rows, cols] = A[rows, depth] B[depth, cols], or += where `add` is not 0; each element one chain over depth. */
  matmul(rows: number, cols: number, depth: number, a: number, b: number, c: number, add: number): void {
    for (let i = 0; i < rows; i++) this.#rowOfProduct(cols, depth, a + i * depth, 1, b, c + i * cols, add);
  }

  /** C[depth, cols] = transpose(A[rows, depth]) B[rows, cols], or +=; each element one chain over rows. */
  matmulTransposed(
    rows: number,
    cols: number,
    depth: number,
    a: number,
    b: number,
    c: number,
    add: number,
  ): void {
    for (let i = 0; i < depth; i++) this.#rowOfProduct(cols, rows, a + i, depth, b, c + i * cols, add);
  }

  #rowOfProduct(
    cols: number,
    depth: number,
    a: number,
    aStep: number,
    b: number,
    c: number,
    add: number,
  ): void {
    const x = this.floats;
    if (add === 0) x.fill(0, c, c + cols);
    for (let k = 0; k < depth; k++) {
      const left = x[a + k * aStep]!;
      const row = b + k * cols;
      for (let j = 0; j < cols; j++) x[c + j] = f32(x[c + j]! + f32(left * x[row + j]!));
    }
  }

  /** out[cols, rows] = transpose(x[rows, cols]) */
  transpose(rows: number, cols: number, x: number, out: number): void {
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++) this.floats[out + c * rows + r] = this.floats[x + r * cols + c]!;
    }
  }

  /** Every row of out[rows, cols] becomes row[cols]. */
  fillRows(rows: number, cols: number, row: number, out: number): void {
    for (let i = 0; i < rows; i++) this.floats.copyWithin(out + i * cols, row, row + cols);
  }

  /** x[n] becomes 0 where negative, in place; NaN stays NaN, so that it reaches the loss. */
  relu(n: number, x: number): void {
    for (let i = x; i < x + n; i++) if (this.floats[i]! < 0) this.floats[i] = 0;
  }

  /** gradient[n] becomes 0 where activation[n] is not positive. */
  reluBackward(n: number, activation: number, gradient: number): void {
    for (let i = 0; i < n; i++) if (!(this.floats[activation + i]! > 0)) this.floats[gradient + i] = 0;
  }

  /** out[cols] += the sum of the rows of x[rows, cols], first row first. */
  addRows(rows: number, cols: number, x: number, out: number): void {
    const v = this.floats;
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < cols; j++) v[out + j] = f32(v[out + j]! + v[x + i * cols + j]!);
    }
  }

  /** out[rows, cols] = x[rows, cols] * row[cols] */
  scaleColumns(rows: number, cols: number, x: number, row: number, out: number): void {
    const v = this.floats;
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < cols; j++) v[out + i * cols + j] = f32(v[x + i * cols + j]! * v[row + j]!);
    }
  }

  /** A dot product in four partial sums, one per column modulo 4, added as (0 + 2) + (1 + 3). */
  #dot(cols: number, x: number, y: number): number {
    const v = this.floats;
    const sum = [0, 0, 0, 0];
    for (let j = 0; j < cols; j++) sum[j & 3] = f32(sum[j & 3]! + f32(v[x + j]! * v[y + j]!));
    return f32(f32(sum[0]! + sum[2]!) + f32(sum[1]! + sum[3]!));
  }

  /** out[rows] = x[rows, cols] . weight[cols] + bias[1] */
  dotRows(rows: number, cols: number, x: number, weight: number, bias: number, out: number): void {
    for (let i = 0; i < rows; i++) {
      this.floats[out + i] = f32(this.floats[bias]! + this.#dot(cols, x + i * cols, weight));
    }
  }

  /**
   * Backward of relu, then dotRows. With g[rows] the gradient of its output and x[rows, cols] its input, which relu
   * made: dWeight[cols] += g x; dx[rows, cols] = g weight where x > 0, else 0; dSum[cols] = the column sums of dx.
   */
  dotRowsBackward(
    rows: number,
    cols: number,
    x: number,
    g: number,
    weight: number,
    dWeight: number,
    dx: number,
    dSum: number,
  ): void {
    const v = this.floats;
    v.fill(0, dSum, dSum + cols);
    for (let i = 0; i < rows; i++) {
      const gi = v[g + i]!;
      for (let j = 0; j < cols; j++) {
        const xi = v[x + i * cols + j]!;
        v[dWeight + j] = f32(v[dWeight + j]! + f32(gi * xi));
        const d = xi > 0 ? f32(gi * v[weight + j]!) : 0;
        v[dx + i * cols + j] = d;
        v[dSum + j] = f32(v[dSum + j]! + d);
      }
    }
  }

  /** out[width, width] = w + diag(s) wp */
  fold(width: number, w: number, wp: number, s: number, out: number): void {
    const v = this.floats;
    for (let i = 0; i < width; i++) {
      for (let j = i * width; j < (i + 1) * width; j++) {
        v[out + j] = f32(v[w + j]! + f32(v[s + i]! * v[wp + j]!));
      }
    }
  }

  /** out[width, width] = transpose(w + diag(s) wp), from the transposed w and wp. */
  foldTransposed(width: number, wT: number, wpT: number, s: number, out: number): void {
    const v = this.floats;
    for (let i = 0; i < width; i++) {
      for (let j = 0; j < width; j++) {
        const at = i * width + j;
        v[out + at] = f32(v[wT + at]! + f32(v[s + j]! * v[wpT + at]!));
      }
    }
  }

  /** Backward of fold with dm[width, width]: dw += dm; dwp += diag(s) dm; ds[i] += dm[i] . wp[i]. */
  foldBackward(width: number, dm: number, wp: number, s: number, dw: number, dwp: number, ds: number): void {
    const v = this.floats;
    for (let i = 0; i < width; i++) {
      for (let j = i * width; j < (i + 1) * width; j++) {
        v[dw + j] = f32(v[dw + j]! + v[dm + j]!);
        v[dwp + j] = f32(v[dwp + j]! + f32(v[s + i]! * v[dm + j]!));
      }
      v[ds + i] = f32(v[ds + i]! + this.#dot(width, dm + i * width, wp + i * width));
    }
  }

  /** du = da + dp s; ds[cols] += the column sums of dp u; da, dp, u and du of shape [rows, cols]. */
  productBackward(
    rows: number,
    cols: number,
    da: number,
    dp: number,
    u: number,
    s: number,
    du: number,
    ds: number,
  ): void {
    const v = this.floats;
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < cols; j++) {
        const at = i * cols + j;
        const d = v[dp + at]!;
        v[ds + j] = f32(v[ds + j]! + f32(d * v[u + at]!));
        v[du + at] = f32(v[da + at]! + f32(d * v[s + j]!));
      }
    }
  }

  /** Softmax of the slots whose mask byte is not 0, in double precision; returns ln of the sum of exp(logit). */
  maskedSoftmax(n: number, logits: number, bytes: number, out: number): number {
    let maximum = -Infinity;
    for (let i = 0; i < n; i++) {
      if (this.bytes[bytes + i] !== 0 && this.floats[logits + i]! > maximum) {
        maximum = this.floats[logits + i]!;
      }
    }
    let sum = 0;
    for (let i = 0; i < n; i++) {
      const e = this.bytes[bytes + i] !== 0 ? exp(this.floats[logits + i]! - maximum) : 0;
      sum += e;
      this.doubles[out + i] = e;
    }
    for (let i = 0; i < n; i++) this.doubles[out + i] = this.doubles[out + i]! / sum;
    return ln(sum) + maximum;
  }

  /** One step of Adam (Kingma and Ba 2015, algorithm 1); `rate` and `correction` already hold beta^t. */
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
  ): void {
    const v = this.floats;
    const b1 = f32(beta1), b2 = f32(beta2), a1 = f32(1 - b1), a2 = f32(1 - b2);
    const r = f32(rate), k = f32(correction), e = f32(epsilon);
    for (let i = 0; i < n; i++) {
      const g = v[gradient + i]!;
      let m = f32(f32(b1 * v[first + i]!) + f32(a1 * g));
      let s = f32(f32(b2 * v[second + i]!) + f32(a2 * f32(g * g)));
      if (!(Math.abs(m) >= TINY_MOMENT)) m = 0;
      if (!(s >= TINY_MOMENT)) s = 0;
      v[first + i] = m;
      v[second + i] = s;
      v[parameters + i] = f32(v[parameters + i]! - f32(f32(r * m) / f32(f32(Math.sqrt(f32(k * s))) + e)));
    }
  }
}
