import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { ActionMask } from "../world/action_mask.ts";
import type { ToolCall, WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { policyInputFromDecision } from "../world/policy_input.ts";
import { demonstrations, sameDecision } from "./demonstrations.ts";
import { ENCODER, exampleTasks } from "./_example_episodes.ts";

const TASKS = exampleTasks(10, "train");

Deno.test("demonstrations() shows plan 0 of every task, complete and in order", () => {
  const shown = demonstrations(TASKS, ENCODER);
  for (const task of TASKS) {
    const environment = new WorkflowEnvironment(task);
    const mask = new ActionMask(task.tool_schemas);
    for (const call of task.oracle_plans[0]!) {
      const { features, label, publicMask } = shown.next().value!;
      const candidates = environment.candidates();
      const observation = environment.observe();
      assert.ok(sameDecision(candidates[label]!, call));
      assert.deepEqual(publicMask, mask.mask(observation, candidates));
      assert.ok(publicMask[label] && publicMask.includes(false));
      // Trained unmasked: one checkpoint serves masked and unmasked variants.
      const allowed = candidates.map(() => true);
      const input = policyInputFromDecision({
        observation,
        candidates,
        mask: allowed,
        schemas: task.tool_schemas,
      });
      assert.deepEqual(features, ENCODER.encode(input));
      assert.deepEqual(features.mask, allowed);
      environment.step(call);
    }
    assert.ok(environment.evaluate().success);
  }
  assert.equal(shown.next().done, true);
});

Deno.test("sameDecision() compares name and arguments, not the call id or the order of keys", () => {
  const call: ToolCall = { tool_name: "t", arguments: { a: 1, b: "x" }, call_id: "one" };
  assert.ok(sameDecision(call, { tool_name: "t", arguments: { b: "x", a: 1 }, call_id: "two" }));
  assert.ok(!sameDecision(call, { ...call, tool_name: "u" }));
  assert.ok(!sameDecision(call, { ...call, arguments: { a: 1 } }));
  assert.ok(!sameDecision(call, { ...call, arguments: { a: true, b: "x" } }));
});

Deno.test("demonstrations() refuses a task whose plan does not demonstrate anything", () => {
  const [task] = TASKS;
  const plan = task!.oracle_plans[0]!;
  const [first, ...rest] = plan;
  const candidates = new WorkflowEnvironment(task!).candidates();
  const masked = candidates.find(({ call_id }) => call_id.startsWith("grounding-negative"))!;
  const last = plan.at(-1)!.arguments;
  const claimed = { [String(last["idempotency_key"])]: "op_" + "0".repeat(20) };
  const doctored: readonly [Partial<WorkflowTask>, RegExp, number][] = [
    [{ oracle_plans: [] }, /no oracle plan/, 0],
    [{ oracle_plans: [[{ ...first!, tool_name: "unknown" }, ...rest]] }, /not among the candidates/, 0],
    [{ oracle_plans: [[plan[1]!, ...rest]] }, /not among the candidates/, 0],
    [{ oracle_plans: [[masked, ...rest]] }, /mask forbids/, 0],
    // Only the hidden ledger knows that the key was used, so the mask allows what the environment refuses.
    [
      { initial_state: { ...task!.initial_state, idempotency_results: claimed } },
      /environment refused/,
      plan.length - 1,
    ],
    [{ oracle_plans: [[...plan, first!]] }, /after the end/, plan.length],
    [{ oracle_plans: [plan.slice(0, -1)] }, /does not reach the goal/, plan.length - 1],
  ];
  for (const [change, message, step] of doctored) {
    assert.throws(() => [...demonstrations([{ ...task!, ...change }], ENCODER)], (error) => {
      assert.ok(hasCode(error, "bad_demonstration"), String(error));
      assert.match(error.message, message);
      assert.deepEqual([error.details["case"], error.details["step"]], [task!.case_id, step]);
      return true;
    });
  }
});
