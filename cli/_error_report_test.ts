import assert from "node:assert/strict";
import { TracewrightError } from "../lib/core/error.ts";
import { errorJson, errorText } from "./_error_report.ts";

const second = new TracewrightError("not_finite", {
  file: "x.yaml",
  line: 5,
  column: 1,
  expected: 1,
  actual: NaN,
});
const first = new TracewrightError("unknown_key", {
  message: "no such key",
  file: "x.yaml",
  line: 3,
  column: 4,
  key: "ppo.gama",
  expected: "gamma",
  actual: "gama",
  hint: 'did you mean "gamma"?',
  cause: new AggregateError([second]),
});

Deno.test("errorText() says what, where, seen, expected and what to do, for every problem", () => {
  assert.equal(
    errorText(first),
    `error: no such key [unknown_key]
  where:    x.yaml:3:4, key ppo.gama
  seen:     gama
  expected: gamma
  hint:     did you mean "gamma"?
error: not finite [not_finite]
  where:    x.yaml:5:1
  seen:     NaN
  expected: 1`,
  );
});

/** What is shown as seen and expected. */
function shown(code: string, { actual, expected }: { actual: unknown; expected: unknown }): string[] {
  const lines = errorText(new TracewrightError(code, { actual, expected })).split("\n").slice(1);
  return lines.map((line) => line.replace(/^ {2}(seen|expected): +/, ""));
}

Deno.test('errorText() shows a text that was written into a config as JSON, so that 17 and "17" differ', () => {
  const expected = "a whole number";
  assert.deepEqual(shown("wrong_type", { actual: "17", expected }), ['"17"', expected]);
  assert.deepEqual(shown("wrong_type", { actual: 17.5, expected }), ["17.5", expected]);
  assert.deepEqual(shown("wrong_type", { actual: "abc", expected }), ['"abc"', expected]);
  assert.deepEqual(shown("wrong_type", { actual: null, expected }), ["null", expected]);
  assert.deepEqual(shown("wrong_type", { actual: ["17", 17], expected }), ['["17",17]', expected]);
  assert.deepEqual(shown("wrong_value", { actual: -0, expected: 0 }), ["-0", "0"]);
});

Deno.test("errorText() quotes texts of other errors only where they would read as something else", () => {
  assert.deepEqual(shown("metrics_mismatch", { actual: "17", expected: 17 }), ['"17"', "17"]);
  assert.deepEqual(shown("metrics_mismatch", { actual: "null", expected: null }), ['"null"', "null"]);
  assert.deepEqual(shown("metrics_mismatch", { actual: "", expected: " a" }), ['""', '" a"']);
  assert.deepEqual(shown("view_mismatch", { actual: "sha256:00", expected: "3 traces" }), [
    "sha256:00",
    "3 traces",
  ]);
});

Deno.test("errorText() keeps the trace of an error that nobody foresaw", () => {
  assert.match(errorText(new TypeError("oops")), /^error: TypeError: oops\n +at [^]*please report it/);
  assert.match(errorText(new Deno.errors.NotFound("no a.yaml")), /^error: no a\.yaml \[refused\]\n {2}hint:/);
});

Deno.test("errorJson() writes numbers that JSON lacks as texts", () => {
  const { error } = errorJson(new TracewrightError("wrong_value", { actual: -0, expected: Infinity })) as {
    error: unknown;
  };
  assert.deepEqual(error, {
    actual: "-0",
    expected: "Infinity",
    code: "wrong_value",
    message: "wrong value",
  });
});

Deno.test("errorJson() holds the same, and only JSON", () => {
  assert.deepEqual(JSON.parse(JSON.stringify(errorJson(first))), {
    error: {
      file: "x.yaml",
      line: 3,
      column: 4,
      key: "ppo.gama",
      expected: "gamma",
      actual: "gama",
      hint: 'did you mean "gamma"?',
      code: "unknown_key",
      message: "no such key",
    },
    further: [{
      file: "x.yaml",
      line: 5,
      column: 1,
      expected: 1,
      actual: "NaN",
      code: "not_finite",
      message: "not finite",
    }],
  });
});
