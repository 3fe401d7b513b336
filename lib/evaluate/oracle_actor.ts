import { TracewrightError } from "../core/error.ts";
import type { Actor, PendingDecision } from "../episode/actor.ts";
import type { WorkflowTask } from "../world/contracts.ts";

/** The selectable candidate that carries out the operation which the plan has at this step. */
function planned({ input, episode }: PendingDecision, tasks: readonly WorkflowTask[]): number {
  const step = input.observation.step_index;
  const task = tasks[episode];
  const call = task?.oracle_plans[0]?.[step];
  // Entities are aliased in what an actor sees, operations are not.
  const index = call === undefined
    ? -1
    : input.candidates.findIndex(({ action_mask, tool_call }) =>
      action_mask && tool_call.tool_name === call.tool_name &&
      tool_call.arguments.operation_id === call.arguments.operation_id
    );
  if (index >= 0) return index;
  throw new TracewrightError<"evaluate", "plan_not_offered">("plan_not_offered", {
    message: "the oracle's next call is not among the selectable candidates",
    case: task?.case_id,
    step,
    expected: call?.tool_name ?? "a planned call",
    actual: input.candidates.map(({ tool_call }) => tool_call.tool_name),
  });
}

/**
 * Plays plan 0 of each task. This is no policy: it reads the hidden half of the tasks, and exists only to show, through the
 * same runner and the same traces as every policy, what the best possible row of a table is.
 *
 * @param tasks the very list that the episodes are run over, in the same order
 * @throws TracewrightError "plan_not_offered" where a plan cannot be played with what is offered
 */
export function oracleActor(tasks: readonly WorkflowTask[]): Actor {
  return (decisions) =>
    Promise.resolve(
      decisions.map((decision) => ({ index: planned(decision, tasks), logProb: 0, value: 0 })),
    );
}
