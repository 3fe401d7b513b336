import { policyError } from "./_error.ts";
import type { OnnxModel, OnnxNode } from "./onnx_model.ts";

/** A value while a graph runs: a matrix, or a vector as one column. Constants of one row broadcast. */
export interface Matrix {
  readonly rows: number;
  readonly columns: number;
  readonly data: Float64Array;
}

/** What a graph is run on: matrices by name, and the one integer vector that Gather may index with. */
export interface GraphInputs {
  readonly matrices: Readonly<Record<string, Matrix>>;
  readonly indices: Readonly<Record<string, Int32Array>>;
}

/**
 * out = a b for row-major a [rows, inner] and b [inner, columns]. Tiles of 4 rows and 3 columns keep their sums in
 * registers; each sum runs over k in ascending order.
 */
function matMul(
  a: Float64Array,
  b: Float64Array,
  size: { rows: number; inner: number; columns: number },
): Float64Array {
  const { rows, inner, columns } = size;
  const out = new Float64Array(rows * columns);
  const tiledRows = rows - rows % 4;
  const tiledColumns = columns - columns % 3;
  for (let i = 0; i < tiledRows; i += 4) {
    const a0 = i * inner, a1 = a0 + inner, a2 = a1 + inner, a3 = a2 + inner;
    const o0 = i * columns, o1 = o0 + columns, o2 = o1 + columns, o3 = o2 + columns;
    for (let j = 0; j < tiledColumns; j += 3) {
      let s00 = 0, s01 = 0, s02 = 0, s10 = 0, s11 = 0, s12 = 0;
      let s20 = 0, s21 = 0, s22 = 0, s30 = 0, s31 = 0, s32 = 0;
      for (let k = 0, at = j; k < inner; k++, at += columns) {
        const b0 = b[at]!, b1 = b[at + 1]!, b2 = b[at + 2]!;
        let x = a[a0 + k]!;
        s00 += x * b0;
        s01 += x * b1;
        s02 += x * b2;
        x = a[a1 + k]!;
        s10 += x * b0;
        s11 += x * b1;
        s12 += x * b2;
        x = a[a2 + k]!;
        s20 += x * b0;
        s21 += x * b1;
        s22 += x * b2;
        x = a[a3 + k]!;
        s30 += x * b0;
        s31 += x * b1;
        s32 += x * b2;
      }
      out[o0 + j] = s00;
      out[o0 + j + 1] = s01;
      out[o0 + j + 2] = s02;
      out[o1 + j] = s10;
      out[o1 + j + 1] = s11;
      out[o1 + j + 2] = s12;
      out[o2 + j] = s20;
      out[o2 + j + 1] = s21;
      out[o2 + j + 2] = s22;
      out[o3 + j] = s30;
      out[o3 + j + 1] = s31;
      out[o3 + j + 2] = s32;
    }
  }
  for (let i = 0; i < rows; i++) {
    for (let j = i < tiledRows ? tiledColumns : 0; j < columns; j++) {
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += a[i * inner + k]! * b[k * columns + j]!;
      out[i * columns + j] = sum;
    }
  }
  return out;
}

/** Two matrices of the same shape, or the second one row or one number, which is repeated. */
function combine(node: OnnxNode, a: Matrix, b: Matrix): Matrix {
  const { data: x } = a;
  const { data: y } = b;
  const fits = y.length === 1 || (b.columns === a.columns && (b.rows === 1 || b.rows === a.rows));
  if (!fits) refuse(node, [[a.rows, a.columns], [b.rows, b.columns]]);
  const out = new Float64Array(x.length);
  const period = y.length;
  if (node.operator === "Add") {
    for (let i = 0, j = 0; i < out.length; i++) {
      out[i] = x[i]! + y[j]!;
      if (++j === period) j = 0;
    }
  } else {
    for (let i = 0, j = 0; i < out.length; i++) {
      out[i] = x[i]! * y[j]!;
      if (++j === period) j = 0;
    }
  }
  return { rows: a.rows, columns: a.columns, data: out };
}

function relu(data: Float64Array): Float64Array {
  const out = new Float64Array(data.length);
  for (let i = 0; i < out.length; i++) {
    const value = data[i]!;
    if (value > 0) out[i] = value;
  }
  return out;
}

function floor(data: Float64Array): Float64Array {
  const out = new Float64Array(data.length);
  for (let i = 0; i < out.length; i++) out[i] = Math.floor(data[i]!);
  return out;
}

function clip(data: Float64Array, { low, high }: { low: number; high: number }): Float64Array {
  const out = new Float64Array(data.length);
  for (let i = 0; i < out.length; i++) {
    const value = data[i]!;
    out[i] = value < low ? low : value > high ? high : value;
  }
  return out;
}

function gather(node: OnnxNode, { rows, columns, data }: Matrix, indices: Int32Array): Matrix {
  const out = new Float64Array(indices.length * columns);
  for (let i = 0; i < indices.length; i++) {
    const from = indices[i]!;
    if (from < 0 || from >= rows) refuse(node, { row: from, rows });
    out.set(data.subarray(from * columns, (from + 1) * columns), i * columns);
  }
  return { rows: indices.length, columns, data: out };
}

function concat(node: OnnxNode, parts: readonly Matrix[]): Matrix {
  const rows = parts[0]!.rows;
  const columns = parts.reduce((sum, part) => sum + part.columns, 0);
  const out = new Float64Array(rows * columns);
  let offset = 0;
  for (const part of parts) {
    if (part.rows !== rows) refuse(node, parts.map((p) => p.rows));
    for (let i = 0; i < rows; i++) {
      out.set(part.data.subarray(i * part.columns, (i + 1) * part.columns), i * columns + offset);
    }
    offset += part.columns;
  }
  return { rows, columns, data: out };
}

function refuse(node: OnnxNode, actual: unknown): never {
  throw policyError("runtime_failed", {
    message: "the operands of an operation do not fit",
    runtime: "reference",
    operator: node.operator,
    value: node.output,
    actual,
  });
}

/**
 * Runs a graph operation by operation in plain TypeScript: no code shared with ONNX Runtime, and none with the exporter
 * but the graph's own description.
 *
 * @returns every graph output, by name
 * @throws TracewrightError "runtime_failed" where operands do not fit
 */
export function interpret(model: OnnxModel, { matrices, indices }: GraphInputs): Record<string, Matrix> {
  const values = new Map<string, Matrix>(Object.entries(matrices));
  for (const { name, dims, data } of model.tensors) {
    const columns = dims.at(-1) ?? 1;
    values.set(name, { rows: data.length / columns, columns, data });
  }
  for (const node of model.nodes) {
    const operands = node.inputs.map((name) => values.get(name));
    const [a, b, c] = operands;
    if (a === undefined) refuse(node, node.inputs);
    let result: Matrix;
    switch (node.operator) {
      case "MatMul":
        if (b === undefined || a.columns !== b.rows) refuse(node, [a.columns, b?.rows]);
        result = {
          rows: a.rows,
          columns: b.columns,
          data: matMul(a.data, b.data, { rows: a.rows, inner: a.columns, columns: b.columns }),
        };
        break;
      case "Add":
      case "Mul":
        if (b === undefined) refuse(node, node.inputs);
        result = combine(node, a, b);
        break;
      case "Relu":
        result = { ...a, data: relu(a.data) };
        break;
      case "Floor":
        result = { ...a, data: floor(a.data) };
        break;
      case "Clip":
        if (b?.data.length !== 1 || c?.data.length !== 1) refuse(node, node.inputs);
        result = { ...a, data: clip(a.data, { low: b.data[0]!, high: c.data[0]! }) };
        break;
      case "Gather": {
        const index = node.inputs[1] === undefined ? undefined : indices[node.inputs[1]];
        if (index === undefined || node.axis !== 0) refuse(node, node.inputs);
        result = gather(node, a, index);
        break;
      }
      case "Concat":
        if (node.axis !== 1) refuse(node, node.axis);
        result = concat(node, operands.map((part) => part ?? refuse(node, node.inputs)));
        break;
    }
    values.set(node.output, result);
  }
  return Object.fromEntries(model.outputs.map(({ name }) => [name, values.get(name)!]));
}
