import type { FeatureEncoder } from "../policy/encoder.ts";
import type { ToolCall, WorkflowState, WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { PolicyInputBuilder } from "../world/policy_input_builder.ts";
import { ToolRegistry } from "../world/tool_registry.ts";
import { episodeError } from "./_error.ts";
import { RememberingJudge } from "./_remembering_judge.ts";
import { oraclePositive } from "./positive_set.ts";

/** What a policy that knows the answers can choose from in a state. Indices into the candidates, ascending. */
export interface LabelledChoices {
  readonly candidates: readonly ToolCall[];
  /** Candidates that bring the goal nearer. */
  readonly towards: readonly number[];
  /** All others, and those of them that the environment would accept. */
  readonly away: readonly number[];
  readonly executableAway: readonly number[];
  readonly valid: readonly number[];
  readonly invalid: readonly number[];
}

interface Remembered {
  readonly choices: LabelledChoices;
  /** Encoded observations of the state, by what else they hold: step and message. */
  readonly encoded: Map<string, Int32Array>;
}

/**
 * One task, walked from its prefix states to the end many times over. It is the real environment; only what depends on a
 * state alone is worked out once a state.
 */
export class LabelWorld {
  readonly environment: WorkflowEnvironment;
  readonly #task: WorkflowTask;
  readonly #encoder: FeatureEncoder;
  readonly #inputs: PolicyInputBuilder;
  readonly #remembered = new Map<WorkflowState, Remembered>();

  constructor(task: WorkflowTask, encoder: FeatureEncoder) {
    this.environment = new WorkflowEnvironment(task, new RememberingJudge(new ToolRegistry(task)));
    this.#task = task;
    this.#encoder = encoder;
    this.#inputs = new PolicyInputBuilder(task.tool_schemas);
  }

  /**
   * Starts over, in the state after the first `prefix` calls of plan 0.
   *
   * @throws TracewrightError "bad_prefixes" if the plan does not lead there
   */
  startAfter(prefix: number): void {
    const { environment } = this;
    environment.reset();
    const plan = this.#task.oracle_plans[0] ?? [];
    for (let step = 0; step < prefix; step++) {
      const call = plan[step];
      if (call !== undefined && environment.step(call).accepted && !environment.done) continue;
      throw episodeError("bad_prefixes", {
        message: "plan 0 does not lead to a prefix state",
        case: this.#task.case_id,
        step,
        expected: `${prefix} accepted calls before the end`,
        actual: call === undefined ? "no call" : environment.done ? "the end" : "a rejected call",
      });
    }
  }

  /** The candidates of the present state, sorted by what they would do. */
  choices(): LabelledChoices {
    return this.#ofState().choices;
  }

  /** Makes the call of a candidate. */
  step(index: number): void {
    this.environment.step(this.choices().candidates[index]!);
  }

  /** The present observation as the actor would read it: the state part of the aliased policy input, shape [S]. */
  encode(): Int32Array {
    const { choices: { candidates }, encoded } = this.#ofState();
    const observation = this.environment.observe();
    const key = `${observation.step_index} ${observation.done} ${observation.message}`;
    let state = encoded.get(key);
    if (state === undefined) {
      // Aliases come from observation and candidates, so the mask may be anything.
      const mask = candidates.map(() => true);
      state = this.#encoder.encodeState(this.#inputs.build({ observation, candidates, mask }).observation);
      encoded.set(key, state);
    }
    return state;
  }

  #ofState(): Remembered {
    const { state } = this.environment;
    let known = this.#remembered.get(state);
    if (known === undefined) {
      known = { choices: this.#label(this.environment.candidates()), encoded: new Map() };
      this.#remembered.set(state, known);
    }
    return known;
  }

  #label(candidates: readonly ToolCall[]): LabelledChoices {
    const positive = oraclePositive(this.#task, this.environment, candidates);
    const accepted = candidates.map((call, i) => positive[i]! || this.environment.dryRun(call).valid);
    const where = (holds: (index: number) => boolean) => candidates.flatMap((_, i) => holds(i) ? [i] : []);
    return {
      candidates,
      towards: where((i) => positive[i]!),
      away: where((i) => !positive[i]),
      executableAway: where((i) => !positive[i] && accepted[i]!),
      valid: where((i) => accepted[i]!),
      invalid: where((i) => !accepted[i]),
    };
  }
}
