import type { RandomStream } from "../core/random_stream.ts";

/**
 * A random semi-orthogonal matrix times `gain` (Saxe et al. 2014): normal numbers, then modified Gram-Schmidt in double
 * precision, rounded once. The shorter side gives the number of vectors; they are drawn one after the other, and the
 * matrix holds them as columns when it is tall, as rows when it is wide.
 *
 * @returns shape [rows, cols], row-major
 */
export function orthogonal(
  { rows, cols, gain, stream }: {
    readonly rows: number;
    readonly cols: number;
    readonly gain: number;
    readonly stream: RandomStream;
  },
): Float32Array {
  const tall = rows >= cols;
  const length = tall ? rows : cols;
  const basis: Float64Array[] = [];
  for (let v = 0; v < (tall ? cols : rows); v++) {
    const vector = Float64Array.from({ length }, () => stream.normal());
    for (const earlier of basis) {
      let projection = 0;
      for (let i = 0; i < length; i++) projection += vector[i]! * earlier[i]!;
      for (let i = 0; i < length; i++) vector[i] = vector[i]! - projection * earlier[i]!;
    }
    let squares = 0;
    for (let i = 0; i < length; i++) squares += vector[i]! * vector[i]!;
    const norm = Math.sqrt(squares);
    for (let i = 0; i < length; i++) vector[i] = vector[i]! / norm;
    basis.push(vector);
  }
  const out = new Float32Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) out[r * cols + c] = gain * (tall ? basis[c]![r]! : basis[r]![c]!);
  }
  return out;
}
