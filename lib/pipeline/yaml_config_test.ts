import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalJson } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import { MAX_CONFIG_LENGTH, readConfig } from "./yaml_config.ts";

const SMOKE = Deno.readTextFileSync(new URL("../../configs/smoke.yaml", import.meta.url));

function edited(from: string, to: string): string {
  assert.ok(SMOKE.includes(from), `the shipped config no longer holds ${from}`);
  return SMOKE.replace(from, to);
}

/** One-based line of the first line that starts with a key, so that comments in the shipped file may change. */
function lineOf(key: string): number {
  return SMOKE.split("\n").findIndex((line) => line.trimStart().startsWith(`${key}:`)) + 1;
}

/** All problems of a text as `code line:column key`. */
function problems(text: string): string[] {
  try {
    readConfig(text, "x.yaml");
    return [];
  } catch (error) {
    assert.ok(error instanceof TracewrightError, String(error));
    const rest = error.cause instanceof AggregateError ? error.cause.errors as TracewrightError[] : [];
    return [error, ...rest].map(({ code, details: { file, line, column, key } }) => {
      assert.equal(file, "x.yaml");
      return `${code} ${line}:${column} ${key ?? ""}`.trim();
    });
  }
}

Deno.test("readConfig() is blind to comments, key order and the spelling of numbers", () => {
  const plain = canonicalJson(readConfig(SMOKE, "a"));
  assert.equal(canonicalJson(readConfig(SMOKE.replace(/ *#.*$/gm, ""), "b")), plain);
  assert.equal(canonicalJson(readConfig(edited("timeout_s: 80", "timeout_s: 8.0e1"), "c")), plain);
  assert.equal(canonicalJson(readConfig(plain, "JSON is YAML too")), plain);
});

const G = lineOf("gamma");

Deno.test("readConfig() points at the line and column of each kind of problem", () => {
  const cases: readonly [string, string, string[]][] = [
    ["gamma: 0.99", "gama: 0.99", [`unknown_key ${G}:3 ppo.gama`]],
    ["gamma: 0.99", "gamma: .nan", [`not_finite ${G}:10 ppo.gamma`]],
    ["gamma: 0.99", "gamma: -.inf", [`not_finite ${G}:10 ppo.gamma`]],
    ["gamma: 0.99", "gamma: 1e999", [`not_finite ${G}:10 ppo.gamma`]],
    ["gamma: 0.99", "gamma: yes", [`wrong_type ${G}:10 ppo.gamma`]],
    ["gamma: 0.99", "gamma: 1_000", [`wrong_type ${G}:10 ppo.gamma`]],
    ["gamma: 0.99", "gamma:", [`wrong_type ${G}:9 ppo.gamma`]],
    ["gamma: 0.99", "gamma: 1.5", [`out_of_range ${G}:10 ppo.gamma`]],
    ["  gamma: 0.99\n", "", [`missing_key ${lineOf("ppo") + 1}:3 ppo.gamma`]],
    ["gamma: 0.99", "gamma: 0.99\n  gamma: 0.98", [`duplicate_key ${G + 1}:3 ppo.gamma`]],
    ["gamma: 0.99", "gamma: &g 0.99", [`yaml_feature ${G}:13 ppo.gamma`]],
    ["gamma: 0.99", "gamma: *g", [`yaml_feature ${G}:10 ppo.gamma`]],
    ["gamma: 0.99", "gamma: !!float 0.99", [`yaml_feature ${G}:18 ppo.gamma`]],
    ["gamma: 0.99", "gamma: 0.99\n  <<: {a: 1}", [`yaml_feature ${G + 1}:3 ppo`]],
    ["gamma: 0.99", "gamma: 0.99\n  3: 1", [`yaml_feature ${G + 1}:3 ppo`]],
    ["gamma: 0.99", "gamma: 0.99\n  __proto__: 1", [`unknown_key ${G + 1}:3 ppo.__proto__`]],
    ["comparison: null", "comparison: null\n---\na: 1", [`yaml_feature ${lineOf("comparison") + 1}:1`]],
    ["gamma: 0.99", "gamma: [", [`yaml_syntax ${G + 1}:3`]],
  ];
  for (const [from, to, expected] of cases) {
    assert.deepEqual(problems(edited(from, to)).slice(0, expected.length), expected, to);
  }
  assert.deepEqual(problems("%YAML 1.1\n---\n" + SMOKE), ["yaml_feature 1:1"]);
  assert.deepEqual(problems(""), ["wrong_type 1:1"]);
});

Deno.test("readConfig() reports several problems at once, in the order of the file", () => {
  const text = edited("gamma: 0.99", "gama: 0.99").replace("dev_tasks: 12", "dev_tasks: twelve")
    .replace("step: -0.01", "step: .inf");
  assert.deepEqual(problems(text), [
    `wrong_type ${lineOf("dev_tasks")}:14 benchmark.dev_tasks`,
    `unknown_key ${G}:3 ppo.gama`,
    `not_finite ${lineOf("step")}:9 reward.step`,
  ]);
});

Deno.test("readConfig() refuses a file that is too long or too deep", () => {
  assert.deepEqual(problems("#".repeat(MAX_CONFIG_LENGTH + 1)), ["config_too_large 1:1"]);
  assert.ok(problems("[".repeat(18) + "]".repeat(18)).some((text) => text.startsWith("config_too_deep")));
  assert.deepEqual(problems("- ".repeat(8000) + "\nx: 1"), ["config_too_deep 1:1"]); // more than the parser's stack
  for (const text of ["[", "- ", "? ", "{a: ", "- - x\n ", "a:\n- "]) {
    const found = problems(text.repeat(MAX_CONFIG_LENGTH).slice(0, MAX_CONFIG_LENGTH));
    assert.ok(found.length >= 1 && found.length <= 20, text);
  }
});

Deno.test("readConfig() throws nothing but its own errors, whatever a file holds", () => {
  const piece = fc.constantFrom(
    "a",
    ":",
    " ",
    "\n",
    "-",
    "[",
    "]",
    "{",
    "}",
    "&",
    "*",
    "!",
    "|",
    ">",
    "'",
    '"',
    "%",
    "1",
    ",",
    "?",
    "#",
    "\t",
    "<<",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.nat(SMOKE.length), (pieces, at) => {
      problems(pieces.join(""));
      problems(SMOKE.slice(0, at) + pieces.join("") + SMOKE.slice(at));
    }),
    { numRuns: 100 },
  );
});
