import type { ToolCall, WorkflowTask } from "../world/contracts.ts";
import type { WorkflowEnvironment } from "../world/environment.ts";

/**
 * Which candidates bring the goal nearer: valid ones whose operation belongs to the target and is not finished. In v1.3
 * every node is a target, so all shortest paths lie inside this set. Reads the hidden half: for labels and checks only.
 * Source: protocol/policy-and-training.md section 5.1.
 *
 * @returns shape [A]
 */
export function oraclePositive(
  task: WorkflowTask,
  environment: WorkflowEnvironment,
  candidates: readonly ToolCall[],
): boolean[] {
  const targets = new Set(task.workflow_nodes.map((node) => node.node_id));
  for (const finished of environment.state.completed_nodes) targets.delete(finished);
  return candidates.map((call) => {
    const operation = call.arguments["operation_id"];
    return typeof operation === "string" && targets.has(operation) && environment.dryRun(call).valid;
  });
}
