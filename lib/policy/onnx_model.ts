/**
 * The subset of ONNX that exists here: float64 tensors, eight operators with one output each, two element types for
 * inputs. Source: onnx.proto (IR version 8) and the operator documents of opset 17.
 */
export const ONNX_IR_VERSION = 8;
export const ONNX_OPSET = 17;

/** Operators, how many inputs each takes (from, to), and whether it carries the attribute `axis`. */
export const ONNX_OPERATORS = {
  MatMul: { inputs: [2, 2], axis: false },
  Add: { inputs: [2, 2], axis: false },
  Mul: { inputs: [2, 2], axis: false },
  Relu: { inputs: [1, 1], axis: false },
  Floor: { inputs: [1, 1], axis: false },
  Clip: { inputs: [3, 3], axis: false },
  Gather: { inputs: [2, 2], axis: true },
  Concat: { inputs: [2, 4], axis: true },
} as const;
export type OnnxOperator = keyof typeof ONNX_OPERATORS;

/** One operation. `axis` is present exactly where the operator carries it. */
export interface OnnxNode {
  readonly operator: OnnxOperator;
  readonly inputs: readonly string[];
  readonly output: string;
  readonly axis?: number;
}

/** A constant; scalars have no dimensions. */
export interface OnnxTensor {
  readonly name: string;
  readonly dims: readonly number[];
  readonly data: Float64Array;
}

/** ONNX numbers of the element types in use. */
export const ONNX_ELEMENT_TYPES = { float64: 11, int32: 6 } as const;
export type OnnxElementType = keyof typeof ONNX_ELEMENT_TYPES;

/** A graph input or output. A string dimension is a free size such as "N". */
export interface OnnxPort {
  readonly name: string;
  readonly type: OnnxElementType;
  readonly dims: readonly (number | string)[];
}

/** A graph; nodes stand in an order in which every input is already defined. */
export interface OnnxModel {
  readonly name: string;
  readonly nodes: readonly OnnxNode[];
  readonly tensors: readonly OnnxTensor[];
  readonly inputs: readonly OnnxPort[];
  readonly outputs: readonly OnnxPort[];
}
