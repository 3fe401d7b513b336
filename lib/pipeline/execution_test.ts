import assert from "node:assert/strict";
import { RUNTIME_NAMES } from "../policy/runtime.ts";
import { setStageRuntime, stageRuntime } from "./execution.ts";

Deno.test("stageRuntime() is the interpreter until somebody chooses, for it needs no permission", () => {
  assert.equal(stageRuntime(), "reference");
  for (const name of RUNTIME_NAMES) {
    setStageRuntime(name);
    assert.equal(stageRuntime(), name);
  }
});
