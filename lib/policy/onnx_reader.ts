import { policyError } from "./_error.ts";
import { type FieldRule, ProtobufReader } from "./_protobuf_reader.ts";
import {
  ONNX_ELEMENT_TYPES,
  ONNX_IR_VERSION,
  ONNX_OPERATORS,
  ONNX_OPSET,
  type OnnxElementType,
  type OnnxModel,
  type OnnxNode,
  type OnnxOperator,
  type OnnxPort,
  type OnnxTensor,
} from "./onnx_model.ts";

/** What a file may hold at most, so that reading it costs little whatever it says. */
export const ONNX_LIMITS = {
  bytes: 4 * 1024 * 1024,
  nodes: 64,
  tensors: 32,
  ports: 4,
  /** Dimensions of a tensor or a port. */
  dims: 2,
  /** Elements of one tensor. */
  elements: 2 ** 18,
} as const;

function many<T>(list: T[], item: T, limit: number, what: string): void {
  if (list.length >= limit) {
    throw policyError("onnx_too_many", { what, expected: `at most ${limit}`, actual: list.length + 1 });
  }
  list.push(item);
}

const varint = (read: (value: number) => void): FieldRule => ({
  wire: "varint",
  read: (reader) => read(reader.varint()),
});
const text = (read: (value: string) => void): FieldRule => ({
  wire: "length",
  read: (reader) => read(reader.name()),
});
const inner = (read: (reader: ProtobufReader) => void): FieldRule => ({
  wire: "length",
  read: (reader) => read(reader.inner()),
});
const repeated = (rule: FieldRule): FieldRule => ({ ...rule, repeated: true });

/** AttributeProto: the integer `axis`, 0 or 1. */
function readAxis(reader: ProtobufReader): number {
  let name = "";
  let value: number | undefined;
  let type = 0;
  reader.message({
    1: text((v) => name = v),
    3: varint((v) => value = v),
    20: varint((v) => type = v),
  });
  if (name !== "axis" || type !== 2 || (value !== 0 && value !== 1)) {
    throw policyError("onnx_bad_operator", {
      message: "the only attribute is the integer axis, 0 or 1",
      expected: ["axis", 2, "0 or 1"],
      actual: [name, type, value ?? null],
    });
  }
  return value;
}

function isOperator(name: string): name is OnnxOperator {
  return Object.hasOwn(ONNX_OPERATORS, name);
}

/** NodeProto: inputs, one output, an operator of the list, its axis. No domain, no name, no documentation. */
function readNode(reader: ProtobufReader): OnnxNode {
  const inputs: string[] = [];
  const outputs: string[] = [];
  const axes: number[] = [];
  let operator = "";
  reader.message({
    1: repeated(text((v) => many(inputs, v, 4, "inputs of a node"))),
    2: repeated(text((v) => many(outputs, v, 1, "outputs of a node"))),
    4: text((v) => operator = v),
    5: repeated(inner((r) => many(axes, readAxis(r), 1, "attributes of a node"))),
  });
  if (!isOperator(operator)) {
    throw policyError("onnx_bad_operator", { expected: Object.keys(ONNX_OPERATORS), actual: operator });
  }
  const { inputs: [fewest, most], axis: wantsAxis } = ONNX_OPERATORS[operator];
  const [output] = outputs;
  const [axis] = axes;
  if (
    output === undefined || inputs.length < fewest || inputs.length > most ||
    wantsAxis !== (axis !== undefined)
  ) {
    throw policyError("onnx_bad_operator", {
      message: "wrong number of inputs, outputs or attributes",
      operator,
      expected: [fewest, most, 1, wantsAxis ? 1 : 0],
      actual: [inputs.length, outputs.length, axes.length],
    });
  }
  return { operator, inputs, output, ...(axis === undefined ? {} : { axis }) };
}

/** TensorProto: dimensions, float64, a name, raw bytes of exactly the right size. No external data, no segments. */
function readTensor(reader: ProtobufReader): OnnxTensor {
  const dims: number[] = [];
  let type = 0;
  let name = "";
  let raw: Uint8Array | undefined;
  reader.message({
    1: repeated(varint((v) => many(dims, v, ONNX_LIMITS.dims, "dimensions of a tensor"))),
    2: varint((v) => type = v),
    8: text((v) => name = v),
    9: { wire: "length", read: (r) => raw = r.content() },
  });
  if (type !== ONNX_ELEMENT_TYPES.float64) {
    throw policyError("onnx_bad_type", { tensor: name, expected: ONNX_ELEMENT_TYPES.float64, actual: type });
  }
  const elements = dims.reduce((product, dim) => product * dim, 1);
  if (raw === undefined || !(elements <= ONNX_LIMITS.elements) || raw.length !== elements * 8) {
    throw policyError("onnx_bad_tensor", {
      message: "dimensions and raw data of a tensor must agree and stay within the limit",
      tensor: name,
      expected: `${dims.join(" x ")} doubles, at most ${ONNX_LIMITS.elements}`,
      actual: `${raw?.length ?? "no"} bytes`,
    });
  }
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  const data = new Float64Array(elements);
  for (let i = 0; i < elements; i++) data[i] = view.getFloat64(i * 8, true);
  return { name, dims, data };
}

function elementType(value: number): OnnxElementType {
  for (const [name, number] of Object.entries(ONNX_ELEMENT_TYPES)) {
    if (number === value) return name as OnnxElementType;
  }
  throw policyError("onnx_bad_type", { expected: ONNX_ELEMENT_TYPES, actual: value });
}

/** ValueInfoProto of a tensor with a shape. */
function readPort(reader: ProtobufReader): OnnxPort {
  let name = "";
  let type: OnnxElementType | undefined;
  const dims: (number | string)[] = [];
  const dimension = (r: ProtobufReader) => {
    const parts: (number | string)[] = [];
    r.message({ 1: varint((v) => parts.push(v)), 2: text((v) => parts.push(v)) });
    const [dim] = parts;
    if (dim === undefined || parts.length !== 1) {
      throw policyError("onnx_bad_type", {
        message: "a dimension is a number or a name",
        port: name,
        expected: "one of them",
        actual: parts,
      });
    }
    many(dims, dim, ONNX_LIMITS.dims, "dimensions of a port");
  };
  reader.message({
    1: text((v) => name = v),
    2: inner((typeProto) =>
      typeProto.message({
        1: inner((tensor) =>
          tensor.message({
            1: varint((v) => type = elementType(v)),
            2: inner((shape) => shape.message({ 1: repeated(inner(dimension)) })),
          })
        ),
      })
    ),
  });
  if (type === undefined) {
    throw policyError("onnx_bad_type", { port: name, expected: "a tensor type", actual: "none" });
  }
  return { name, type, dims };
}

/** Every name is defined once, before it is used. */
function checkNames({ inputs, tensors, nodes, outputs }: OnnxModel): void {
  const known = new Set<string>();
  const define = (name: string) => {
    if (name === "" || known.has(name)) {
      throw policyError("onnx_bad_graph", {
        message: "a value is empty or defined twice",
        expected: "a name of its own",
        actual: name,
      });
    }
    known.add(name);
  };
  const use = (name: string) => {
    if (!known.has(name)) {
      throw policyError("onnx_bad_graph", {
        message: "a value is not defined",
        expected: "a name defined before",
        actual: name,
      });
    }
  };
  for (const { name } of inputs) define(name);
  for (const { name } of tensors) define(name);
  for (const node of nodes) {
    node.inputs.forEach(use);
    define(node.output);
  }
  const named = new Set<string>();
  for (const { name } of outputs) {
    use(name);
    if (named.has(name)) {
      throw policyError("onnx_bad_graph", {
        message: "an output comes twice",
        expected: "each output once",
        actual: name,
      });
    }
    named.add(name);
  }
}

/**
 * Reads an ONNX file of the subset that `writeOnnx` writes, and nothing else: no external data, functions, subgraphs,
 * sparse tensors, metadata, other operators, other domains or other versions. It allocates no more than the file's
 * own size allows. A file that passes is not yet trusted; see `admit`.
 *
 * @throws TracewrightError with a code that starts with `onnx_`
 */
export function readOnnx(bytes: Uint8Array): OnnxModel {
  if (bytes.length > ONNX_LIMITS.bytes) {
    throw policyError("onnx_too_large", {
      expected: `at most ${ONNX_LIMITS.bytes} bytes`,
      actual: bytes.length,
    });
  }
  const nodes: OnnxNode[] = [];
  const tensors: OnnxTensor[] = [];
  const inputs: OnnxPort[] = [];
  const outputs: OnnxPort[] = [];
  let name = "";
  let irVersion = 0;
  let opset = 0;
  let domain: string | undefined;
  new ProtobufReader(bytes, 0, bytes.length).message({
    1: varint((v) => irVersion = v),
    7: inner((graph) =>
      graph.message({
        1: repeated(inner((r) => many(nodes, readNode(r), ONNX_LIMITS.nodes, "nodes"))),
        2: text((v) => name = v),
        5: repeated(inner((r) => many(tensors, readTensor(r), ONNX_LIMITS.tensors, "tensors"))),
        11: repeated(inner((r) => many(inputs, readPort(r), ONNX_LIMITS.ports, "inputs"))),
        12: repeated(inner((r) => many(outputs, readPort(r), ONNX_LIMITS.ports, "outputs"))),
      })
    ),
    8: inner((r) => r.message({ 1: text((v) => domain = v), 2: varint((v) => opset = v) })),
  });
  if (irVersion !== ONNX_IR_VERSION || opset !== ONNX_OPSET || domain !== "") {
    throw policyError("onnx_bad_version", {
      message: "IR version, operator set version, operator domain",
      expected: [ONNX_IR_VERSION, ONNX_OPSET, ""],
      actual: [irVersion, opset, domain],
    });
  }
  const model = { name, nodes, tensors, inputs, outputs };
  checkNames(model);
  return model;
}
