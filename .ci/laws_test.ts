import assert from "node:assert/strict";
import plugin from "./laws_plugin.ts";
import { committedFiles, filesUnder, rooms, textOf } from "./_tree.ts";
import { ROOMS } from "./rooms.ts";

/** The rules that a piece of code breaks, by name, as if it stood in a file. */
function broken(path: string, code: string): string[] {
  const file = decodeURIComponent(new URL(`../${path}`, import.meta.url).pathname);
  return Deno.lint.runPlugin(plugin, file, code).map(({ id }) => id.replace("tracewright/", ""));
}

Deno.test("laws: only exact mathematics in lib", () => {
  for (
    const code of [
      "Math.exp(1)",
      "Math['pow'](2, 3)",
      "Math[name](2)",
      "const { tanh } = Math",
      "x ** 0.5",
      "x ** y",
      "x **= 2",
    ]
  ) {
    assert.deepEqual(broken("lib/core/x.ts", code), ["exact-mathematics"], code);
  }
  for (const code of ["Math.sqrt(2)", "Math.SQRT2", "x ** 2", "10n ** 3n", "2 ** -n", "(-x) ** -1"]) {
    assert.deepEqual(broken("lib/core/x.ts", code), [], code);
  }
  assert.deepEqual(broken("lib/core/x_test.ts", "Math.exp(1)"), []);
  assert.deepEqual(broken("cli/x.ts", "Math.exp(1)"), []);
});

Deno.test("laws: no clock, no chance and no locale in lib", () => {
  for (
    const code of ["Date.now()", "new Date()", "Date()", "performance.now()", "crypto.randomUUID()"]
  ) {
    assert.deepEqual(broken("lib/learn/x.ts", code), ["no-clock-or-chance"], code);
  }
  assert.ok(broken("lib/learn/x.ts", "Math.random()").length > 0);
  assert.deepEqual(broken("lib/store/x.ts", "crypto.randomUUID()"), []);
  for (const code of ["a.localeCompare(b)", "n.toLocaleString()", "new Intl.Collator()"]) {
    assert.deepEqual(broken("lib/learn/x.ts", code), ["no-locale"], code);
  }
});

Deno.test("laws: lib is free of the host, but for store, executors and runtimes", () => {
  const code = 'import { readFileSync } from "node:fs"; Deno.cwd();';
  assert.deepEqual(broken("lib/episode/x.ts", code), ["host-free", "host-free"]);
  assert.deepEqual(broken("lib/policy/encoder.ts", code), ["host-free", "host-free"]);
  for (const path of ["lib/store/x.ts", "lib/stage/worker_executor.ts", "lib/policy/wasm_runtime.ts"]) {
    assert.deepEqual(broken(path, code), [], path);
  }
});

Deno.test("laws: no barrels, and every export is documented", () => {
  assert.deepEqual(broken("lib/core/x.ts", 'export * from "./y.ts";'), ["no-barrels"]);
  assert.deepEqual(broken("lib/core/x.ts", 'export { y } from "./y.ts";'), ["no-barrels"]);
  assert.deepEqual(broken("mod.ts", 'export * from "./lib/core/y.ts";'), []);
  assert.deepEqual(broken("lib/core/x.ts", "// a remark\nexport const y = 1;"), ["documented-exports"]);
  assert.deepEqual(broken("lib/core/x.ts", "/** One. */\nexport const y = 1;"), []);
});

Deno.test("laws: the tree keeps the rules of the plugin", () => {
  const sources = [...filesUnder("lib/"), ...filesUnder("cli/")].filter((path) =>
    /(?<!\.as)\.ts$/.test(path)
  );
  assert.ok(sources.length > 0);
  for (const path of sources) assert.deepEqual(broken(path, textOf(path)), [], path);
});

Deno.test("laws: a sort without a comparator on numbers cannot pass a test", () => {
  assert.throws(() => [10, 9].sort(), /without a comparator on numbers/);
  assert.throws(() => [[1], [2]].toSorted(), /without a comparator on objects/);
  assert.deepEqual(["b", "a"].sort(), ["a", "b"]);
  assert.deepEqual([10, 9].sort((a, b) => a - b), [9, 10]);
});

Deno.test("laws: kernels use no relaxed SIMD and no platform mathematics", () => {
  const kernels = filesUnder("lib/").filter((path) => path.endsWith(".as.ts"));
  assert.ok(kernels.length > 0);
  for (const path of kernels) assert.doesNotMatch(textOf(path), /relaxed_|\bJSMath\b/, path);
});

Deno.test("laws: no source file is longer than 450 lines", () => {
  const long = [...filesUnder("lib/"), ...filesUnder("cli/"), ...filesUnder(".ci/"), "mod.ts"]
    .filter((path) => path.endsWith(".ts") && filesUnder("").includes(path))
    .map((path) => [path, textOf(path).trimEnd().split("\n").length] as const)
    .filter(([, lines]) => lines > 450);
  assert.deepEqual(long, []);
});

Deno.test("laws: every folder of lib is a room, with a README of at most 15 lines", () => {
  for (const room of rooms()) {
    assert.ok(Object.hasOwn(ROOMS, room), `lib/${room} is no room of the architecture`);
    const lines = textOf(`lib/${room}/README.md`).trimEnd().split("\n").length;
    assert.ok(lines <= 15, `lib/${room}/README.md has ${lines} lines`);
  }
});

Deno.test("laws: no file is named after nothing", () => {
  const vague = /(^|[/_])(utils?|helpers?|common|misc|manager|index)(_test)?\.ts$/;
  assert.deepEqual(filesUnder("lib/").filter((path) => vague.test(path)), []);
});

Deno.test("laws: committed files hold no absolute path of a machine and no registry's address", async () => {
  const forbidden = /(^|[^A-Za-z0-9_./~])\/(work|farm|root|home)\/|https?:\/\/registry/m;
  const binary = /\.(wasm|onnx|png|zst)$/;
  for (const path of await committedFiles()) {
    if (path === "deno.lock" || binary.test(path)) continue;
    assert.doesNotMatch(textOf(path), forbidden, path);
  }
});
