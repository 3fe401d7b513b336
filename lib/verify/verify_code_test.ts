import assert from "node:assert/strict";
import { TracewrightError } from "../core/error.ts";
import { inPlace, placed, VERIFY_CODES, verifyError } from "./verify_code.ts";

Deno.test("verifyError() says code, step, place and both values", () => {
  const { code, message } = verifyError("metrics_mismatch", {
    verify_step: "metrics",
    node: "metrics",
    field: "runs.0.variant",
    expected: "B",
    actual: "E",
  });
  assert.equal(code, "metrics_mismatch");
  assert.match(
    message,
    /verify_step "metrics", node "metrics", field "runs\.0\.variant"; expected "B", got "E"/,
  );
});

Deno.test("VERIFY_CODES holds each code once", () => {
  assert.equal(new Set(VERIFY_CODES).size, VERIFY_CODES.length);
});

Deno.test("inPlace() adds where it happened, and keeps what the error says itself", () => {
  const inner = new TracewrightError("off_grid", { node: "inner", layer: "value_output" });
  const work = () => {
    throw inner;
  };
  assert.throws(() => inPlace({ node: "bc/17", output: "policy.onnx" }, work), (error) => {
    assert.ok(error instanceof TracewrightError);
    assert.equal(error.code, "off_grid");
    const { cause, ...details } = error.details;
    assert.deepEqual(details, { node: "inner", output: "policy.onnx", layer: "value_output" });
    assert.equal(cause, inner);
    return true;
  });
  assert.equal(inPlace({ node: "x" }, () => 7), 7);
});

Deno.test("placed() takes the two values of the nearest cause that has them", () => {
  const core = new TracewrightError("not_canonical", { expected: "{", actual: " {" });
  const store = new TracewrightError("not_canonical", { what: "run manifest", cause: core });
  const error = placed(store, { verify_step: "structure" });
  assert.ok(error instanceof TracewrightError);
  const { expected, actual, what, verify_step } = error.details;
  assert.deepEqual({ expected, actual, what, verify_step }, {
    expected: "{",
    actual: " {",
    what: "run manifest",
    verify_step: "structure",
  });
});

Deno.test("placed() leaves an error alone that is none of ours: a fault of the program is no verdict", () => {
  const fault = new TypeError("undefined is not a function");
  assert.equal(placed(fault, { node: "bc/17" }), fault);
});
