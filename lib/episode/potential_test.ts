import assert from "node:assert/strict";
import type { PolicyBatch, PolicySession } from "../policy/runtime.ts";
import { exactPotential } from "./potential.ts";

const ONE = 2 ** 26;

function session(logits: readonly number[]): PolicySession & { asked: PolicyBatch[] } {
  const asked: PolicyBatch[] = [];
  return {
    runtime: "reference",
    asked,
    logits(batch) {
      asked.push(batch);
      return Promise.resolve({ logits: Float64Array.from(logits), values: new Float64Array(0) });
    },
    [Symbol.dispose]() {},
  };
}

Deno.test("exactPotential() is the sigmoid of the graph's logit in reals", async () => {
  const fixed = session([0, ONE, -ONE]);
  const states = [Int32Array.of(1, 2), Int32Array.of(3, 4), Int32Array.of(5, 6)];
  const [half, above, below] = await exactPotential(fixed)(states);
  assert.equal(half, 0.5);
  // 1 / (1 + e^-1) and 1 / (1 + e)
  assert.ok(Math.abs(above! - 0.7310585786300049) < 1e-16);
  assert.ok(Math.abs(below! - 0.2689414213699951) < 1e-16);
  assert.deepEqual(fixed.asked, [{
    state: Float64Array.of(1, 2, 3, 4, 5, 6),
    action: new Float64Array(0),
    segment: new Int32Array(0),
  }]);
});

Deno.test("exactPotential() asks nothing about no states", async () => {
  const fixed = session([]);
  assert.deepEqual(await exactPotential(fixed)([]), []);
  assert.deepEqual(fixed.asked, []);
});
