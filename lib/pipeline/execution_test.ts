import assert from "node:assert/strict";
import { RUNTIME_NAMES } from "../policy/runtime.ts";
import { setStageMetricsJudge, setStageRuntime, stageMetricsJudge, stageRuntime } from "./execution.ts";

Deno.test("stageRuntime() is the interpreter until somebody chooses, for it needs no permission", () => {
  assert.equal(stageRuntime(), "reference");
  for (const name of RUNTIME_NAMES) {
    setStageRuntime(name);
    assert.equal(stageRuntime(), name);
  }
});

Deno.test("stageMetricsJudge() is nobody until the host offers one", () => {
  assert.equal(stageMetricsJudge(), undefined);
  const judge = () => Promise.resolve();
  setStageMetricsJudge(judge);
  assert.equal(stageMetricsJudge(), judge);
  setStageMetricsJudge(undefined);
  assert.equal(stageMetricsJudge(), undefined);
});
