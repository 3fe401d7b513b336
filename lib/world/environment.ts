/**
 * The transactional environment of one case. States are immutable and share what did not change; a call that is not
 * committed gives back the same state object. Source: protocol/environment.md section 5.
 */
import type { JsonObject } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import type { WorldCode } from "./_error.ts";
import { CandidateBuilder, type CandidateOptions } from "./candidates.ts";
import type {
  Observation,
  StepOutcome,
  TaskEvaluation,
  ToolCall,
  ValidationResult,
  WorkflowState,
  WorkflowTask,
} from "./contracts.ts";
import { frozenCopy } from "./frozen_copy.ts";
import { oncePerFrozen } from "./once_per_frozen.ts";
import { predicateHolds } from "./predicates.ts";
import { type Execution, ToolRegistry } from "./tool_registry.ts";
import { visibleState } from "./visible_state.ts";

/** What judges and executes calls; a {@link ToolRegistry}, or a stand-in of a test. */
export interface CallJudge {
  validate(state: WorkflowState, call: ToolCall): ValidationResult;
  execute(state: WorkflowState, call: ToolCall): Execution;
}

const RESET_MESSAGE = "The case is open; choose the next call.";

const REWARD_SUCCESS = 1;
const REWARD_TIMEOUT = -1;
const REWARD_ACCEPTED = -0.01;
const REWARD_REJECTED = -0.15;

const registryOf = oncePerFrozen((task: WorkflowTask) => new ToolRegistry(task));
const builderOf = oncePerFrozen((schemas: WorkflowTask["tool_schemas"]) => new CandidateBuilder(schemas));

/** One case being worked on. Constructing it resets it; {@link reset} starts over. */
export class WorkflowEnvironment {
  readonly task: WorkflowTask;
  readonly #judge: CallJudge;
  readonly #builder: CandidateBuilder;
  readonly #initial: WorkflowState;
  readonly #entities: readonly string[];
  readonly #tools: readonly string[];
  #state: WorkflowState;
  #visible: JsonObject;
  #steps = 0;
  #totalLatencyMs = 0;
  #done = false;
  #message = RESET_MESSAGE;

  /**
   * @param judge a {@link ToolRegistry} of the task unless given
   * @throws TracewrightError where the task contradicts itself; see {@link ToolRegistry}
   */
  constructor(task: WorkflowTask, judge: CallJudge = registryOf(task)) {
    this.task = task;
    this.#judge = judge;
    this.#builder = builderOf(task.tool_schemas);
    this.#initial = frozenCopy(task.initial_state);
    this.#entities = Object.freeze([task.entity_id]);
    this.#tools = Object.freeze(task.tool_schemas.map((schema) => schema.name));
    this.#state = this.#initial;
    this.#visible = visibleState(this.#initial);
  }

  /** The full state, hidden fields included: an immutable snapshot. */
  get state(): WorkflowState {
    return this.#state;
  }

  get done(): boolean {
    return this.#done;
  }

  /** Calls made since the reset, rejected ones included. */
  get steps(): number {
    return this.#steps;
  }

  /** Simulated service time since the reset, in whole milliseconds. */
  get totalLatencyMs(): number {
    return this.#totalLatencyMs;
  }

  /** Starts over from the initial state. */
  reset(): Observation {
    this.#state = this.#initial;
    this.#visible = visibleState(this.#initial);
    this.#steps = 0;
    this.#totalLatencyMs = 0;
    this.#done = false;
    this.#message = RESET_MESSAGE;
    return this.observe();
  }

  /** What a policy may see. The nested parts are frozen and shared between observations. */
  observe(): Observation {
    const { case_id, max_steps, user_goal } = this.task;
    return {
      task_id: case_id,
      step_index: this.#steps,
      max_steps,
      remaining_steps: max_steps - this.#steps,
      user_goal,
      visible_state: this.#visible,
      available_entities: this.#entities,
      available_tools: this.#tools,
      message: this.#message,
      done: this.#done,
    };
  }

  /** The action space of the present state; fresh objects every time. */
  candidates(options: CandidateOptions = {}): readonly ToolCall[] {
    return this.#builder.build({ caseId: this.task.case_id, state: this.#state }, options);
  }

  /** The label that {@link step} would act on; changes nothing and uses no step. */
  dryRun(call: ToolCall): ValidationResult {
    return this.#judge.validate(this.#state, call);
  }

  /**
   * Makes one call: one step, accepted or not.
   *
   * @throws TracewrightError "episode_over" after the end; "transaction_breach" if a rejected call gave back another
   * state
   */
  step(call: ToolCall): StepOutcome {
    if (this.#done) {
      throw new TracewrightError<"world", WorldCode>("episode_over", {
        case: this.task.case_id,
        step: this.#steps,
        hint: "call reset() to start over",
      });
    }
    const { state, result, latencyMs } = this.#judge.execute(this.#state, call);
    if (state !== this.#state) {
      if (!result.valid) {
        throw new TracewrightError<"world", WorldCode>("transaction_breach", {
          message: "a rejected call changed the state",
          case: this.task.case_id,
          step: this.#steps,
          tool: call.tool_name,
        });
      }
      this.#state = state;
      this.#visible = visibleState(state);
    }
    this.#steps += 1;
    this.#totalLatencyMs += latencyMs;
    const { success } = this.evaluate();
    const timedOut = !success && this.#steps >= this.task.max_steps;
    this.#done = success || timedOut;
    this.#message = result.reason;
    return {
      observation: this.observe(),
      reward: success
        ? REWARD_SUCCESS
        : timedOut
        ? REWARD_TIMEOUT
        : result.valid
        ? REWARD_ACCEPTED
        : REWARD_REJECTED,
      done: this.#done,
      success,
      accepted: result.valid,
      invalid_kind: result.invalid_kind,
      reason: result.reason,
      simulated_latency_ms: latencyMs,
      info: {
        case_id: this.task.case_id,
        node_id: result.node_id,
        idempotent_replay: result.idempotent_replay,
        timed_out: timedOut,
        state_version: state.version,
        total_simulated_latency_ms: this.#totalLatencyMs,
      },
    };
  }

  /** Judges the present state: every hidden predicate holds and no forbidden side effect was recorded. */
  evaluate(): TaskEvaluation {
    const { task } = this;
    const state = this.#state;
    const satisfied = task.hidden_goal_predicates.every((predicate) => predicateHolds(predicate, state));
    let forbidden = 0;
    for (const effect of state.side_effects) if (task.forbidden_side_effects.includes(effect)) forbidden += 1;
    return {
      case_id: task.case_id,
      success: satisfied && forbidden === 0,
      goal_predicates_satisfied: satisfied,
      forbidden_side_effect_count: forbidden,
      completed_steps: state.completed_nodes.length,
      optimal_steps: task.optimal_steps,
      max_steps: task.max_steps,
    };
  }
}
