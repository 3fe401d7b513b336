// Register tiles of the matrix product. A tile holds `rows` x (8 or 12) elements of C in registers and walks the depth
// once, so every element of C is one sequential chain of multiply, then add: its bits depend on neither the tile's
// shape nor the blocking around it. No fused multiply-add and no relaxed SIMD, hence the same bits on every CPU.
//
// `rows` (1 to 4) and `wide` are literals at every call site; inlining folds the branches on them away.

// @ts-ignore: decorator
@inline
export function tile(
  rows: i32, wide: bool, depth: i32,
  a: usize, aRow: usize, aStep: usize, // bytes from one row of A to the next, and from one depth to the next
  b: usize, bRow: usize,
  c: usize, cRow: usize,
  add: bool,
): void {
  const zero = f32x4.splat(0);
  const c0 = c, c1 = c + cRow, c2 = c1 + cRow, c3 = c2 + cRow;
  let t00 = zero, t01 = zero, t02 = zero;
  let t10 = zero, t11 = zero, t12 = zero;
  let t20 = zero, t21 = zero, t22 = zero;
  let t30 = zero, t31 = zero, t32 = zero;
  if (add) {
    t00 = v128.load(c0); t01 = v128.load(c0, 16); if (wide) t02 = v128.load(c0, 32);
    if (rows > 1) { t10 = v128.load(c1); t11 = v128.load(c1, 16); if (wide) t12 = v128.load(c1, 32); }
    if (rows > 2) { t20 = v128.load(c2); t21 = v128.load(c2, 16); if (wide) t22 = v128.load(c2, 32); }
    if (rows > 3) { t30 = v128.load(c3); t31 = v128.load(c3, 16); if (wide) t32 = v128.load(c3, 32); }
  }
  let a0 = a, a1 = a + aRow, a2 = a1 + aRow, a3 = a2 + aRow;
  for (let k = depth; k > 0; k--) {
    const b0 = v128.load(b), b1 = v128.load(b, 16);
    let b2 = zero;
    if (wide) b2 = v128.load(b, 32);
    const x0 = v128.load32_splat(a0); a0 += aStep;
    t00 = f32x4.add(t00, f32x4.mul(x0, b0));
    t01 = f32x4.add(t01, f32x4.mul(x0, b1));
    if (wide) t02 = f32x4.add(t02, f32x4.mul(x0, b2));
    if (rows > 1) {
      const x1 = v128.load32_splat(a1); a1 += aStep;
      t10 = f32x4.add(t10, f32x4.mul(x1, b0));
      t11 = f32x4.add(t11, f32x4.mul(x1, b1));
      if (wide) t12 = f32x4.add(t12, f32x4.mul(x1, b2));
    }
    if (rows > 2) {
      const x2 = v128.load32_splat(a2); a2 += aStep;
      t20 = f32x4.add(t20, f32x4.mul(x2, b0));
      t21 = f32x4.add(t21, f32x4.mul(x2, b1));
      if (wide) t22 = f32x4.add(t22, f32x4.mul(x2, b2));
    }
    if (rows > 3) {
      const x3 = v128.load32_splat(a3); a3 += aStep;
      t30 = f32x4.add(t30, f32x4.mul(x3, b0));
      t31 = f32x4.add(t31, f32x4.mul(x3, b1));
      if (wide) t32 = f32x4.add(t32, f32x4.mul(x3, b2));
    }
    b += bRow;
  }
  v128.store(c0, t00); v128.store(c0, t01, 16); if (wide) v128.store(c0, t02, 32);
  if (rows > 1) { v128.store(c1, t10); v128.store(c1, t11, 16); if (wide) v128.store(c1, t12, 32); }
  if (rows > 2) { v128.store(c2, t20); v128.store(c2, t21, 16); if (wide) v128.store(c2, t22, 32); }
  if (rows > 3) { v128.store(c3, t30); v128.store(c3, t31, 16); if (wide) v128.store(c3, t32, 32); }
}

/** One block of rows of C, in strips of 12 columns. */
export function strips12(
  rows: i32, cols: i32, depth: i32, a: usize, aRow: usize, aStep: usize, b: usize, c: usize, add: bool,
): void {
  const row = <usize>cols << 2;
  const full = rows & ~3, rest = rows & 3;
  for (let j: usize = 0; j < row; j += 48) {
    const bj = b + j;
    let ai = a, ci = c + j;
    for (let i = 0; i < full; i += 4) {
      tile(4, true, depth, ai, aRow, aStep, bj, row, ci, row, add);
      ai += aRow << 2;
      ci += row << 2;
    }
    if (rest == 1) tile(1, true, depth, ai, aRow, aStep, bj, row, ci, row, add);
    else if (rest == 2) tile(2, true, depth, ai, aRow, aStep, bj, row, ci, row, add);
    else if (rest == 3) tile(3, true, depth, ai, aRow, aStep, bj, row, ci, row, add);
  }
}

/** The same in strips of 8 columns, for widths that 12 does not divide. */
export function strips8(
  rows: i32, cols: i32, depth: i32, a: usize, aRow: usize, aStep: usize, b: usize, c: usize, add: bool,
): void {
  const row = <usize>cols << 2;
  const full = rows & ~3, rest = rows & 3;
  for (let j: usize = 0; j < row; j += 32) {
    const bj = b + j;
    let ai = a, ci = c + j;
    for (let i = 0; i < full; i += 4) {
      tile(4, false, depth, ai, aRow, aStep, bj, row, ci, row, add);
      ai += aRow << 2;
      ci += row << 2;
    }
    if (rest == 1) tile(1, false, depth, ai, aRow, aStep, bj, row, ci, row, add);
    else if (rest == 2) tile(2, false, depth, ai, aRow, aStep, bj, row, ci, row, add);
    else if (rest == 3) tile(3, false, depth, ai, aRow, aStep, bj, row, ci, row, add);
  }
}
