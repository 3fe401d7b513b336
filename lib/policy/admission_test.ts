import assert from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import { hasCode, TracewrightError } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import type { PolicyCode } from "./_error.ts";
import { encodeModel, modelInit } from "./_onnx_oracle.ts";
import { randomActorCritic, randomEstimator } from "./_random_network.ts";
import { admit, AdmittedGraph } from "./admission.ts";
import { exactGraph, writeExactNetwork } from "./exact_graph.ts";
import type { OnnxModel, OnnxTensor } from "./onnx_model.ts";
import { writeOnnx } from "./onnx_writer.ts";

const SIZES = { stateWidth: 7, actionWidth: 5, hidden: 3 };
const ACTOR = randomActorCritic(SIZES, new RandomStream(1));
const ESTIMATOR = randomEstimator(6, new RandomStream(2));

Deno.test("admit() recognises both kinds and gives back their parameters and bytes", () => {
  for (const network of [ACTOR, ESTIMATOR]) {
    const bytes = writeExactNetwork(network);
    const graph = admit(bytes);
    assert.equal(graph.kind, network.kind);
    assert.deepEqual(graph.network, network);
    assert.deepEqual(graph.bytes(), bytes);
    assert.equal(graph.digest, digestOf(bytes));
    assert.equal(graph.stateWidth, network.stateWidth);
    assert.equal(graph.actionWidth, network.kind === "actor_critic" ? 5 : 0);
    assert.ok(AdmittedGraph.isAdmitted(graph));
    assert.ok(graph.bounds.every(({ steps }) => steps < 2 ** 53));
  }
});

Deno.test("admit() takes bytes of any writer that agrees with ours", () => {
  assert.deepEqual(admit(encodeModel(modelInit(exactGraph(ACTOR)))).network, ACTOR);
});

Deno.test("AdmittedGraph cannot be changed through the bytes it was made from or gave away", () => {
  const bytes = writeExactNetwork(ACTOR);
  const graph = admit(bytes);
  const { digest } = graph;
  bytes.fill(0);
  graph.bytes().fill(0);
  assert.equal(digestOf(graph.bytes()), digest);
  assert.ok(!AdmittedGraph.isAdmitted({ ...graph }));
  assert.throws(() => Object.assign(graph, { kind: "estimator" }), TypeError);
});

function refused(bytes: Uint8Array, code: PolicyCode): void {
  assert.throws(() => admit(bytes), (error) => {
    assert.ok(hasCode(error, code), String(error));
    return true;
  });
}

function changed(model: OnnxModel, name: string, change: (tensor: OnnxTensor) => OnnxTensor): Uint8Array {
  return writeOnnx({ ...model, tensors: model.tensors.map((t) => t.name === name ? change(t) : t) });
}

function withValue(name: string, value: number): Uint8Array {
  return changed(exactGraph(ACTOR), name, (t) => ({ ...t, data: t.data.map((v, i) => i === 1 ? value : v) }));
}

Deno.test("admit() refuses weights that are not on the grid or not in bounds", () => {
  for (const name of ["state_encoder.weight", "actor_hidden.weight_state", "actor_hidden.weight_action"]) {
    for (const value of [NaN, Infinity, 0.5, -0]) refused(withValue(name, value), "off_grid");
    refused(withValue(name, 2 ** 19), "weight_out_of_range");
  }
  refused(withValue("value_hidden.bias", NaN), "off_grid");
  refused(withValue("value_hidden.bias", -(2 ** 32)), "bias_out_of_range");
});

Deno.test("admit() refuses a graph whose parameters are missing or misshapen", () => {
  const model = exactGraph(ACTOR);
  const renamed = changed(model, "action_encoder.bias", (t) => ({ ...t, name: "actor_encoder.bias" }));
  refused(renamed, "onnx_bad_graph");
  const unused = { ...model, nodes: model.nodes.slice(0, 5), outputs: [] };
  refused(changed(unused, "actor_logit.bias", (t) => ({ ...t, name: "other" })), "graph_not_ours");
  refused(changed(model, "actor_logit.weight", (t) => ({ ...t, dims: [1, 3] })), "graph_not_ours");
  refused(changed(model, "state_encoder.weight", (t) => ({ ...t, dims: [21] })), "graph_not_ours");
  refused(writeOnnx({ ...exactGraph(ESTIMATOR), tensors: model.tensors }), "onnx_bad_graph");
  const wide = { ...model, inputs: model.inputs.map((port) => ({ ...port, dims: ["N", "S"] })) };
  refused(writeOnnx(wide), "graph_not_ours");
});

Deno.test("admit() refuses every graph that differs from the export, whatever the difference", () => {
  const model = exactGraph(ACTOR);
  const other = (parts: Partial<OnnxModel>) =>
    refused(writeOnnx({ ...model, ...parts }), "graph_not_canonical");
  other({ name: "exact-f64-v1.actor_critics" });
  other({ name: "exact-f64-v1.actor-critic" });
  other({ tensors: model.tensors.toReversed() });
  other({ inputs: model.inputs.toReversed() });
  other({ outputs: model.outputs.toReversed() });
  other({ outputs: model.outputs.slice(1) });
  other({ tensors: [...model.tensors, { name: "spare", dims: [], data: Float64Array.of(1) }] });
  other({ nodes: model.nodes.map((n) => n.operator === "Floor" ? { ...n, operator: "Relu" as const } : n) });
  other({ nodes: model.nodes.map((n) => n.operator === "Concat" ? { ...n, axis: 0 } : n) });
  const constant = (name: string, value: number) =>
    refused(changed(model, name, (t) => ({ ...t, data: Float64Array.of(value) })), "graph_not_canonical");
  constant("activation_max", 2 ** 20 - 1);
  constant("weight_step", 2 ** -15);
  constant("weight_step", NaN);
  constant("zero", -0);
});

Deno.test("admit() refuses every mutated file, or finds it unchanged", () => {
  const stream = new RandomStream(3);
  for (const network of [ACTOR, ESTIMATOR]) {
    const good = writeExactNetwork(network);
    // nodes stand before the weights, inputs and outputs behind them
    const nodes = good.length - exactGraph(network).tensors.reduce((sum, { data }) =>
      sum + data.length * 8, 0) -
      200;
    const places = [
      () => stream.integer(good.length),
      () => good.length - 1 - stream.integer(200),
      () => stream.integer(nodes),
      () => stream.integer(nodes),
    ];
    let changedParameters = 0;
    for (let round = 0; round < 400; round++) {
      let bytes = good.slice();
      const at = places[round % 4]!();
      switch (stream.integer(4)) {
        case 0:
          bytes[at] = stream.integer(256);
          break;
        case 1:
          bytes[at]! ^= 1 << stream.integer(8);
          break;
        case 2:
          bytes = Uint8Array.from([...good.subarray(0, at), ...good.subarray(at + 1)]);
          break;
        case 3:
          bytes = Uint8Array.from([...good.subarray(0, at), stream.integer(256), ...good.subarray(at)]);
          break;
      }
      let graph: AdmittedGraph;
      try {
        graph = admit(bytes);
      } catch (error) {
        assert.ok(error instanceof TracewrightError, String(error));
        continue;
      }
      // what passes is exactly the export of the parameters it carries: the same ones, or others in bounds
      assert.deepEqual(graph.bytes(), bytes);
      assert.deepEqual(writeExactNetwork(graph.network), bytes);
      assert.equal(bytes.length, good.length);
      if (digestOf(bytes) !== digestOf(good)) changedParameters++;
    }
    assert.ok(changedParameters < 40, `${changedParameters} mutants are valid graphs with other weights`);
  }
});

Deno.test("admit() makes nothing larger than the file, whatever widths the file states", () => {
  // Layers without inputs have no weights, so that a small file can state a width of which no square fits into memory.
  const hidden = 2 ** 17;
  const tensor = (name: string, dims: number[]): OnnxTensor => {
    return { name, dims, data: new Float64Array(dims.reduce((product, dim) => product * dim, 1)) };
  };
  const bytes = writeOnnx({
    name: "wide",
    nodes: [],
    tensors: ["state_encoder", "action_encoder"].flatMap((layer) => [
      tensor(`${layer}.weight`, [0, hidden]),
      tensor(`${layer}.bias`, [hidden]),
    ]),
    inputs: [
      { name: "state", type: "float64", dims: ["N", 0] },
      { name: "action", type: "float64", dims: ["M", 0] },
    ],
    outputs: [],
  });
  refused(bytes, "graph_not_ours");
});
