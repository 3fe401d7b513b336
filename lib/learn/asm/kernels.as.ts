// The float32 kernels of training. Every address but `bytes` is an index of a float32 in the module's memory, and every
// matrix is row-major and dense; widths are multiples of 8 or 12. `../kernel_oracle.ts` is the same in plain
// TypeScript and must agree bit for bit: an operation order changed here is changed there, and changes checkpoints.
import { exp, ln } from "../../core/asm/numerics.as";
import { strips12, strips8 } from "./tiles.as";

export { exp, ln };

/** Rows of a tall matrix that are worked on together, so that they stay in the first-level cache. */
const BLOCK: i32 = 48;
/** Adam moments below this become zero: denormal numbers cost a hundred times as much, and a moment decays into them. */
const TINY_MOMENT: f32 = 1e-30;

/** First byte of the memory that is free for the caller. */
export function heapBase(): usize {
  return __heap_base;
}

// @ts-ignore: decorator
@inline
function block(
  rows: i32, cols: i32, depth: i32, a: usize, aRow: usize, aStep: usize, b: usize, c: usize, add: bool,
): void {
  if (cols % 12 == 0) strips12(rows, cols, depth, a, aRow, aStep, b, c, add);
  else strips8(rows, cols, depth, a, aRow, aStep, b, c, add);
}

/** C[rows, cols] = A[rows, depth] B[depth, cols], or += where `add` is not 0. */
export function matmul(rows: i32, cols: i32, depth: i32, a: usize, b: usize, c: usize, add: i32): void {
  const aRow = <usize>depth << 2, cRow = <usize>cols << 2;
  let ai = a << 2, ci = c << 2;
  for (let i = 0; i < rows; i += BLOCK) {
    block(min(BLOCK, rows - i), cols, depth, ai, aRow, 4, b << 2, ci, add != 0);
    ai += <usize>BLOCK * aRow;
    ci += <usize>BLOCK * cRow;
  }
}

/** C[depth, cols] = transpose(A[rows, depth]) B[rows, cols], or += where `add` is not 0: the gradient of weights. */
export function matmulTransposed(rows: i32, cols: i32, depth: i32, a: usize, b: usize, c: usize, add: i32): void {
  const aRow = <usize>depth << 2, bRow = <usize>cols << 2;
  let ai = a << 2, bi = b << 2;
  for (let i = 0; i < rows; i += BLOCK) {
    block(depth, cols, min(BLOCK, rows - i), ai, 4, aRow, bi, c << 2, add != 0 || i > 0);
    ai += <usize>BLOCK * aRow;
    bi += <usize>BLOCK * bRow;
  }
}

/** out[cols, rows] = transpose(x[rows, cols]) */
export function transpose(rows: i32, cols: i32, x: usize, out: usize): void {
  let p = x << 2;
  for (let r = 0; r < rows; r++) {
    let q = (out + r) << 2;
    for (let c = 0; c < cols; c++) {
      store<f32>(q, load<f32>(p));
      p += 4;
      q += <usize>rows << 2;
    }
  }
}

/** Every row of out[rows, cols] becomes row[cols]. */
export function fillRows(rows: i32, cols: i32, row: usize, out: usize): void {
  const size = <usize>cols << 2;
  let q = out << 2;
  for (let i = 0; i < rows; i++) {
    memory.copy(q, row << 2, size);
    q += size;
  }
}

/** x[n] becomes 0 where negative, in place; NaN stays NaN, so that it reaches the loss. */
export function relu(n: i32, x: usize): void {
  const zero = f32x4.splat(0);
  let p = x << 2;
  for (let i = 0; i < n; i += 4) {
    v128.store(p, f32x4.pmax(v128.load(p), zero));
    p += 16;
  }
}

/** gradient[n] becomes 0 where activation[n] is not positive. */
export function reluBackward(n: i32, activation: usize, gradient: usize): void {
  const zero = f32x4.splat(0);
  let p = gradient << 2, q = activation << 2;
  for (let i = 0; i < n; i += 4) {
    v128.store(p, v128.and(v128.load(p), f32x4.gt(v128.load(q), zero)));
    p += 16;
    q += 16;
  }
}

/** out[cols] += the sum of the rows of x[rows, cols], first row first. */
export function addRows(rows: i32, cols: i32, x: usize, out: usize): void {
  const row = <usize>cols << 2;
  for (let j: usize = 0; j < row; j += 16) {
    const q = (out << 2) + j;
    let p = (x << 2) + j;
    let sum = v128.load(q);
    for (let i = 0; i < rows; i++) {
      sum = f32x4.add(sum, v128.load(p));
      p += row;
    }
    v128.store(q, sum);
  }
}

/** out[rows, cols] = x[rows, cols] * row[cols] */
export function scaleColumns(rows: i32, cols: i32, x: usize, row: usize, out: usize): void {
  let p = x << 2, q = out << 2;
  for (let i = 0; i < rows; i++) {
    let r = row << 2;
    for (let j = 0; j < cols; j += 4) {
      v128.store(q, f32x4.mul(v128.load(p), v128.load(r)));
      p += 16;
      q += 16;
      r += 16;
    }
  }
}

// @ts-ignore: decorator
@inline
function laneSum(x: v128): f32 {
  return (f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 2)) + (f32x4.extract_lane(x, 1) + f32x4.extract_lane(x, 3));
}

/** out[rows] = x[rows, cols] . weight[cols] + bias[1]; four partial sums, one per column modulo 4. */
export function dotRows(rows: i32, cols: i32, x: usize, weight: usize, bias: usize, out: usize): void {
  const offset = load<f32>(bias << 2);
  let p = x << 2;
  for (let i = 0; i < rows; i++) {
    let w = weight << 2;
    let sum = f32x4.splat(0);
    for (let j = 0; j < cols; j += 4) {
      sum = f32x4.add(sum, f32x4.mul(v128.load(p), v128.load(w)));
      p += 16;
      w += 16;
    }
    store<f32>((out + i) << 2, offset + laneSum(sum));
  }
}

/**
 * Backward of relu, then dotRows. With g[rows] the gradient of its output and x[rows, cols] its input, which relu made:
 * dWeight[cols] += g x; dx[rows, cols] = g weight where x > 0, else 0; dSum[cols] = the column sums of dx.
 */
export function dotRowsBackward(
  rows: i32, cols: i32, x: usize, g: usize, weight: usize, dWeight: usize, dx: usize, dSum: usize,
): void {
  const zero = f32x4.splat(0), row = <usize>cols << 2;
  for (let j: usize = 0; j < row; j += 16) {
    const w = v128.load((weight << 2) + j);
    let dw = v128.load((dWeight << 2) + j), sum = zero;
    let p = (x << 2) + j, q = (dx << 2) + j, gi = g << 2;
    for (let i = 0; i < rows; i++) {
      const gv = v128.load32_splat(gi), xv = v128.load(p);
      dw = f32x4.add(dw, f32x4.mul(gv, xv));
      const d = v128.and(f32x4.mul(gv, w), f32x4.gt(xv, zero));
      v128.store(q, d);
      sum = f32x4.add(sum, d);
      p += row;
      q += row;
      gi += 4;
    }
    v128.store((dWeight << 2) + j, dw);
    v128.store((dSum << 2) + j, sum);
  }
}

/** out[width, width] = w + diag(s) wp: for one state, the action and product weights as one matrix. */
export function fold(width: i32, w: usize, wp: usize, s: usize, out: usize): void {
  let a = w << 2, b = wp << 2, q = out << 2, si = s << 2;
  for (let i = 0; i < width; i++) {
    const scale = v128.load32_splat(si);
    si += 4;
    for (let j = 0; j < width; j += 4) {
      v128.store(q, f32x4.add(v128.load(a), f32x4.mul(scale, v128.load(b))));
      a += 16;
      b += 16;
      q += 16;
    }
  }
}

/** out[width, width] = transpose(w + diag(s) wp), from the transposed w and wp. */
export function foldTransposed(width: i32, wT: usize, wpT: usize, s: usize, out: usize): void {
  let a = wT << 2, b = wpT << 2, q = out << 2;
  for (let i = 0; i < width; i++) {
    let sj = s << 2;
    for (let j = 0; j < width; j += 4) {
      v128.store(q, f32x4.add(v128.load(a), f32x4.mul(v128.load(sj), v128.load(b))));
      a += 16;
      b += 16;
      q += 16;
      sj += 16;
    }
  }
}

/** Backward of fold with dm[width, width]: dw += dm; dwp += diag(s) dm; ds[i] += dm[i] . wp[i]. */
export function foldBackward(width: i32, dm: usize, wp: usize, s: usize, dw: usize, dwp: usize, ds: usize): void {
  let m = dm << 2, b = wp << 2, p = dw << 2, q = dwp << 2;
  for (let i = 0; i < width; i++) {
    const scale = v128.load32_splat((s + i) << 2);
    let sum = f32x4.splat(0);
    for (let j = 0; j < width; j += 4) {
      const x = v128.load(m);
      v128.store(p, f32x4.add(v128.load(p), x));
      v128.store(q, f32x4.add(v128.load(q), f32x4.mul(scale, x)));
      sum = f32x4.add(sum, f32x4.mul(x, v128.load(b)));
      m += 16;
      b += 16;
      p += 16;
      q += 16;
    }
    const at = (ds + i) << 2;
    store<f32>(at, load<f32>(at) + laneSum(sum));
  }
}

/**
 * Backward of u and of the product s * u, where they went into two matrix products apart: with da[rows, cols] and
 * dp[rows, cols] the gradients of u and of s * u, du = da + dp s and ds[cols] += the column sums of dp u.
 */
export function productBackward(
  rows: i32, cols: i32, da: usize, dp: usize, u: usize, s: usize, du: usize, ds: usize,
): void {
  const row = <usize>cols << 2;
  for (let j: usize = 0; j < row; j += 16) {
    const scale = v128.load((s << 2) + j);
    let sum = v128.load((ds << 2) + j);
    let a = (da << 2) + j, b = (dp << 2) + j, p = (u << 2) + j, q = (du << 2) + j;
    for (let i = 0; i < rows; i++) {
      const x = v128.load(b);
      v128.store(q, f32x4.add(v128.load(a), f32x4.mul(x, scale)));
      sum = f32x4.add(sum, f32x4.mul(x, v128.load(p)));
      a += row;
      b += row;
      p += row;
      q += row;
    }
    v128.store((ds << 2) + j, sum);
  }
}

/**
 * Softmax over the slots of logits[n] whose byte in the mask is not 0, in double precision: the largest is subtracted,
 * the exponentials are summed in slot order. `out` is an index of float64: n probabilities, 0 for a masked slot.
 *
 * @returns the logarithm of the sum of exp(logit): a slot's log-probability is its logit minus this
 */
export function maskedSoftmax(n: i32, logits: usize, bytes: usize, out: usize): f64 {
  const l = logits << 2, q = out << 3;
  let maximum: f64 = -Infinity;
  for (let i: usize = 0; i < <usize>n; i++) {
    const x = <f64>load<f32>(l + (i << 2));
    if (load<u8>(bytes + i) != 0 && x > maximum) maximum = x;
  }
  let sum: f64 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    let e: f64 = 0;
    if (load<u8>(bytes + i) != 0) {
      e = exp(<f64>load<f32>(l + (i << 2)) - maximum);
      sum += e;
    }
    store<f64>(q + (i << 3), e);
  }
  for (let i: usize = 0; i < <usize>n; i++) store<f64>(q + (i << 3), load<f64>(q + (i << 3)) / sum);
  return ln(sum) + maximum;
}

/**
 * One step of Adam (Kingma and Ba 2015, algorithm 1) on n parameters, n a multiple of 4.
 *
 * @param rate the learning rate over 1 - beta1^t
 * @param correction 1 over 1 - beta2^t
 */
export function adam(
  n: i32, parameters: usize, gradient: usize, first: usize, second: usize,
  beta1: f32, beta2: f32, rate: f32, correction: f32, epsilon: f32,
): void {
  const b1 = f32x4.splat(beta1), b2 = f32x4.splat(beta2), a1 = f32x4.splat(1 - beta1), a2 = f32x4.splat(1 - beta2);
  const r = f32x4.splat(rate), k = f32x4.splat(correction), e = f32x4.splat(epsilon), tiny = f32x4.splat(TINY_MOMENT);
  let p = parameters << 2, d = gradient << 2, m = first << 2, v = second << 2;
  for (let i = 0; i < n; i += 4) {
    const g = v128.load(d);
    let mv = f32x4.add(f32x4.mul(b1, v128.load(m)), f32x4.mul(a1, g));
    let vv = f32x4.add(f32x4.mul(b2, v128.load(v)), f32x4.mul(a2, f32x4.mul(g, g)));
    mv = v128.and(mv, f32x4.ge(f32x4.abs(mv), tiny));
    vv = v128.and(vv, f32x4.ge(vv, tiny));
    v128.store(m, mv);
    v128.store(v, vv);
    const step = f32x4.div(f32x4.mul(r, mv), f32x4.add(f32x4.sqrt(f32x4.mul(k, vv)), e));
    v128.store(p, f32x4.sub(v128.load(p), step));
    p += 16;
    d += 16;
    m += 16;
    v += 16;
  }
}
