import assert from "node:assert/strict";
import {
  keyToken,
  lowerAscii,
  operationId,
  stringTokens,
  valueTokens,
  withoutIdentities,
} from "./_tokens.ts";

const ID = "op_0123456789abcdef0123";

Deno.test("stringTokens() splits into lower-cased runs of ASCII letters and digits", () => {
  assert.deepEqual(stringTokens("Step-one_2, THEN (3.5)"), [
    "word:step",
    "word:one",
    "word:2",
    "word:then",
    "word:3",
    "word:5",
  ]);
  assert.deepEqual(stringTokens(""), []);
  // the Kelvin sign lower-cases to k and the dotted I to two characters under Unicode rules; here neither is a letter
  assert.deepEqual(stringTokens("\u212Aelvin \u0130x naïve"), [
    "word:elvin",
    "word:x",
    "word:na",
    "word:ve",
  ]);
});

Deno.test("stringTokens() counts an opaque operation id as one word, and only an exact one", () => {
  assert.deepEqual(stringTokens(`done ${ID}.`), ["word:done", "word:operation"]);
  assert.deepEqual(stringTokens(ID.toUpperCase()), ["word:operation"]);
  assert.deepEqual(stringTokens(ID + "4"), ["word:op", "word:0123456789abcdef01234"]);
  assert.deepEqual(stringTokens("x" + ID), ["word:xop", "word:0123456789abcdef0123"]);
  assert.equal(keyToken("Seen " + ID), "key:seen operation");
});

Deno.test("operationId() accepts op_ and exactly 20 hexadecimal digits, in lower case", () => {
  assert.equal(operationId(ID), ID);
  assert.equal(operationId(ID.toUpperCase()), ID);
  for (const other of [ID + "0", ID.slice(0, -1), "x" + ID, "step-3", "", null, 3]) {
    assert.equal(operationId(other), undefined);
  }
});

Deno.test("valueTokens() types every scalar and marks lists and keys", () => {
  assert.deepEqual(valueTokens({ a: [null, true, 3, 2.5], B: { c: "X y" }, d: [] }), [
    ...["key:a", "list:4", "null", "boolean:true", "number:3", "number:2.5"],
    ...["key:b", "key:c", "word:x", "word:y"],
    ...["key:d", "list:0"],
  ]);
  assert.deepEqual(valueTokens(-0), ["number:0"]);
});

Deno.test("withoutIdentities() replaces whole names, longest first, in any case, and nothing inside a replacement", () => {
  const words = (goal: string, ...names: string[]) =>
    stringTokens(withoutIdentities(goal, names)).map((t) => t.slice(5));
  assert.deepEqual(words("Move <entity:0> now", "<entity:0>"), ["move", "identity", "now"]);
  assert.deepEqual(words("use approved-<ENTITY:0>", "<entity:0>", "approved-<entity:0>"), [
    "use",
    "identity",
  ]);
  assert.deepEqual(words("a tidy x", "x", "id"), ["a", "t", "identity", "y", "identity"]);
  assert.deepEqual(words("cost $1 (a+b)", "(a+b)", "$1"), ["cost", "identity", "identity"]);
  assert.deepEqual(words("plain goal", "", "none"), ["plain", "goal"]);
});

Deno.test("lowerAscii() leaves other letters alone", () => {
  assert.equal(lowerAscii("AÀZ\u212A"), "aÀz\u212A");
});
