import assert from "node:assert/strict";
import { hasCode, TracewrightError } from "./error.ts";

Deno.test("TracewrightError says what, where, both values and what to do", () => {
  const error = new TracewrightError<"verify", "trace_mismatch">("trace_mismatch", {
    message: "a record differs",
    node: "evaluate/E/17",
    step: 4,
    expected: -0.5,
    actual: "x",
    hint: "rerun the stage",
  });
  assert.equal(
    error.message,
    'trace_mismatch: a record differs; at node "evaluate/E/17", step 4; expected -0.5, got "x"; hint: rerun the stage',
  );
  assert.equal(error.name, "TracewrightError");
  assert.equal(error.details.step, 4);
});

Deno.test("TracewrightError with a code alone is that code", () => {
  assert.equal(new TracewrightError("bad_seed").message, "bad_seed");
});

Deno.test("TracewrightError shows every kind of value, and shortens long ones", () => {
  const got = (actual: unknown) =>
    new TracewrightError("c", { actual }).message.slice("c; expected nothing, got ".length);
  assert.equal(got(undefined), "nothing");
  assert.equal(got(NaN), "NaN");
  assert.equal(got(12n), "12");
  assert.equal(got({ a: [1] }), '{"a":[1]}');
  assert.equal(got("y".repeat(500)).length, 162);
  assert.equal(got(Array(500).fill(1)).length, 200);
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  assert.equal(got(cycle), "[object Object]");
});

Deno.test("TracewrightError keeps its cause out of the message", () => {
  const cause = new Error("disk full");
  const error = new TracewrightError("io", { cause });
  assert.equal(error.cause, cause);
  assert.equal(error.message, "io");
});

Deno.test("hasCode() is true for our errors with that code, and for nothing else", () => {
  assert.ok(hasCode(new TracewrightError("a"), "a"));
  assert.ok(!hasCode(new TracewrightError("b"), "a"));
  assert.ok(!hasCode(Object.assign(new Error("a"), { code: "a" }), "a"));
  assert.ok(!hasCode(undefined, "a"));
});
