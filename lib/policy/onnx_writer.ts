import {
  ONNX_ELEMENT_TYPES,
  ONNX_IR_VERSION,
  ONNX_OPSET,
  type OnnxModel,
  type OnnxPort,
} from "./onnx_model.ts";

const encoder = new TextEncoder();
const VARINT = 0;
const LENGTH_DELIMITED = 2;
/** AttributeProto.AttributeType.INT */
const INT_ATTRIBUTE = 2;

/** Protobuf messages, written field by field in ascending order with minimal varints. */
class MessageWriter {
  #bytes = new Uint8Array(256);
  #length = 0;

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }

  #varint(value: number): void {
    this.#reserve(8);
    while (value > 127) {
      this.#bytes[this.#length++] = value % 128 + 128;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.#length++] = value;
  }

  integer(field: number, value: number): this {
    this.#varint(field * 8 + VARINT);
    this.#varint(value);
    return this;
  }

  bytes(field: number, content: Uint8Array): this {
    this.#varint(field * 8 + LENGTH_DELIMITED);
    this.#varint(content.length);
    this.#reserve(content.length);
    this.#bytes.set(content, this.#length);
    this.#length += content.length;
    return this;
  }

  text(field: number, value: string): this {
    return this.bytes(field, encoder.encode(value));
  }

  message(field: number, fill: (inner: MessageWriter) => void): this {
    const inner = new MessageWriter();
    fill(inner);
    return this.bytes(field, inner.#bytes.subarray(0, inner.#length));
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }
}

/** Doubles as TensorProto.raw_data wants them: little-endian whatever the machine. */
function littleEndian(data: Float64Array): Uint8Array {
  const bytes = new Uint8Array(data.length * 8);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < data.length; i++) view.setFloat64(i * 8, data[i]!, true);
  return bytes;
}

function writePort(out: MessageWriter, field: number, { name, type, dims }: OnnxPort): void {
  out.message(
    field,
    (info) =>
      info.text(1, name).message(
        2,
        (typeProto) =>
          typeProto.message(1, (tensor) =>
            tensor.integer(1, ONNX_ELEMENT_TYPES[type]).message(2, (shape) => {
              for (const dim of dims) {
                shape.message(1, (d) => typeof dim === "number" ? d.integer(1, dim) : d.text(2, dim));
              }
            })),
      ),
  );
}

/**
 * The one encoding of a graph as an ONNX file: ascending fields, minimal varints, raw little-endian tensors, nothing
 * optional. The same graph gives the same bytes everywhere. Field numbers: onnx.proto.
 */
export function writeOnnx(model: OnnxModel): Uint8Array<ArrayBuffer> {
  return new MessageWriter()
    .integer(1, ONNX_IR_VERSION)
    .message(7, (graph) => {
      for (const node of model.nodes) {
        graph.message(1, (out) => {
          for (const input of node.inputs) out.text(1, input);
          out.text(2, node.output).text(4, node.operator);
          const axis = node.axis;
          if (axis !== undefined) {
            out.message(
              5,
              (attribute) => attribute.text(1, "axis").integer(3, axis).integer(20, INT_ATTRIBUTE),
            );
          }
        });
      }
      graph.text(2, model.name);
      for (const tensor of model.tensors) {
        graph.message(5, (out) => {
          for (const dim of tensor.dims) out.integer(1, dim);
          out.integer(2, ONNX_ELEMENT_TYPES.float64).text(8, tensor.name).bytes(9, littleEndian(tensor.data));
        });
      }
      for (const port of model.inputs) writePort(graph, 11, port);
      for (const port of model.outputs) writePort(graph, 12, port);
    })
    .message(8, (opset) => opset.text(1, "").integer(2, ONNX_OPSET))
    .finish();
}
