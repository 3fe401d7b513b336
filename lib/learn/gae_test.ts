import fc from "fast-check";
import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { gae, type GaeInput } from "./gae.ts";

const f32 = Math.fround;

Deno.test("gae() cuts the sum where the trajectory changes, even without a done flag", () => {
  const { advantages } = gae({
    rewards: Float64Array.of(1, 1, 100),
    values: new Float64Array(3),
    dones: new Uint8Array(3),
    trajectories: ["a", "a", "b"],
    gamma: 1,
    lambda: 1,
  });
  assert.deepEqual(advantages, Float32Array.of(2, 1, 100));
});

for (const Float of [Float32Array, Float64Array]) {
  Deno.test(`gae() gives the protocol's fractional case from ${Float.name}`, () => {
    // A_1 = 1 - .5 = .5; A_0 = 1 + .9 * .5 - .25 + .9 * .95 * .5 = 1.2 + .4275
    const { advantages, returns } = gae({
      rewards: Float.of(1, 1),
      values: Float.of(0.25, 0.5),
      dones: Uint8Array.of(0, 1),
      trajectories: [0, 0],
      gamma: 0.9,
      lambda: 0.95,
    });
    assert.deepEqual(advantages, Float32Array.of(f32(1.6275), 0.5));
    assert.deepEqual(returns, Float32Array.of(f32(1.8775), 1));
  });
}

Deno.test("gae() uses a bootstrap only at a trajectory's last record that is not done", () => {
  const input: GaeInput = {
    rewards: Float64Array.of(0.5, 0.5),
    values: new Float64Array(2),
    dones: Uint8Array.of(0, 0),
    trajectories: ["a", "b"],
    bootstraps: Float64Array.of(2, 2),
    gamma: 0.9,
    lambda: 0.95,
  };
  assert.deepEqual(gae(input).advantages, Float32Array.of(f32(2.3), f32(2.3))); // .5 + .9 * 2
  assert.deepEqual(gae({ ...input, dones: Uint8Array.of(1, 0) }).advantages, Float32Array.of(0.5, f32(2.3)));
  // one trajectory: its first record goes on to V = 0 and to the second advantage
  const joined = gae({ ...input, trajectories: ["a", "a"] }).advantages;
  assert.deepEqual(joined, Float32Array.of(f32(0.5 + 0.9 * 0.95 * (0.5 + 0.9 * 2)), f32(2.3)));
});

Deno.test("gae() with gamma = lambda = 1 telescopes to the rewards that remain", () => {
  const step = fc.record({
    reward: fc.integer({ min: -64, max: 64 }),
    value: fc.integer({ min: -64, max: 64 }),
  });
  fc.assert(fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
    const T = steps.length;
    const { returns } = gae({
      rewards: Float64Array.from(steps, ({ reward }) => reward / 8), // exact in binary
      values: Float64Array.from(steps, ({ value }) => value / 8),
      dones: new Uint8Array(T).with(T - 1, 1),
      trajectories: steps.map(() => 0),
      gamma: 1,
      lambda: 1,
    });
    let rest = 0;
    for (let t = T - 1; t >= 0; t--) {
      rest += steps[t]!.reward / 8;
      assert.equal(returns[t], rest);
    }
  }));
});

Deno.test("gae() refuses integers, booleans, other lengths, bad settings and results that are not finite", () => {
  const good: GaeInput = {
    rewards: Float64Array.of(1),
    values: Float64Array.of(1),
    dones: Uint8Array.of(1),
    trajectories: [0],
    gamma: 0.9,
    lambda: 0.9,
  };
  const refused = (changed: Record<string, unknown>, code: string) =>
    assert.throws(() => gae({ ...good, ...changed } as GaeInput), (e) => hasCode(e, code));
  for (const rewards of [Int32Array.of(1), [1], [true], BigInt64Array.of(1n)]) {
    refused({ rewards }, "not_floating");
  }
  refused({ values: Int32Array.of(1) }, "not_floating");
  refused({ values: Float64Array.of(1, 2) }, "bad_batch");
  refused({ dones: new Uint8Array(2) }, "bad_batch");
  refused({ bootstraps: new Float64Array(2) }, "bad_batch");
  refused({ gamma: 1.1 }, "bad_option");
  refused({ lambda: NaN }, "bad_option");
  refused({ rewards: Float64Array.of(NaN) }, "non_finite");
  refused({ rewards: Float64Array.of(1e300) }, "non_finite");
});
