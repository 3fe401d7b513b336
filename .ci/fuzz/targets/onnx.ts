import assert from "node:assert/strict";
import { fromBinary } from "@bufbuild/protobuf";
import { ModelProtoSchema } from "onnx-buf";
import type { RandomStream } from "../../../lib/core/random_stream.ts";
import { TracewrightError } from "../../../lib/core/error.ts";
import { admit, type AdmittedGraph } from "../../../lib/policy/admission.ts";
import { writeExactNetwork } from "../../../lib/policy/exact_graph.ts";
import {
  actorCriticShapes,
  ESTIMATOR_HIDDEN,
  estimatorShapes,
  type ExactLayer,
  type LayerShape,
} from "../../../lib/policy/exact_network.ts";
import type { OnnxModel, OnnxTensor } from "../../../lib/policy/onnx_model.ts";
import { ONNX_LIMITS, readOnnx } from "../../../lib/policy/onnx_reader.ts";
import { writeOnnx } from "../../../lib/policy/onnx_writer.ts";
import { openReference } from "../../../lib/policy/reference_runtime.ts";
import { equalBytes } from "../equal_bytes.ts";
import { EDGE_INTEGERS, mutateBytes } from "../mutate_bytes.ts";
import { type MessageShape, mutateProtobuf } from "../mutate_protobuf.ts";
import { target } from "../target.ts";

/** What the reader, the way back to a network, and the proof may say. */
const CODES = [
  "onnx_too_large",
  "onnx_truncated",
  "onnx_bad_varint",
  "onnx_wire_type",
  "onnx_unknown_field",
  "onnx_field_order",
  "onnx_bad_name",
  "onnx_bad_type",
  "onnx_bad_tensor",
  "onnx_bad_operator",
  "onnx_bad_version",
  "onnx_too_many",
  "onnx_bad_graph",
  "graph_not_ours",
  "graph_not_canonical",
  "bad_network_shape",
  "off_grid",
  "weight_out_of_range",
  "bias_out_of_range",
  "proof_constant",
  "proof_operator",
  "proof_bound",
  "proof_negative_zero",
];

/** Fields of ONNX that are messages (onnx.proto). */
const PORT: MessageShape = { 2: { 1: { 2: { 1: {} } } } };
const MODEL: MessageShape = { 7: { 1: { 5: {} }, 5: {}, 11: PORT, 12: PORT }, 8: {} };

const SIZES = { stateWidth: 3, actionWidth: 5, hidden: 2 };

function layersOf<Name extends string>(shapes: Record<Name, LayerShape>): Record<Name, ExactLayer> {
  const numbers = (length: number, times: number) =>
    Float64Array.from({ length }, (_, i) => (i * 7919 % 201 - 100) * times + 1);
  return Object.fromEntries(
    Object.entries<LayerShape>(shapes).map(([name, [inputs, outputs]]) => [name, {
      name,
      inputs,
      outputs,
      weights: numbers(inputs * outputs, 500),
      bias: numbers(outputs, 1e5),
    }]),
  ) as Record<Name, ExactLayer>;
}

const SEEDS = [
  writeExactNetwork({ kind: "actor_critic", ...SIZES, layers: layersOf(actorCriticShapes(SIZES)) }),
  writeExactNetwork({ kind: "actor_critic", ...SIZES, layers: layersOf(actorCriticShapes(SIZES)) }),
  writeExactNetwork({
    kind: "estimator",
    stateWidth: 1,
    hidden: ESTIMATOR_HIDDEN,
    layers: layersOf(estimatorShapes(1)),
  }),
];

/** A sound graph of other widths, with data of the size that follows, as far as that is bounded. */
function resized(model: OnnxModel, random: RandomStream): OnnxModel {
  const hidden = random.pick([SIZES.hidden, 0, 1, 256, 257, 2 ** 17, ...EDGE_INTEGERS]);
  const width = (now: number) => random.pick([now, 0, 1, 256, 257, 2 ** 16]);
  const sizes = new Map([
    [SIZES.stateWidth, width(SIZES.stateWidth)],
    [SIZES.actionWidth, width(SIZES.actionWidth)],
    [SIZES.hidden, hidden],
    [2 * SIZES.hidden, random.pick([2 * hidden, 2 * SIZES.hidden])],
    [ESTIMATOR_HIDDEN, width(ESTIMATOR_HIDDEN)],
  ]);
  const size = <Dim>(dim: Dim) => typeof dim === "number" ? sizes.get(dim) ?? dim : dim;
  let left: number = ONNX_LIMITS.elements + 64;
  const tensors = model.tensors.flatMap((tensor): OnnxTensor[] => {
    const dims = tensor.dims.map(size) as number[];
    const elements = dims.reduce((product, dim) => product * dim, 1);
    if (elements > left) return []; // the file has no room for it
    left -= elements;
    const data = new Float64Array(elements);
    data.set(tensor.data.subarray(0, elements));
    return [{ ...tensor, dims, data }];
  });
  const ports = (list: OnnxModel["inputs"]) =>
    list.map((port) => ({ ...port, dims: port.dims.map(size) as number[] }));
  const whole = tensors.length === model.tensors.length;
  return {
    name: model.name,
    nodes: whole ? model.nodes : [],
    tensors,
    inputs: ports(model.inputs),
    outputs: whole ? ports(model.outputs) : [],
  };
}

/** Other weights, other names, other operators, all written well. */
function changed(model: OnnxModel, random: RandomStream): OnnxModel {
  const tensors = [...model.tensors];
  const index = random.integer(tensors.length);
  const { data, ...tensor } = tensors[index]!;
  const numbers = data.slice();
  const value = random.pick([
    0,
    1,
    0.5,
    2 ** 19 - 1,
    2 ** 19,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 53,
    1e300,
    NaN,
    Infinity,
  ]);
  const times = random.pick([1, -1]);
  if (numbers.length > 0) {
    if (random.integer(4) === 0) numbers.fill(value * times);
    else numbers[random.integer(numbers.length)] = value * times;
  }
  tensors[index] = { ...tensor, data: numbers };
  const nodes = [...model.nodes];
  if (random.integer(3) === 0) {
    const [one, other] = [random.integer(nodes.length), random.integer(nodes.length)];
    nodes[one] = { ...nodes[one]!, inputs: nodes[other]!.inputs };
  }
  return { ...model, tensors, nodes };
}

async function decide(graph: AdmittedGraph): Promise<void> {
  using session = openReference(graph);
  const action = new Float64Array(2 * graph.actionWidth).fill(-1023);
  const output = await session.logits({
    state: new Float64Array(graph.stateWidth).fill(1023),
    action,
    segment: new Int32Array(graph.kind === "actor_critic" ? 2 : 0),
  });
  assert.ok([...output.logits, ...output.values].every(Number.isInteger), "a logit is no integer");
}

/** The strict reader of graphs and the gate in front of the runtimes. */
export default target({
  codes: CODES,
  make(random) {
    const seed = random.pick(SEEDS);
    switch (random.integer(8)) {
      case 0:
        return mutateBytes(seed, SEEDS, random);
      case 1:
        return writeOnnx(resized(readOnnx(seed), random));
      case 2:
      case 3:
        return writeOnnx(changed(readOnnx(seed), random));
      default:
        return mutateProtobuf(seed, MODEL, random);
    }
  },
  read: admit,
  async hold(graph, input) {
    equalBytes(graph.bytes(), input, "the graph's own bytes");
    equalBytes(writeExactNetwork(graph.network), input, "written again");
    await decide(graph);
  },
  refused(input) {
    let model: OnnxModel;
    try {
      model = readOnnx(input);
    } catch (error) {
      if (error instanceof TracewrightError) return;
      throw error;
    }
    // Read, but not admitted: another reader of protocol buffers must see the same constants.
    const { graph } = fromBinary(ModelProtoSchema, input);
    assert.deepEqual(
      (graph?.initializer ?? []).map(({ name, dims }) => [name, dims.map(Number)]),
      model.tensors.map(({ name, dims }) => [name, dims]),
    );
    const again = writeOnnx(model);
    assert.deepEqual(readOnnx(again), model, "written and read again, it is another graph");
  },
});
