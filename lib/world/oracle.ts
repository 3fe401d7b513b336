import { hasCode, TracewrightError } from "../core/error.ts";
import type { WorldCode } from "./_error.ts";
import type { WorkflowTask } from "./contracts.ts";
import { WorkflowEnvironment } from "./environment.ts";

/** Whether one oracle plan of a case solves it. `reason` is "" where it does. */
export interface OracleReport {
  readonly case_id: string;
  readonly solvable: boolean;
  readonly plan_index: number;
  readonly executed_steps: number;
  readonly reason: string;
}

function fail(code: WorldCode, task: WorkflowTask, place: Readonly<Record<string, unknown>>): never {
  throw new TracewrightError<"world", WorldCode>(code, { case: task.case_id, ...place });
}

/**
 * Checks that the nodes of a task form a DAG that its tools can carry out. Source: protocol/environment.md section 6.
 *
 * @throws TracewrightError "duplicate_node", "unknown_predecessor", "self_dependency", "unknown_node_tool" or
 * "dependency_cycle", naming the node
 */
export function validateDag(task: WorkflowTask): void {
  const waiting = new Map<string, Set<string>>();
  const tools = new Set(task.tool_schemas.map((schema) => schema.name));
  for (const node of task.workflow_nodes) {
    if (waiting.has(node.node_id)) fail("duplicate_node", task, { node: node.node_id });
    waiting.set(node.node_id, new Set(node.required_predecessors));
  }
  for (const node of task.workflow_nodes) {
    for (const predecessor of node.required_predecessors) {
      if (predecessor === node.node_id) fail("self_dependency", task, { node: node.node_id });
      if (!waiting.has(predecessor)) {
        fail("unknown_predecessor", task, { node: node.node_id, actual: predecessor });
      }
    }
    if (!tools.has(node.tool_name)) {
      fail("unknown_node_tool", task, { node: node.node_id, actual: node.tool_name });
    }
  }
  // Kahn: take away nodes that wait for nothing until none is left
  while (waiting.size > 0) {
    const free = [...waiting].filter(([, needs]) => needs.size === 0).map(([id]) => id);
    if (free.length === 0) fail("dependency_cycle", task, { actual: [...waiting.keys()] });
    for (const id of free) waiting.delete(id);
    for (const needs of waiting.values()) for (const id of free) needs.delete(id);
  }
}

/**
 * Replays one oracle plan in a fresh environment: every call must be accepted and the end must be a success.
 *
 * @returns the number of steps made
 * @throws TracewrightError "unknown_plan", "plan_rejected", "plan_too_long" (calls are left after the end) or
 * "plan_incomplete"
 */
export function replayPlan(task: WorkflowTask, planIndex: number): number {
  const plan = task.oracle_plans[planIndex];
  if (plan === undefined) {
    return fail("unknown_plan", task, {
      expected: `an index below ${task.oracle_plans.length}`,
      actual: planIndex,
    });
  }
  const environment = new WorkflowEnvironment(task);
  for (const call of plan) {
    const place = { plan: planIndex, step: environment.steps, tool: call.tool_name };
    if (environment.done) fail("plan_too_long", task, place);
    const outcome = environment.step(call);
    if (!outcome.accepted) fail("plan_rejected", task, { ...place, message: outcome.reason });
  }
  if (!environment.evaluate().success) {
    fail("plan_incomplete", task, { plan: planIndex, step: environment.steps });
  }
  return environment.steps;
}

/**
 * Checks the DAG and replays a plan; what goes wrong with the task is reported, not thrown.
 *
 * @throws only what is not a fault of the task
 */
export function verifyOracle(task: WorkflowTask, planIndex = 0): OracleReport {
  const report = { case_id: task.case_id, plan_index: planIndex };
  try {
    validateDag(task);
    const steps = replayPlan(task, planIndex);
    return { ...report, solvable: true, executed_steps: steps, reason: "" };
  } catch (error) {
    if (!(error instanceof TracewrightError) || hasCode(error, "transaction_breach")) throw error;
    const step = error.details.step;
    return {
      ...report,
      solvable: false,
      executed_steps: typeof step === "number" ? step : 0,
      reason: error.message,
    };
  }
}
