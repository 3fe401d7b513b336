import assert from "node:assert/strict";
import fc from "fast-check";
import type { Json } from "./canonical_json.ts";
import { jsonDifference, jsonDifferences } from "./json_difference.ts";

Deno.test("jsonDifferences() names every place with both values, in canonical order", () => {
  const expected = { b: [1, { x: null }], a: "text", same: [[]] };
  const actual = { b: [2, { x: false }, 3], a: "texT", same: [[]] };
  assert.deepEqual(jsonDifferences(expected, actual), [
    { path: "a", expected: "text", actual: "texT" },
    { path: "b.0", expected: 1, actual: 2 },
    { path: "b.1.x", expected: null, actual: false },
    { path: "b.2", expected: undefined, actual: 3 },
  ]);
  assert.deepEqual(jsonDifference(expected, actual), { path: "a", expected: "text", actual: "texT" });
});

Deno.test("jsonDifferences() takes no boolean for a number and nothing for near enough", () => {
  for (
    const [expected, actual] of [[1, true], [true, 1], [0, false], [false, 0], [0.1 + 0.2, 0.3]] as const
  ) {
    assert.deepEqual(jsonDifferences({ v: expected }, { v: actual }), [{ path: "v", expected, actual }]);
  }
});

Deno.test("jsonDifferences() sees an empty object against a full one, and an object against a list", () => {
  assert.deepEqual(jsonDifferences({ tsr: 1 }, {}), [{ path: "tsr", expected: 1, actual: undefined }]);
  assert.deepEqual(jsonDifferences({}, []), [{ path: "", expected: {}, actual: [] }]);
  assert.deepEqual(jsonDifferences([], null), [{ path: "", expected: [], actual: null }]);
});

Deno.test("jsonDifferences() is empty exactly for equal values, whatever the order of keys", () => {
  const plain = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as Json);
  fc.assert(fc.property(plain, plain, (one, other) => {
    const same = fc.stringify(one) === fc.stringify(other);
    assert.deepEqual(jsonDifferences(one, structuredClone(one) as Json), []);
    assert.equal(jsonDifference(one, other) === null, jsonDifferences(one, other).length === 0);
    if (same) assert.equal(jsonDifference(one, other), null);
  }));
});

Deno.test("jsonDifferences() tells null from nothing, and takes __proto__ for a key like any other", () => {
  assert.deepEqual(jsonDifferences({ v: null }, {}), [{ path: "v", expected: null, actual: undefined }]);
  assert.deepEqual(jsonDifferences({}, { v: null }), [{ path: "v", expected: undefined, actual: null }]);
  const hidden = JSON.parse('{"a":1,"__proto__":{"b":2}}') as Json;
  assert.deepEqual(jsonDifferences({ a: 1 }, hidden), [
    { path: "__proto__", expected: undefined, actual: { b: 2 } },
  ]);
  assert.deepEqual(jsonDifferences(hidden, JSON.parse('{"a":1,"__proto__":{"b":3}}') as Json), [
    { path: "__proto__.b", expected: 2, actual: 3 },
  ]);
});

Deno.test("jsonDifference() finds the first place only, however much differs after it", () => {
  const long = Array.from({ length: 1e5 }, (_, i) => i);
  assert.deepEqual(jsonDifference(long, [-1, ...long.slice(1).toReversed()]), {
    path: "0",
    expected: 0,
    actual: -1,
  });
});
