import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { exp, ln } from "../core/numerics.ts";
import { RandomStream } from "../core/random_stream.ts";
import { Adam } from "./adam.ts";
import { KernelArena } from "./arena.ts";
import { estimatorLayout, ProgressEstimator } from "./estimator.ts";
import { KernelOracle } from "./kernel_oracle.ts";
import { wasmKernels } from "./kernels.ts";
import { parameterCount, parameterDigest } from "./parameter_block.ts";

const S = 5;

/** The estimator's logits in double precision, without kernels. */
function plainLogits(parameters: Float64Array, states: Float32Array): number[] {
  const part = (name: string) => {
    const { offset, rows, cols } = estimatorLayout(S).find((entry) => entry.name === name)!;
    return parameters.subarray(offset, offset + rows * cols);
  };
  const layer = (x: readonly number[], name: string): number[] => {
    const weight = part(`${name}.weight`), bias = part(`${name}.bias`);
    return Array.from(bias, (b, j) => x.reduce((sum, xi, i) => sum + xi * weight[i * bias.length + j]!, b));
  };
  const relu = (x: readonly number[]) => x.map((xi) => Math.max(xi, 0));
  return Array.from({ length: states.length / S }, (_, row) => {
    const x = [...states.subarray(row * S, (row + 1) * S)];
    return layer(relu(layer(relu(layer(x, "hidden_1")), "hidden_2")), "logit")[0]!;
  });
}

function rows(n: number) {
  const stream = new RandomStream(1, "rows");
  const states = Float32Array.from({ length: n * S }, () => (stream.integer(2049) - 1024) / 1024);
  return { states, labels: Uint8Array.from({ length: n }, () => stream.integer(2)) };
}

Deno.test("ProgressEstimator.computeGradient() matches finite differences of the cross-entropy", () => {
  using arena = new KernelArena();
  const estimator = new ProgressEstimator(arena, S);
  const stream = new RandomStream(2);
  estimator.initialise(stream);
  estimator.parameters.set(estimator.parameters.get().map((x) => x + 0.05 * stream.normal()));
  const { states, labels } = rows(9);
  const parameters = Float64Array.from(estimator.parameters.get());
  const lossAt = (at: Float64Array) =>
    plainLogits(at, states).reduce((sum, x, i) => sum - (labels[i] ? -ln(1 + exp(-x)) : -ln(1 + exp(x))), 0) /
    9;
  const loss = estimator.computeGradient(states, labels);
  assert.ok(Math.abs(loss - lossAt(parameters)) < 1e-6);
  const { gradient, layout } = estimator.parameters;
  const h = 1e-6;
  for (const { name, offset, rows, cols } of layout) {
    for (let i = offset; i < offset + rows * cols; i += name === "hidden_2.weight" ? 37 : 1) {
      const x = parameters[i]!;
      const difference = (lossAt(parameters.with(i, x + h)) - lossAt(parameters.with(i, x - h))) / (2 * h);
      assert.ok(
        Math.abs(gradient[i]! - difference) < 1e-6 + 1e-4 * Math.abs(difference),
        `${name} ${i - offset}`,
      );
    }
  }
});

Deno.test("ProgressEstimator gives the oracle's bits, in any batch", () => {
  const train = (kernels: typeof wasmKernels) => {
    using arena = new KernelArena(kernels);
    const estimator = new ProgressEstimator(arena, S);
    estimator.initialise(new RandomStream(3));
    const adam = new Adam(estimator.parameters, { learningRate: 3e-3 });
    const { states, labels } = rows(70);
    for (let step = 0; step < 3; step++) {
      estimator.computeGradient(states, labels);
      adam.step();
    }
    const logits = estimator.forward(states);
    assert.equal(estimator.forward(states.slice(60 * S, 61 * S))[0], logits[60]);
    return { parameters: parameterDigest(estimator.parameters.get()), logits: parameterDigest(logits) };
  };
  assert.deepEqual(train(wasmKernels), train(new KernelOracle(1 << 18)));
});

Deno.test("estimatorLayout() has the protocol's parameters", () => {
  assert.equal(parameterCount(estimatorLayout(64)), 8385);
});

Deno.test("ProgressEstimator refuses widths and batches that do not fit", () => {
  using arena = new KernelArena();
  assert.throws(() => new ProgressEstimator(arena, 0), (e) => hasCode(e, "bad_shape"));
  const estimator = new ProgressEstimator(arena, S);
  const refused = (states: number, labels: number) =>
    assert.throws(
      () => estimator.computeGradient(new Float32Array(states), new Uint8Array(labels)),
      (e) => hasCode(e, "bad_batch"),
    );
  refused(S + 1, 1);
  refused(S, 2);
  refused(0, 0);
});
