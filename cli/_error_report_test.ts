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

Deno.test("errorText() keeps the trace of an error that nobody foresaw", () => {
  assert.match(errorText(new TypeError("oops")), /^error: TypeError: oops\n +at [^]*please report it/);
  assert.match(errorText(new Deno.errors.NotFound("no a.yaml")), /^error: no a\.yaml \[refused\]\n {2}hint:/);
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
