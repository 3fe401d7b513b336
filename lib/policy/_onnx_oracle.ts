/** ONNX files by another hand, for the tests: the generated protobuf classes of `onnx-buf`. */
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  type AttributeProtoSchema,
  type GraphProtoSchema,
  ModelProtoSchema,
  type TensorProtoSchema,
  type ValueInfoProtoSchema,
} from "onnx-buf";
import { ONNX_ELEMENT_TYPES, type OnnxModel, type OnnxPort, type OnnxTensor } from "./onnx_model.ts";

type TensorInit = MessageInitShape<typeof TensorProtoSchema>;
/** What a GraphProto is made from: the plain object, not a finished message. */
export type GraphInit = Exclude<MessageInitShape<typeof GraphProtoSchema>, { readonly $typeName: string }>;
/** What a ModelProto is made from. */
export type ModelInit = Exclude<MessageInitShape<typeof ModelProtoSchema>, { readonly $typeName: string }>;

const INT_ATTRIBUTE = 2;

/** Doubles as raw_data. */
export function rawDoubles(...values: number[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(values.length * 8);
  const view = new DataView(bytes.buffer);
  values.forEach((value, i) => view.setFloat64(i * 8, value, true));
  return bytes;
}

/** The integer attribute `axis`. */
export function axisAttribute(axis: number): MessageInitShape<typeof AttributeProtoSchema> {
  return { name: "axis", i: BigInt(axis), type: INT_ATTRIBUTE };
}

/** A tensor-typed graph input or output. */
export function portInit({ name, type, dims }: OnnxPort): MessageInitShape<typeof ValueInfoProtoSchema> {
  const dim = dims.map((d) => ({
    value: typeof d === "number"
      ? { case: "dimValue" as const, value: BigInt(d) }
      : { case: "dimParam" as const, value: d },
  }));
  return {
    name,
    type: { value: { case: "tensorType", value: { elemType: ONNX_ELEMENT_TYPES[type], shape: { dim } } } },
  };
}

function tensorInit({ name, dims, data }: OnnxTensor): TensorInit {
  return {
    name,
    dims: dims.map(BigInt),
    dataType: ONNX_ELEMENT_TYPES.float64,
    rawData: rawDoubles(...data),
  };
}

/** A whole graph, as `writeOnnx` should encode it. */
export function modelInit(model: OnnxModel): ModelInit & { graph: GraphInit } {
  return {
    irVersion: 8n,
    opsetImport: [{ domain: "", version: 17n }],
    graph: {
      name: model.name,
      node: model.nodes.map(({ operator, inputs, output, axis }) => ({
        opType: operator,
        input: [...inputs],
        output: [output],
        attribute: axis === undefined ? [] : [axisAttribute(axis)],
      })),
      initializer: model.tensors.map(tensorInit),
      input: model.inputs.map(portInit),
      output: model.outputs.map(portInit),
    },
  };
}

/** The bytes of a ModelProto. */
export function encodeModel(init: ModelInit): Uint8Array {
  return toBinary(ModelProtoSchema, create(ModelProtoSchema, init));
}
