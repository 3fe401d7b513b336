import assert from "node:assert/strict";
import { frozenCopy } from "./frozen_copy.ts";

Deno.test("frozenCopy() copies and freezes at every depth", () => {
  const source = { list: [{ a: 1 }], map: { b: [2] }, nothing: null, text: "t" };
  const copy = frozenCopy(source);
  assert.deepEqual(copy, source);
  source.list[0]!.a = 9;
  assert.equal(copy.list[0]!.a, 1);
  for (const part of [copy, copy.list, copy.list[0], copy.map, copy.map.b]) {
    assert.equal(Object.isFrozen(part), true);
  }
  assert.equal(frozenCopy(5), 5);
});

Deno.test("frozenCopy() keeps a key that names a prototype an ordinary key", () => {
  const copy = frozenCopy(JSON.parse('{"__proto__":{"polluted":[1]}}'));
  assert.deepEqual(Object.keys(copy), ["__proto__"]);
  assert.equal(copy.polluted, undefined);
  assert.equal(Object.getPrototypeOf(copy), Object.prototype);
});
