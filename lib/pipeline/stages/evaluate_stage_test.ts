import assert from "node:assert/strict";
import { readTaskLines } from "../../benchmark/task_lines.ts";
import { parseCanonical } from "../../core/canonical_json.ts";
import { hasCode } from "../../core/error.ts";
import type { CompactStep, TraceRecord } from "../../episode/trace.ts";
import { RUNTIME_NAMES } from "../../policy/runtime.ts";
import { runStageInMemory } from "../../stage/run_stage.ts";
import { ExampleRun, TINY } from "../_example_run.ts";
import { setStageRuntime } from "../execution.ts";
import { evaluateStage } from "./evaluate_stage.ts";

const RUN = new ExampleRun();

function records(bytes: Uint8Array): TraceRecord<CompactStep>[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  assert.equal(lines.pop(), "");
  return lines.map((line) => parseCanonical(line) as unknown as TraceRecord<CompactStep>);
}

async function evaluate(
  node: string,
  { params = {}, inputs = {} }: {
    readonly params?: Record<string, unknown>;
    readonly inputs?: Record<string, Uint8Array>;
  },
): Promise<Uint8Array> {
  const outputs = await runStageInMemory(evaluateStage, {
    params: { ...RUN.params(node), ...params } as ReturnType<typeof RUN.params>,
    inputs: { ...await RUN.inputs(node), ...inputs },
  });
  return outputs["traces.jsonl"]!;
}

Deno.test("evaluateStage gives the same traces from every runtime", async () => {
  const outputs = await RUN.outputs("evaluate/e/17");
  for (const runtime of RUNTIME_NAMES) {
    setStageRuntime(runtime);
    assert.deepEqual(await RUN.again("evaluate/e/17"), outputs, runtime);
  }
  setStageRuntime("reference");
});

Deno.test("evaluateStage writes one compact trace a test case, in the order of the split", async () => {
  const tasks = readTaskLines((await RUN.outputs("benchmark"))["test.jsonl"]!);
  for (const [node, progress] of [["evaluate/b/17", false], ["evaluate/e/17", true]] as const) {
    const traces = records((await RUN.outputs(node))["traces.jsonl"]!);
    assert.deepEqual(traces.map(({ case_id }) => case_id), tasks.map(({ case_id }) => case_id));
    for (const { trace_mode, credit_assignment, steps } of traces) {
      assert.deepEqual([trace_mode, credit_assignment], ["compact", "action"]);
      assert.ok(steps.every(({ info }) => (info.progress_potential !== null) === progress));
      assert.ok(steps.every(({ action_mask, action_index }) => action_mask[action_index]));
      assert.ok(steps.every(({ predicted_valid, valid_label }) => predicted_valid && valid_label));
    }
  }
});

Deno.test("evaluateStage offers everything to an unmasked variant and records the credit it was trained by", async () => {
  const params = { action_mask: false, credit_assignment: "sequence" };
  for (const { credit_assignment, steps } of records(await evaluate("evaluate/b/17", { params }))) {
    assert.equal(credit_assignment, "sequence");
    assert.ok(steps.every(({ action_mask }) => action_mask.every((bit) => bit)));
  }
});

Deno.test("evaluateStage refuses graphs that do not fit and graphs that are not ours", async () => {
  const refused = (changes: Parameters<typeof evaluate>[1], code: string) =>
    assert.rejects(evaluate("evaluate/e/17", changes), (error) => hasCode(error, code));
  const { "estimators/progress": estimator, policy } = await RUN.inputs("evaluate/e/17");
  const flipped = policy!.with(policy!.length - 9, policy!.at(-9)! ^ 1);
  await refused({ inputs: { policy: estimator! } }, "graph_mismatch");
  await refused({ inputs: { "estimators/progress": policy! } }, "graph_mismatch");
  await refused({ params: { policy: { ...TINY.policy, state_width: 40 } } }, "graph_mismatch");
  await refused({ params: { policy: { ...TINY.policy, action_width: 40 } } }, "graph_mismatch");
  await refused({ inputs: { policy: policy!.slice(0, -1) } }, "onnx_truncated");
  await assert.rejects(evaluate("evaluate/e/17", { inputs: { policy: flipped } }));
});
