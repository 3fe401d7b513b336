import assert from "node:assert/strict";
import fc from "fast-check";
import { seededChoice } from "./seeded_choice.ts";

Deno.test("seededChoice() is the 64-bit number modulo the count", () => {
  const hex = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 16, maxLength: 16 });
  fc.assert(fc.property(hex, fc.integer({ min: 1, max: 1 << 20 }), (seed, count) => {
    assert.equal(seededChoice(seed, count), Number(BigInt(`0x${seed}`) % BigInt(count)));
  }));
  assert.equal(seededChoice("ffffffffffffffff", 10), 5); // 18446744073709551615
});
