import type { ToolCall, ValidationResult, WorkflowState } from "../world/contracts.ts";
import type { CallJudge } from "../world/environment.ts";
import type { Execution } from "../world/tool_registry.ts";

/**
 * A judge that remembers what a call did in a state, both told apart by identity. States and calls are immutable and
 * judging is a pure function, so the answers are those of the judge behind it. Who walks one task many times then comes
 * back to the same state objects, and may keep by them what depends on a state alone.
 */
export class RememberingJudge implements CallJudge {
  readonly #judge: CallJudge;
  readonly #executions = new WeakMap<WorkflowState, Map<ToolCall, Execution>>();

  constructor(judge: CallJudge) {
    this.#judge = judge;
  }

  validate(state: WorkflowState, call: ToolCall): ValidationResult {
    return this.#judge.validate(state, call);
  }

  execute(state: WorkflowState, call: ToolCall): Execution {
    let ofState = this.#executions.get(state);
    if (ofState === undefined) this.#executions.set(state, ofState = new Map());
    let execution = ofState.get(call);
    if (execution === undefined) ofState.set(call, execution = this.#judge.execute(state, call));
    return execution;
  }
}
