import assert from "node:assert/strict";
import type { Source } from "./_parsed_source.ts";
import { checkSites } from "./check_sites.ts";
import { withSwitches } from "./with_switches.ts";

const found = (text: string, path = "lib/verify/one.ts") => checkSites([{ path, text }])[0]!.sites;
const shown = (text: string) =>
  found(text).map(({ name, check }) => [name.replace("lib/verify/one.ts ", ""), check]);

Deno.test("checkSites() takes each part of a condition that refuses for a check", () => {
  assert.deepEqual(
    shown(`function read(a: number) {
      if (a < 0 || (a > 9 && a !== 11)) throw verifyError("too_small", { a });
    }`),
    [["read too_small.a", "a < 0"], ["read too_small.b", "a > 9 && a !== 11"]],
  );
});

Deno.test("checkSites() takes a refusal behind a return for the return's condition", () => {
  assert.deepEqual(
    shown(`function check(a: number) {
      if (a === 1 && isFine(a)) return;
      const more = a;
      throw new TracewrightError<"verify", Code>("other_number", { more });
    }`),
    [["check other_number.a", "not: a === 1"], ["check other_number.b", "not: isFine(a)"]],
  );
});

Deno.test("checkSites() takes the calls of a function that never returns for refusals, with its code", () => {
  assert.deepEqual(
    shown(`
      function refuse(what: string): never { throw storeError("bad", { what }); }
      const bad = (): never => { throw storeError("worse", {}); };
      class Reader { #read(a?: number) { const b = a ?? refuse("nothing"); if (b) return bad(); else refuse("b"); } }
    `),
    [
      ["Reader.read bad 1", "not: a"],
      ["Reader.read worse", "b"],
      ["Reader.read bad 2", "whatever comes here"],
    ],
  );
});

Deno.test("checkSites() takes statements that call a function with checks, also of another file, for checks", () => {
  const sources: Source[] = [
    { path: "a.ts", text: `export function inner(a: number) { if (a) throw fail("code_a"); }` },
    {
      path: "b.ts",
      text: `async function outer() { inner(1); await inner(2); const b = inner(3); other(); return b; }`,
    },
  ];
  assert.deepEqual(checkSites(sources).map(({ sites }) => sites.map(({ name, kind }) => [name, kind])), [
    [["a.ts inner passed on", "refusal"]],
    [["b.ts outer calls inner 1", "call"], ["b.ts outer calls inner 2", "call"]],
  ]);
});

Deno.test("checkSites() takes what a predicate denies, and a symbol or nothing in the place of a value, for checks", () => {
  assert.deepEqual(
    shown(`
      const NOTHING = Symbol();
      function isOne(a: number): boolean { if (a > 1) return false; return a === 1 && a !== 2; }
      function isOther(a: number): boolean { return a < 1 || a > 1; }
      function read(a: number) { if (a === 7) return NOTHING; return a > 0 ? a : NOTHING; }
      const some = (a: number) => a > 0 ? a : undefined;
    `),
    [
      ["isOne false", "a > 1"],
      ["isOne holds.a", "not: a === 1"],
      ["isOne holds.b", "not: a !== 2"],
      ["isOther holds.a", "a < 1"],
      ["isOther holds.b", "a > 1"],
      ["read NOTHING 1", "a === 7"],
      ["read NOTHING 2", "not: a > 0"],
      ["some undefined", "not: a > 0"],
    ],
  );
});

Deno.test("checkSites() names a check by its function and code: lines may move", () => {
  const text = `function one() { if (a) throw e("x"); }\nfunction two() { if (b) throw e("x"); }`;
  const moved = "\n\n// a line more\n" + text.split("\n").reverse().join("\n");
  const names = (source: string) => found(source).map(({ name }) => name).sort();
  assert.deepEqual(names(text), names(moved));
});

Deno.test("checkSites() takes each field of a strict record for a check, and that there is no other", () => {
  assert.deepEqual(
    shown(`const one = z.strictObject({ a: z.int(), b: z.array(z.strictObject({ c: other })) });`),
    [
      ["one no other field", "another field"],
      ["one.a form", "not: z.int()"],
      ["one.b form", "not: z.array(z.strictObject(…"],
      ["one.b no other field", "another field"],
      ["one.b.c form", "not: other"],
    ],
  );
});

/** Runs a rewritten function with one check off. */
function run(text: string, off: string | undefined, call: string): unknown {
  const sites = found(text);
  const fired: string[] = [];
  const checkFires = (name: string) => {
    fired.push(name);
    return !name.endsWith(off ?? "\0");
  };
  const checkCalls = (name: string, work: () => unknown) => name.endsWith(off ?? "\0") ? undefined : work();
  Object.assign(globalThis, { checkFires, checkCalls });
  try {
    return new Function(`${withSwitches(text, sites)}; return ${call};`)();
  } catch (error) {
    return error instanceof RangeError ? error.message : error;
  } finally {
    for (const name of ["checkFires", "checkCalls"]) Reflect.deleteProperty(globalThis, name);
  }
}

Deno.test("withSwitches() lets one check be off and the others on", () => {
  const text = `
    function refuse(what) { if (what) throw new RangeError(what); }
    function sized(a) {
      if (a.length < 1 || a.length > 3) throw new RangeError("size");
      if (a.every((x) => x > 0) && a[0] < 10) return "fine";
      throw new RangeError("content");
    }
    function both(a) { refuse(a.length === 2 ? "two" : ""); return sized(a); }
  `;
  const answers = (off?: string) =>
    ["[]", "[1, 2, 3, 4]", "[0]", "[10]", "[1]", "[1, 2]"].map((a) => run(text, off, `both(${a})`));
  assert.deepEqual(answers(), ["size", "size", "content", "content", "fine", "two"]);
  assert.deepEqual(answers("sized size.a").slice(0, 2), ["content", "size"]);
  assert.deepEqual(answers("sized size.b").slice(0, 2), ["size", "fine"]);
  assert.deepEqual(answers("sized content.a").slice(2, 4), ["fine", "content"]);
  assert.deepEqual(answers("sized content.b").slice(2, 4), ["content", "fine"]);
  assert.deepEqual(answers("calls refuse")[5], "fine");
});
