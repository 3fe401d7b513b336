import canonicalize from "canonicalize";
import fc from "fast-check";
import assert from "node:assert/strict";
import { canonicalBytes, canonicalJson, MAX_JSON_DEPTH, parseCanonical } from "./canonical_json.ts";
import { hasCode } from "./error.ts";

/** A double from its bits. */
function double(hex: string): number {
  return new Float64Array(BigUint64Array.of(BigInt("0x" + hex)).buffer)[0]!;
}

// RFC 8785, appendix B, but for -0, NaN and the infinities
const NUMBERS = [
  ["0000000000000000", "0"],
  ["0000000000000001", "5e-324"],
  ["8000000000000001", "-5e-324"],
  ["7fefffffffffffff", "1.7976931348623157e+308"],
  ["ffefffffffffffff", "-1.7976931348623157e+308"],
  ["4340000000000000", "9007199254740992"],
  ["c340000000000000", "-9007199254740992"],
  ["4430000000000000", "295147905179352830000"],
  ["44b52d02c7e14af5", "9.999999999999997e+22"],
  ["44b52d02c7e14af6", "1e+23"],
  ["44b52d02c7e14af7", "1.0000000000000001e+23"],
  ["444b1ae4d6e2ef4e", "999999999999999700000"],
  ["444b1ae4d6e2ef4f", "999999999999999900000"],
  ["444b1ae4d6e2ef50", "1e+21"],
  ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
  ["3eb0c6f7a0b5ed8d", "0.000001"],
  ["41b3de4355555553", "333333333.3333332"],
  ["41b3de4355555554", "333333333.33333325"],
  ["41b3de4355555555", "333333333.3333333"],
  ["41b3de4355555556", "333333333.3333334"],
  ["41b3de4355555557", "333333333.33333343"],
  ["becbf647612f3696", "-0.0000033333333333333333"],
  ["43143ff3c1cb0959", "1424953923781206.2"],
] as const;

Deno.test("canonicalJson() writes the numbers of RFC 8785, appendix B", () => {
  for (const [bits, text] of NUMBERS) assert.equal(canonicalJson(double(bits)), text);
});

Deno.test("canonicalJson() writes the example of RFC 8785, section 3.2.2", () => {
  const value = JSON.parse(String.raw`{
    "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
    "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
    "literals": [null, true, false]
  }`);
  assert.equal(
    canonicalJson(value),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
      String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

Deno.test("canonicalJson() sorts keys by UTF-16 code units, as in RFC 8785, section 3.2.3", () => {
  const value = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
  };
  const order = ["Carriage Return", "One", "Control", "Latin Small Letter O With Diaeresis", "Euro Sign"];
  const places = [...order, "Emoji: Grinning Face", "Hebrew Letter Dalet With Dagesh"].map((name) =>
    canonicalJson(value).indexOf(name)
  );
  assert.deepEqual(places, places.toSorted((a, b) => a - b));
  assert.ok(places.every((place) => place > 0));
});

/** JSON values without -0, which evidence does not have. */
const json = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.parse(JSON.stringify(value)));

Deno.test("canonicalJson() agrees with the canonicalize package", () => {
  fc.assert(fc.property(json, (value) => assert.equal(canonicalJson(value), canonicalize(value))));
  const text = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(
      fc.dictionary(text, text),
      (value) => assert.equal(canonicalJson(value), canonicalize(value)),
    ),
  );
});

Deno.test("parseCanonical() reads back what canonicalBytes() wrote", () => {
  fc.assert(fc.property(json, (value) => assert.deepEqual(parseCanonical(canonicalBytes(value)), value)));
  assert.deepEqual(parseCanonical('{"é":[1,null]}'), { é: [1, null] });
  // Objects hold such names in the order of numbers, and a pair of surrogates may not be escaped.
  const names = fc.dictionary(fc.oneof(fc.nat().map(String), fc.string({ unit: "binary" })), json, {
    noNullPrototype: true,
  });
  fc.assert(fc.property(names, (value) => assert.deepEqual(parseCanonical(canonicalBytes(value)), value)));
  assert.deepEqual(parseCanonical('{"10":1,"9":"\\\\ud800"}'), { "9": "\\ud800", "10": 1 });
});

Deno.test("canonicalJson() refuses whatever is not JSON", () => {
  const sparse = [1, 2];
  delete (sparse as unknown[])[0];
  const values = [
    NaN,
    Infinity,
    -Infinity,
    -0,
    undefined,
    1n,
    Symbol("s"),
    () => 0,
    new Date(0),
    new Map(),
    new Uint8Array(1),
    "\ud800",
    "a\udc00b",
  ];
  for (const value of [...values, sparse]) {
    assert.throws(() => canonicalJson(value), (e) => hasCode(e, "not_json"));
    assert.throws(() => canonicalJson({ deep: [value] }), (e) => hasCode(e, "not_json"));
  }
  assert.throws(() => canonicalJson({ "\udfff": 1 }), (e) => hasCode(e, "not_json"));
});

Deno.test("canonicalJson() goes 64 levels deep and no deeper", () => {
  const nested = (depth: number) => {
    let value: unknown = 1;
    for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { v: value };
    return value;
  };
  canonicalJson(nested(MAX_JSON_DEPTH));
  assert.throws(() => canonicalJson(nested(MAX_JSON_DEPTH + 1)), (e) => hasCode(e, "too_deep"));
  const cycle: unknown[] = [];
  cycle.push(cycle);
  assert.throws(() => canonicalJson(cycle), (e) => hasCode(e, "too_deep"));
  assert.throws(() => parseCanonical("[".repeat(65) + "]".repeat(65)), (e) => hasCode(e, "not_canonical"));
});

Deno.test("parseCanonical() refuses every other spelling, naming the first character that differs", () => {
  const spellings = {
    ' {"a":1}': 0,
    '{"a":1}\n': 7,
    '{"b":1,"a":2}': 2,
    '{"a":1,"a":2}': 5,
    '{"a":1.0}': 6,
    '{"a":1e2}': 6,
    '{"a":"\\u0061"}': 6,
    '{"a":"\\/"}': 6,
    '{"9":1,"10":2}': 2,
    '{"a":[{"c":0,"b":0}]}': 8,
    '{"a":"\\ud83d\\ude00"}': 6,
  };
  for (const [text, character] of Object.entries(spellings)) {
    assert.throws(
      () => parseCanonical(text),
      (e) => hasCode(e, "not_canonical") && e.details.character === character,
      text,
    );
  }
  const bytes = [
    Uint8Array.of(0xef, 0xbb, 0xbf, 0x31), // a byte order mark
    Uint8Array.of(0x22, 0xff, 0x22), // not UTF-8
    Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22), // a surrogate in UTF-8
  ];
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  const texts = [
    "",
    "{",
    "nul",
    "-0",
    "[1,-0]",
    "1e400",
    '"\\ud800"',
    '{"a":["\\udc00b"]}',
    '"\ud800"',
    deep,
  ];
  for (const source of [...texts, ...bytes]) {
    assert.throws(
      () => parseCanonical(source),
      (e) => hasCode(e, "not_canonical"),
      String(source).slice(0, 40),
    );
  }
});

Deno.test("canonicalJson() writes what a value holds, never what a toJSON of it says", () => {
  const said = { value: () => "something else" };
  const list = Object.defineProperty([1, 2], "toJSON", said);
  const record = Object.defineProperty({ b: 1, a: 2 }, "toJSON", said);
  class Named extends Array<number> {
    toJSON() {
      return 5;
    }
  }
  assert.equal(canonicalJson(list), "[1,2]");
  assert.equal(canonicalJson({ list }), '{"list":[1,2]}');
  assert.equal(canonicalJson(record), '{"a":2,"b":1}');
  assert.equal(canonicalJson([Named.from([1])]), "[[1]]");
  assert.throws(() => canonicalJson({ toJSON: () => 1 }), (error) => hasCode(error, "not_json"));
});
