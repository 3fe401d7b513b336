import assert from "node:assert/strict";
import * as numerics from "../core/numerics.ts";
import { RandomStream } from "../core/random_stream.ts";
import * as module from "./kernels.wasm";
import { wasmKernels } from "./kernels.ts";

/** Bits of a double. */
function bits(x: number): bigint {
  return new BigUint64Array(Float64Array.of(x).buffer)[0]!;
}

Deno.test("exp and ln of the training kernels are the project's, bit for bit", () => {
  const stream = new RandomStream(1, "numerics");
  for (let i = 0; i < 20_000; i++) {
    const x = (stream.uniform() - 0.5) * 1500; // beyond overflow and underflow on both sides
    assert.equal(bits(module.exp(x)), bits(numerics.exp(x)), `exp(${x})`);
    const y = Math.abs(stream.normal()) * numerics.exp((stream.uniform() - 0.5) * 1400);
    assert.equal(bits(module.ln(y)), bits(numerics.ln(y)), `ln(${y})`);
  }
  for (
    const x of [0, -0, 1, 5e-324, 1.7976931348623157e308, Infinity, -Infinity, 709.78, 710, -745.2, -746]
  ) {
    assert.equal(bits(module.exp(x)), bits(numerics.exp(x)));
    if (x >= 0) assert.equal(bits(module.ln(x)), bits(numerics.ln(x)));
  }
});

Deno.test("wasmKernels has one memory of a fixed 128 MiB, free from a cache line on", () => {
  assert.equal(wasmKernels.floats.byteLength, 128 * 1024 * 1024);
  assert.equal(wasmKernels.floats.buffer, wasmKernels.doubles.buffer);
  assert.equal(wasmKernels.floats.buffer, wasmKernels.bytes.buffer);
  assert.throws(() => (module.memory as WebAssembly.Memory).grow(1), RangeError);
  assert.equal(wasmKernels.base % 16, 0);
});
