import { canonicalJson } from "../core/canonical_json.ts";
import type { EncodedDecision, FeatureEncoder } from "../policy/encoder.ts";
import { ActionMask } from "../world/action_mask.ts";
import type { ToolCall, WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { PolicyInputBuilder } from "../world/policy_input_builder.ts";
import { episodeError } from "./_error.ts";

/** One decision of the oracle. */
export interface Demonstration {
  readonly features: EncodedDecision;
  /** Index of the oracle's call among the candidates. */
  readonly label: number;
  /** The public mask; training allows every candidate, so that one checkpoint serves masked and unmasked variants. */
  readonly publicMask: readonly boolean[];
}

/** Two calls are the same decision when name and arguments match; `call_id` is ignored. */
export function sameDecision(a: ToolCall, b: ToolCall): boolean {
  return a.tool_name === b.tool_name && canonicalJson(a.arguments) === canonicalJson(b.arguments);
}

/**
 * The decisions of plan 0 of each task, in task order (protocol/policy-and-training.md section 4).
 *
 * @throws TracewrightError "bad_demonstration" if there is no plan, if one of its calls comes after the end, is not among
 * the candidates, is masked or is refused, or if the plan does not reach the goal
 */
export function* demonstrations(
  tasks: Iterable<WorkflowTask>,
  encoder: FeatureEncoder,
): Generator<Demonstration> {
  for (const task of tasks) {
    const environment = new WorkflowEnvironment(task);
    const mask = new ActionMask(task.tool_schemas);
    const inputs = new PolicyInputBuilder(task.tool_schemas);
    const bad = (message: string, step: number): never => {
      throw episodeError("bad_demonstration", { message, case: task.case_id, step });
    };
    const plan = task.oracle_plans[0] ?? bad("the task has no oracle plan", 0);
    for (const [step, call] of plan.entries()) {
      if (environment.done) bad("the oracle's plan goes on after the end", step);
      const candidates = environment.candidates();
      const observation = environment.observe();
      const publicMask = mask.mask(observation, candidates);
      const label = candidates.findIndex((candidate) => sameDecision(candidate, call));
      if (label < 0) bad("the oracle's call is not among the candidates", step);
      if (!publicMask[label]) bad("the action mask forbids the oracle's call", step);
      const input = inputs.build({ observation, candidates, mask: candidates.map(() => true) });
      yield { features: encoder.encode(input), label, publicMask };
      if (!environment.step(candidates[label]!).accepted) {
        bad("the environment refused the oracle's call", step);
      }
    }
    if (!environment.evaluate().success) bad("the oracle's plan does not reach the goal", plan.length);
  }
}
