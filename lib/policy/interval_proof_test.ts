import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import type { PolicyCode } from "./_error.ts";
import { randomActorCritic } from "./_random_network.ts";
import { exactGraph } from "./exact_graph.ts";
import { FEATURE_MAX } from "./feature_grid.ts";
import { proveExact } from "./interval_proof.ts";
import type { OnnxModel, OnnxNode, OnnxTensor } from "./onnx_model.ts";

const tensor = (name: string, dims: number[], ...data: number[]): OnnxTensor => ({
  name,
  dims,
  data: Float64Array.from(data),
});

/** x [N, 2] through the given nodes to y; constants on the side. */
function model(nodes: OnnxNode[], ...tensors: OnnxTensor[]): OnnxModel {
  return {
    name: "g",
    nodes,
    tensors: [tensor("zero", [], 0), tensor("top", [], 65535), ...tensors],
    inputs: [{ name: "x", type: "float64", dims: ["N", 2] }],
    outputs: [{ name: "y", type: "float64", dims: ["N", 1] }],
  };
}

const affine: OnnxNode[] = [
  { operator: "MatMul", inputs: ["x", "w"], output: "p" },
  { operator: "Add", inputs: ["p", "b"], output: "y" },
];

function refused(code: PolicyCode, graph: OnnxModel, bounds: Record<string, number> = { x: 10 }): void {
  assert.throws(() => proveExact(graph, bounds), (error) => {
    assert.ok(hasCode(error, code), String(error));
    return true;
  });
}

Deno.test("proveExact() bounds a product by its heaviest column and a sum by both sides", () => {
  // columns |1| + |-4| = 5 and |2| + |4| = 6; then bias 9
  const graph = model(affine, tensor("w", [2, 2], 1, 2, -4, 4), tensor("b", [2], 7, -9));
  assert.deepEqual(proveExact(graph, { x: 10 }), [{ value: "p", steps: 60 }, { value: "y", steps: 69 }]);
});

Deno.test("proveExact() counts in the finest step of a value", () => {
  const nodes: OnnxNode[] = [
    { operator: "Relu", inputs: ["x"], output: "r" },
    { operator: "Mul", inputs: ["r", "step"], output: "m" },
    { operator: "Floor", inputs: ["m"], output: "f" },
    { operator: "Clip", inputs: ["f", "zero", "top"], output: "c" },
    { operator: "Concat", inputs: ["c", "m"], output: "k", axis: 1 },
    { operator: "Add", inputs: ["k", "one"], output: "y" },
  ];
  const graph = model(nodes, tensor("step", [], 2 ** -16), tensor("one", [], 1));
  // x <= 2^30: m <= 2^14 in steps of 2^-16, 2^30 of them; f <= 2^14 whole numbers; k has the finer step of c and m
  assert.deepEqual(proveExact(graph, { x: 2 ** 30 }).map(({ steps }) => steps), [
    2 ** 30,
    2 ** 30,
    2 ** 14,
    2 ** 14,
    2 ** 30,
    2 ** 30 + 2 ** 16,
  ]);
});

Deno.test("proveExact() accepts bounds just under 2^53 and refuses 2^53", () => {
  const graph = (w: number) => model(affine, tensor("w", [2, 1], w, 0), tensor("b", [1], 0));
  proveExact(graph(1), { x: 2 ** 53 - 1 });
  refused("proof_bound", graph(1), { x: 2 ** 53 });
  refused("proof_bound", graph(2 ** 20), { x: 2 ** 33 });
  refused("proof_bound", graph(1), {});
  refused("proof_bound", model(affine, tensor("w", [2, 1], 2 ** -32, 0), tensor("b", [1], 2 ** 21)));
});

Deno.test("proveExact() refuses constants that are not finite, -0 or off every grid", () => {
  for (const value of [NaN, Infinity, -Infinity, -0, 0.1, 2 ** -33, 5e-324]) {
    refused("proof_constant", model(affine, tensor("w", [2, 1], 1, value), tensor("b", [1], 0)));
    refused("proof_constant", model(affine, tensor("w", [2, 1], 1, 1), tensor("b", [1], value)));
  }
});

Deno.test("proveExact() refuses an output that could be -0", () => {
  const weights = tensor("w", [2, 1], 1, 1);
  refused("proof_negative_zero", model([{ operator: "MatMul", inputs: ["x", "w"], output: "y" }], weights));
  refused("proof_negative_zero", model([{ operator: "Relu", inputs: ["x"], output: "y" }]));
  refused("proof_negative_zero", model([{ operator: "Mul", inputs: ["x", "top"], output: "y" }]));
  refused("proof_negative_zero", model([{ operator: "Add", inputs: ["x", "x"], output: "y" }]));
  // 0 * -1 is -0: a product is safe only where both sides are non-negative and neither is -0
  const minus = tensor("minus", [], -1);
  const scaled: OnnxNode[] = [
    { operator: "Add", inputs: ["x", "zero"], output: "a" },
    { operator: "Relu", inputs: ["a"], output: "r" },
  ];
  refused(
    "proof_negative_zero",
    model([...scaled, { operator: "Mul", inputs: ["r", "minus"], output: "y" }], minus),
  );
  proveExact(model([...scaled, { operator: "Mul", inputs: ["r", "top"], output: "y" }]), { x: 10 });
});

Deno.test("proveExact() refuses operands that it has no argument for", () => {
  const clip = (inputs: string[]) =>
    model([{ operator: "Clip", inputs, output: "y" }], tensor("minus", [], -1));
  refused("proof_operator", clip(["x", "minus", "top"]));
  refused("proof_operator", clip(["x", "zero", "zero"]));
  refused("proof_operator", clip(["x", "zero", "x"]));
  const product = (inputs: string[]) =>
    model([{ operator: "MatMul", inputs, output: "y" }], tensor("w", [2, 1], 1, 1), tensor("v", [2], 1, 1));
  refused("proof_operator", product(["x", "x"]));
  refused("proof_operator", product(["w", "w"]));
  refused("proof_operator", product(["x", "v"]));
  refused(
    "proof_operator",
    model([{ operator: "Gather", inputs: ["w", "x"], output: "y", axis: 0 }], tensor("w", [2, 1], 1, 1)),
  );
});

Deno.test("proveExact() proves the full network with every number at its bound", () => {
  const sizes = { stateWidth: 64, actionWidth: 64, hidden: 96 };
  const bounds = proveExact(exactGraph(randomActorCritic(sizes, new RandomStream(1), "extreme")), {
    state: FEATURE_MAX,
    action: FEATURE_MAX,
    segment: 2 ** 31,
  });
  const of = (name: string) => bounds.find(({ value }) => value === name)!.steps;
  assert.equal(of("state_sum"), 64 * (2 ** 13 - 1) * (2 ** 19 - 1) + 2 ** 32 - 1);
  assert.equal(of("actor_sum"), 288 * (2 ** 16 - 1) * (2 ** 19 - 1) + 2 ** 32 - 1);
  assert.equal(of("logits"), 96 * (2 ** 16 - 1) * (2 ** 19 - 1) + 2 ** 32 - 1);
  assert.equal(of("values"), of("logits"));
  assert.equal(of("interaction.raw"), (2 ** 16 - 1) ** 2);
});
