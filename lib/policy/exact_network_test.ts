import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import type { PolicyCode } from "./_error.ts";
import { randomActorCritic, randomEstimator } from "./_random_network.ts";
import {
  ACTIVATION_MAX,
  BIAS_MAX,
  checkNetwork,
  EXACT_LIMIT,
  type ExactActorCritic,
  LOGIT_LIMIT,
  WEIGHT_MAX,
} from "./exact_network.ts";
import { FEATURE_MAX } from "./feature_grid.ts";

const SIZES = { stateWidth: 5, actionWidth: 4, hidden: 3 };
const fresh = () => randomActorCritic(SIZES, new RandomStream(1));

Deno.test("bounds keep every sum of the full configuration under 2^53 and logits under 2^43", () => {
  // sums of architecture.md section 4 at widths 64 and hidden 96
  assert.ok(64 * FEATURE_MAX * WEIGHT_MAX + BIAS_MAX < 2 ** 38.1);
  assert.ok(3 * 96 * ACTIVATION_MAX * WEIGHT_MAX + BIAS_MAX < 2 ** 43.2);
  assert.ok(96 * ACTIVATION_MAX * WEIGHT_MAX + BIAS_MAX < LOGIT_LIMIT);
  assert.ok(2 ** 43.2 < EXACT_LIMIT);
});

Deno.test("checkNetwork() accepts both kinds at their bounds", () => {
  const stream = new RandomStream(2);
  checkNetwork(randomActorCritic(SIZES, stream, "extreme"));
  checkNetwork(randomEstimator(7, stream, "extreme"));
});

Deno.test("checkNetwork() refuses numbers off the grid or out of bounds, naming the place", () => {
  const cases: [part: "weights" | "bias", value: number, code: PolicyCode][] = [
    ["weights", 0.5, "off_grid"],
    ["weights", NaN, "off_grid"],
    ["weights", Infinity, "off_grid"],
    ["weights", -0, "off_grid"],
    ["weights", 2 ** 19, "weight_out_of_range"],
    ["weights", -(2 ** 19), "weight_out_of_range"],
    ["bias", 0.25, "off_grid"],
    ["bias", -0, "off_grid"],
    ["bias", 2 ** 32, "bias_out_of_range"],
    ["bias", -(2 ** 32), "bias_out_of_range"],
  ];
  for (const [part, value, code] of cases) {
    const network = fresh();
    network.layers.actor_hidden[part][2] = value;
    assert.throws(() => checkNetwork(network), (error) => {
      assert.ok(hasCode(error, code), String(error));
      assert.deepEqual([error.details["layer"], error.details["index"]], ["actor_hidden", 2]);
      return true;
    });
  }
});

Deno.test("checkNetwork() refuses layers that do not fit together", () => {
  const refused = (change: (network: ExactActorCritic) => ExactActorCritic) =>
    assert.throws(() => checkNetwork(change(fresh())), (error) => hasCode(error, "bad_network_shape"));
  refused((n) => ({ ...n, hidden: 4 }));
  refused((n) => ({ ...n, stateWidth: 4 }));
  refused((n) => ({ ...n, actionWidth: 257 }));
  refused((n) => ({ ...n, hidden: 0 }));
  refused((n) => ({ ...n, layers: { ...n.layers, actor_logit: n.layers.value_hidden } }));
  refused((n) => ({
    ...n,
    layers: { ...n.layers, actor_logit: { ...n.layers.actor_logit, bias: new Float64Array(2) } },
  }));
  const estimator = randomEstimator(5, new RandomStream(3));
  assert.throws(
    () => checkNetwork({ ...estimator, hidden: 63 }),
    (error) => hasCode(error, "bad_network_shape"),
  );
});
