import assert from "node:assert/strict";
import { RandomStream } from "../core/random_stream.ts";
import { encodeModel, modelInit } from "./_onnx_oracle.ts";
import { randomActorCritic, randomEstimator } from "./_random_network.ts";
import { exactGraph, writeExactNetwork } from "./exact_graph.ts";
import { writeOnnx } from "./onnx_writer.ts";

Deno.test("writeOnnx() gives the same bytes as onnx-buf", () => {
  const stream = new RandomStream(1);
  for (
    const network of [
      randomActorCritic({ stateWidth: 64, actionWidth: 64, hidden: 48 }, stream),
      randomActorCritic({ stateWidth: 200, actionWidth: 17, hidden: 3 }, stream, "extreme"),
      randomEstimator(64, stream),
    ]
  ) {
    const model = exactGraph(network);
    assert.deepEqual(writeOnnx(model), encodeModel(modelInit(model)));
    assert.deepEqual(writeExactNetwork(network), writeOnnx(model));
  }
});

Deno.test("writeOnnx() writes a small graph byte for byte as the format says", () => {
  const port = (name: string) => ({ name, type: "float64" as const, dims: ["N", 300] });
  const bytes = writeOnnx({
    name: "g",
    nodes: [{ operator: "Gather", inputs: ["x", "i"], output: "y", axis: 0 }],
    tensors: [{ name: "c", dims: [1], data: Float64Array.of(1) }],
    inputs: [port("x")],
    outputs: [],
  });
  // tag = field * 8 + wire type (0 number, 2 length-delimited); 300 = 0xac 0x02
  const text = (value: string) => Array.from(value, (c) => c.charCodeAt(0));
  const axis = [0x0a, 4, ...text("axis"), 0x18, 0, 0xa0, 0x01, 2];
  const node = [
    0x0a,
    1,
    ...text("x"),
    0x0a,
    1,
    ...text("i"),
    0x12,
    1,
    ...text("y"),
    0x22,
    6,
    ...text("Gather"),
  ];
  const fullNode = [...node, 0x2a, axis.length, ...axis];
  const tensor = [0x08, 1, 0x10, 11, 0x42, 1, ...text("c"), 0x4a, 8, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f];
  const shape = [0x0a, 3, 0x12, 1, ...text("N"), 0x0a, 3, 0x08, 0xac, 0x02];
  const tensorType = [0x08, 11, 0x12, shape.length, ...shape];
  const type = [0x0a, tensorType.length, ...tensorType];
  const info = [0x0a, 1, ...text("x"), 0x12, type.length, ...type];
  const graph = [
    ...[0x0a, fullNode.length, ...fullNode],
    ...[0x12, 1, ...text("g")],
    ...[0x2a, tensor.length, ...tensor],
    ...[0x5a, info.length, ...info],
  ];
  assert.deepEqual([...bytes], [0x08, 8, 0x3a, graph.length, ...graph, 0x42, 4, 0x0a, 0, 0x10, 17]);
});

Deno.test("exactGraph() adds a bias after every product, even a zero one", () => {
  const network = randomActorCritic({ stateWidth: 2, actionWidth: 2, hidden: 2 }, new RandomStream(2));
  for (const layer of Object.values(network.layers)) layer.bias.fill(0);
  const { nodes } = exactGraph(network);
  for (const { output } of nodes.filter((node) => node.operator === "MatMul")) {
    assert.deepEqual(nodes.filter((node) => node.inputs.includes(output)).map((node) => node.operator), [
      "Add",
    ]);
  }
});
