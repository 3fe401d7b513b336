import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { callOf, exampleTask, operationOf, queryOf } from "./_example_task.ts";
import type { WorkflowNode } from "./contracts.ts";
import { replayPlan, validateDag, verifyOracle } from "./oracle.ts";

const task = exampleTask();
const [first, second, ...others] = task.workflow_nodes;

function withNodes(nodes: readonly WorkflowNode[]) {
  return exampleTask({ workflow_nodes: nodes });
}

Deno.test("verifyOracle() reports both plans of a good task as solvable in its optimal steps", () => {
  for (const plan_index of [0, 1]) {
    assert.deepEqual(verifyOracle(task, plan_index), {
      case_id: "test-desk-0001",
      solvable: true,
      plan_index,
      executed_steps: 6,
      reason: "",
    });
  }
});

const BROKEN_DAGS: Readonly<Record<string, readonly WorkflowNode[]>> = {
  duplicate_node: [first!, first!, ...others],
  unknown_predecessor: [first!, { ...second!, required_predecessors: ["op_none"] }, ...others],
  self_dependency: [first!, { ...second!, required_predecessors: [second!.node_id] }, ...others],
  unknown_node_tool: [first!, { ...second!, tool_name: "desk.none" }, ...others],
  dependency_cycle: [{ ...first!, required_predecessors: [operationOf("finish_case")] }, second!, ...others],
};

for (const [code, nodes] of Object.entries(BROKEN_DAGS)) {
  Deno.test(`validateDag() refuses a ${code}, and verifyOracle() reports it`, () => {
    const broken = withNodes(nodes);
    assert.throws(() => validateDag(broken), (error) => hasCode(error, code));
    const report = verifyOracle(broken);
    assert.equal(report.solvable, false);
    assert.match(report.reason, new RegExp(code));
  });
}

Deno.test("replayPlan() refuses plans that do not exist, are rejected, end early or go on after the end", () => {
  const plan = task.oracle_plans[0]!;
  const plans = {
    plan_rejected: [plan[0]!, callOf("choose_path", 1)],
    plan_incomplete: plan.slice(0, 5),
    plan_too_long: [...plan, queryOf(6)],
  };
  for (const [code, calls] of Object.entries(plans)) {
    const broken = exampleTask({ oracle_plans: [calls] });
    assert.throws(() => replayPlan(broken, 0), (error) => hasCode(error, code), code);
    assert.equal(verifyOracle(broken).solvable, false);
  }
  assert.throws(() => replayPlan(task, 2), (error) => hasCode(error, "unknown_plan"));
  assert.equal(verifyOracle(exampleTask({ oracle_plans: [plans.plan_rejected] })).executed_steps, 1);
});

Deno.test("replayPlan() judges by the final state: any legal order succeeds", () => {
  assert.equal(replayPlan(task, 1), 6);
  const detour = [queryOf(0), callOf("take_in", 0), callOf("take_in", 5), ...task.oracle_plans[1]!.slice(1)];
  assert.equal(replayPlan(exampleTask({ oracle_plans: [detour] }), 0), 8);
});
