import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { Adam } from "./adam.ts";
import { KernelArena } from "./arena.ts";
import { ParameterBlock, parameterLayout } from "./parameter_block.ts";

function block(arena: KernelArena, size: number): ParameterBlock {
  return new ParameterBlock(arena, parameterLayout([["w", 1, size]]));
}

Deno.test("Adam.step() moves by the learning rate against the gradient's sign at first", () => {
  using arena = new KernelArena();
  const parameters = block(arena, 3);
  const adam = new Adam(parameters, { learningRate: 0.125 });
  parameters.gradient.set([4, -0.001, 0]);
  adam.step();
  // m / (1 - b1) = g, v / (1 - b2) = g^2, so the step is lr g / (|g| + eps)
  const [down, up, still] = parameters.get();
  assert.ok(Math.abs(down! + 0.125) < 1e-5 && Math.abs(up! - 0.125) < 1e-5 && still === 0);
});

Deno.test("Adam follows the paper's algorithm over many steps", () => {
  using arena = new KernelArena();
  const n = 5;
  const parameters = block(arena, n);
  const adam = new Adam(parameters, { learningRate: 0.01 });
  const stream = new RandomStream(1);
  const theta = new Float64Array(n), m = new Float64Array(n), v = new Float64Array(n);
  let b1 = 1, b2 = 1;
  for (let t = 1; t <= 200; t++) {
    const g = Float32Array.from(theta, () => stream.normal());
    parameters.gradient.set(g);
    adam.step();
    b1 *= 0.9;
    b2 *= 0.999;
    for (let i = 0; i < n; i++) {
      m[i] = 0.9 * m[i]! + 0.1 * g[i]!;
      v[i] = 0.999 * v[i]! + 0.001 * g[i]! * g[i]!;
      theta[i] = theta[i]! - 0.01 * (m[i]! / (1 - b1)) / (Math.sqrt(v[i]! / (1 - b2)) + 1e-8);
    }
  }
  parameters.get().forEach((value, i) =>
    assert.ok(Math.abs(value - theta[i]!) < 1e-4, `${value}, ${theta[i]}`)
  );
});

Deno.test("Adam refuses a learning rate that is not finite and positive", () => {
  using arena = new KernelArena();
  const parameters = block(arena, 1);
  for (const learningRate of [0, -1, NaN, Infinity]) {
    assert.throws(() => new Adam(parameters, { learningRate }), (e) => hasCode(e, "bad_option"));
  }
});
