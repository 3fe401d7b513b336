import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import type { PolicyCode } from "./_error.ts";
import { actorCriticShapes, estimatorShapes, type LayerShape } from "./exact_network.ts";
import { type FloatLayer, quantiseActorCritic, quantiseEstimator } from "./float_to_exact.ts";

const SIZES = { stateWidth: 2, actionWidth: 2, hidden: 1 };

function zeros<Name extends string>(shapes: Record<Name, LayerShape>): Record<Name, FloatLayer> {
  const layers: Partial<Record<Name, FloatLayer>> = {};
  for (const name of Object.keys(shapes) as Name[]) {
    const [inputs, outputs] = shapes[name];
    layers[name] = { weights: new Float32Array(inputs * outputs), bias: new Float32Array(outputs) };
  }
  return layers as Record<Name, FloatLayer>;
}

function withFirst(part: "weights" | "bias", value: number) {
  const layers = zeros(actorCriticShapes(SIZES));
  layers.state_encoder[part][0] = value;
  return () => quantiseActorCritic({ ...SIZES, layers }).layers.state_encoder[part][0]!;
}

Deno.test("quantiseActorCritic() rounds half up, onto 2^-16 and 2^-26, and never to -0", () => {
  const step = 2 ** -16;
  assert.equal(withFirst("weights", 1)(), 65536);
  assert.equal(withFirst("weights", 2.5 * step)(), 3);
  assert.equal(withFirst("weights", -2.5 * step)(), -2);
  assert.equal(withFirst("weights", 2.49 * step)(), 2);
  assert.ok(Object.is(withFirst("weights", -0.25 * step)(), 0));
  assert.ok(Object.is(withFirst("weights", -0)(), 0));
  assert.equal(withFirst("bias", 1)(), 2 ** 26);
  assert.equal(withFirst("bias", -1.5 * 2 ** -26)(), -1);
  assert.ok(Object.is(withFirst("bias", -0)(), 0));
});

Deno.test("quantiseActorCritic() refuses what does not fit the grid, naming the layer", () => {
  const cases: [part: "weights" | "bias", value: number, code: PolicyCode][] = [
    ["weights", 8, "weight_out_of_range"],
    ["weights", -8, "weight_out_of_range"],
    ["weights", 8 - 2 ** -20, "weight_out_of_range"], // rounds up to 8
    ["weights", NaN, "weight_out_of_range"],
    ["weights", Infinity, "weight_out_of_range"],
    ["bias", 64, "bias_out_of_range"],
    ["bias", NaN, "bias_out_of_range"],
  ];
  for (const [part, value, code] of cases) {
    assert.throws(withFirst(part, value), (error) => {
      assert.ok(hasCode(error, code), String(error));
      assert.deepEqual([error.details["layer"], error.details["index"]], ["state_encoder", 0]);
      return true;
    });
  }
  assert.equal(withFirst("weights", 8 - 2 ** -16)(), 2 ** 19 - 1);
  assert.equal(withFirst("bias", 64 - 2 ** -18)(), 2 ** 32 - 2 ** 8);
});

Deno.test("quantiseActorCritic() is at most half a step away", () => {
  fc.assert(fc.property(fc.float({ min: -7.5, max: 7.5, noNaN: true }), (w) => {
    const value = withFirst("weights", w)();
    return Number.isInteger(value) && Math.abs(value / 65536 - w) <= 2 ** -17;
  }));
});

Deno.test("quantiseEstimator() and quantiseActorCritic() keep names and shapes, refuse wrong sizes", () => {
  const estimator = quantiseEstimator({ stateWidth: 3, layers: zeros(estimatorShapes(3)) });
  assert.deepEqual(
    Object.values(estimator.layers).map(({ name, inputs, outputs }) => [name, inputs, outputs]),
    [["hidden_1", 3, 64], ["hidden_2", 64, 64], ["logit", 64, 1]],
  );
  const layers = { ...zeros(actorCriticShapes(SIZES)), actor_logit: zeros(estimatorShapes(3)).hidden_1 };
  assert.throws(
    () => quantiseActorCritic({ ...SIZES, layers }),
    (error) => hasCode(error, "bad_network_shape"),
  );
});
