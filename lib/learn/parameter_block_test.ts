import assert from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { KernelArena } from "./arena.ts";
import {
  l2Delta,
  ParameterBlock,
  parameterBytes,
  parameterDigest,
  parameterLayout,
} from "./parameter_block.ts";

const LAYOUT = parameterLayout([["a.weight", 2, 3], ["a.bias", 1, 3]]);

Deno.test("parameterLayout() lays parts out back to back", () => {
  assert.deepEqual(LAYOUT.map(({ offset }) => offset), [0, 6]);
});

Deno.test("ParameterBlock starts at zero, keeps a copy of what it is given, and finds parts by name", () => {
  using arena = new KernelArena();
  arena.floats.fill(7, arena.kernels.base, arena.kernels.base + 64);
  const block = new ParameterBlock(arena, LAYOUT);
  assert.deepEqual(block.get(), new Float32Array(9));
  assert.deepEqual(block.gradient, new Float32Array(9));
  const values = Float32Array.from({ length: 9 }, (_, i) => i);
  block.set(values);
  values.fill(0);
  assert.equal(arena.floats[block.at("a.bias")], 6);
  assert.equal(block.gradientAt("a.bias") - block.gradientStart, 6);
  block.get().fill(0);
  assert.equal(block.get()[8], 8);
  assert.throws(() => block.at("b.weight"), (e) => hasCode(e, "bad_shape"));
});

Deno.test("ParameterBlock.set() refuses other lengths and numbers that are not finite", () => {
  using arena = new KernelArena();
  const block = new ParameterBlock(arena, LAYOUT);
  assert.throws(() => block.set(new Float32Array(8)), (e) => hasCode(e, "bad_shape"));
  assert.throws(() => block.set(new Float32Array(9).with(4, NaN)), (e) => hasCode(e, "non_finite"));
});

Deno.test("parameterDigest() is that of little-endian float32, and changes with any value", () => {
  const parameters = Float32Array.of(1, -2);
  assert.deepEqual(parameterBytes(parameters), Uint8Array.of(0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0));
  assert.equal(parameterDigest(parameters), digestOf(Uint8Array.of(0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0)));
  assert.equal(parameterDigest(parameters.slice()), parameterDigest(parameters));
  assert.notEqual(parameterDigest(Float32Array.of(1, -2.0000002)), parameterDigest(parameters));
  assert.notEqual(parameterDigest(Float32Array.of(0)), parameterDigest(Float32Array.of(-0)));
});

Deno.test("l2Delta() is the Euclidean distance, exactly 0 for copies", () => {
  assert.equal(l2Delta({ from: Float32Array.of(1, 1, 1), to: Float32Array.of(4, 1, 5) }), 5);
  const same = Float32Array.of(0.1, 1e30, -3);
  assert.equal(l2Delta({ from: same, to: same.slice() }), 0);
  assert.throws(() => l2Delta({ from: same, to: same.slice(1) }), (e) => hasCode(e, "bad_shape"));
});
