import assert from "node:assert/strict";
import { linearExtensions } from "./linear_extensions.ts";

Deno.test("linearExtensions() goes depth first, ready items in text order", () => {
  // c before a; b free: orders b c a, c a b, c b a
  const order = new Map([["a", ["c"]], ["b", []], ["c", []]]);
  assert.deepEqual(linearExtensions(order, 10), [["b", "c", "a"], ["c", "a", "b"], ["c", "b", "a"]]);
  assert.deepEqual(linearExtensions(order, 2), [["b", "c", "a"], ["c", "a", "b"]]);
});

Deno.test("linearExtensions() finds none in a cycle, and the empty order of nothing", () => {
  assert.deepEqual(linearExtensions(new Map([["a", ["b"]], ["b", ["a"]]]), 5), []);
  assert.deepEqual(linearExtensions(new Map(), 5), [[]]);
});
