/**
 * action-validity-v2: calls with labels, to measure an action mask by. Every label comes from a dry run of the environment;
 * nothing here imports the mask that is measured. Source: protocol/benchmark-v1.3.md section 11.
 */
import { canonicalJson } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { sha256Hex } from "../core/digest.ts";
import {
  INVALID_KINDS,
  type InvalidActionKind,
  type Observation,
  type Split,
  type ToolCall,
  type ValidationResult,
  type WorkflowTask,
} from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { ToolRegistry } from "../world/tool_registry.ts";
import type { BenchmarkCode } from "./_error.ts";

/** Name of the data set; also names its random streams. */
export const ACTION_VALIDITY = "action-validity-v2";
/** States of plan 0 that are sampled per task. */
export const STATES_PER_TASK = 5;
/** Calls per state: half of them valid, half not. */
export const CANDIDATES_PER_STATE = 4;
/** Who labelled the rows. */
export const LABEL_SOURCE = "environment_dry_run";

/** What a row asks of a mask. A collision cannot be seen in the observation. */
export const CHALLENGES = ["standard_candidate", "hidden_ledger_collision"] as const;
/** One of {@link CHALLENGES}. */
export type ActionValidityChallenge = (typeof CHALLENGES)[number];

/** One labelled call, with the snake_case names it has on disk. */
export interface ActionValidityRow {
  /** `<case>-state-NN-candidate-NN`; rows are sorted by it. */
  readonly sample_id: string;
  readonly case_id: string;
  readonly split: Split;
  readonly family: string;
  readonly state_index: number;
  /** Position in plan 0 at which the state was taken. */
  readonly workflow_step_index: number;
  /** What a policy would see. A hidden ledger collision leaves no mark on it. */
  readonly observation: Observation;
  readonly tool_call: ToolCall;
  readonly valid_label: boolean;
  /** Null exactly where the label is valid. */
  readonly invalid_kind: InvalidActionKind | null;
  readonly label_source: typeof LABEL_SOURCE;
  readonly challenge_source: ActionValidityChallenge;
  /** SHA-256 of the canonical observation, 64 hexadecimal digits. */
  readonly state_sha256: string;
}

/** A call with the environment's judgement of it. */
interface Labelled {
  readonly call: ToolCall;
  readonly label: ValidationResult;
  readonly challenge: ActionValidityChallenge;
}

function refuse(code: BenchmarkCode, task: WorkflowTask, place: Readonly<Record<string, unknown>>): never {
  throw new TracewrightError<"benchmark", BenchmarkCode>(code, { case: task.case_id, ...place });
}

/**
 * The positions of plan 0 at which states are taken: round(k (L - 1) / 4) for k = 0..4, halves to the even neighbour, in
 * whole numbers only.
 *
 * @param length L, the number of steps of the plan
 */
export function sampledPositions(length: number): number[] {
  const last = STATES_PER_TASK - 1;
  return Array.from({ length: STATES_PER_TASK }, (_, k) => {
    const scaled = k * (length - 1);
    const below = Math.floor(scaled / last);
    const twice = 2 * (scaled - below * last);
    return twice > last || (twice === last && below % 2 === 1) ? below + 1 : below;
  });
}

/** Hands out kinds of negatives in their fixed order, across states and tasks alike, so that each is as frequent. */
class KindCursor {
  #at = 0;
  next(): InvalidActionKind {
    return INVALID_KINDS[this.#at++ % INVALID_KINDS.length]!;
  }
}

/**
 * A valid final action whose idempotency key the hidden ledger has already given to another operation. The label is that
 * of the altered state; the observation stays that of the true one, so no public rule can see the conflict.
 */
function hiddenLedgerCollision(
  env: WorkflowEnvironment,
  candidates: readonly Labelled[],
): Labelled {
  const { task } = env;
  const final = candidates.find(({ label }) => label.code === "ok");
  const key = final?.call.arguments.idempotency_key;
  if (final === undefined || typeof key !== "string") {
    return refuse("no_final_action", task, { step: env.steps, expected: "a ready call with a key" });
  }
  const other = task.oracle_plans[0]!.map((call) => call.arguments.operation_id)
    .find((operation) => operation !== final.label.node_id);
  const { state } = env;
  const altered = {
    ...state,
    idempotency_results: { ...state.idempotency_results, [key]: String(other) },
  };
  const label = new ToolRegistry(task).validate(altered, final.call);
  if (label.code !== "idempotency_key_conflict") {
    return refuse("no_collision", task, {
      step: env.steps,
      expected: "idempotency_key_conflict",
      actual: label.code,
    });
  }
  return { call: final.call, label, challenge: "hidden_ledger_collision" };
}

/** The calls of one state: the first valid ones in candidate order, then the kinds of negatives whose turn it is. */
function picks(env: WorkflowEnvironment, cursor: KindCursor): Labelled[] {
  const { task } = env;
  const candidates: Labelled[] = env.candidates().map((call) => ({
    call,
    label: env.dryRun(call),
    challenge: "standard_candidate",
  }));
  const valid = candidates.filter(({ label }) => label.valid);
  if (valid.length === 0) refuse("no_such_candidate", task, { step: env.steps, expected: "a valid one" });
  const half = CANDIDATES_PER_STATE / 2;
  const chosen = Array.from({ length: half }, (_, i) => valid[i % valid.length]!);
  const onlyFinalLeft = env.steps === task.oracle_plans[0]!.length - 1;
  for (let slot = 0; slot < half; slot++) {
    const kind = cursor.next();
    if (kind === "safety" && onlyFinalLeft) {
      chosen.push(hiddenLedgerCollision(env, candidates));
      continue;
    }
    const negative = candidates.find(({ label }) => label.invalid_kind === kind);
    if (negative === undefined) refuse("no_such_candidate", task, { step: env.steps, expected: kind });
    chosen.push(negative);
  }
  return chosen;
}

const twoDigits = (index: number): string => String(index).padStart(2, "0");

function* rowsOfTask(
  task: WorkflowTask,
  { seed, cursor }: { readonly seed: number; readonly cursor: KindCursor },
): Generator<ActionValidityRow> {
  const env = new WorkflowEnvironment(task);
  const plan = task.oracle_plans[0];
  if (plan === undefined || plan.length < STATES_PER_TASK) {
    return refuse("plan_too_short", task, {
      expected: `a plan of at least ${STATES_PER_TASK} steps`,
      actual: plan?.length ?? 0,
    });
  }
  for (const [stateIndex, position] of sampledPositions(plan.length).entries()) {
    while (env.steps < position) {
      const step = env.steps;
      const { accepted, reason } = env.step(plan[step]!);
      if (!accepted) refuse("unsolvable_task", task, { step, expected: "an accepted call", actual: reason });
    }
    const observation = env.observe();
    const state_sha256 = sha256Hex(canonicalJson(observation));
    const state = `state-${twoDigits(stateIndex)}`;
    const labelled = picks(env, cursor).map((pick, slot) => ({
      ...pick,
      call: { ...pick.call, call_id: `${pick.call.call_id}:${state}-pick-${slot}` },
    }));
    new RandomStream(seed, ACTION_VALIDITY, task.case_id, stateIndex).shuffle(labelled);
    for (const [candidate, { call, label, challenge }] of labelled.entries()) {
      yield {
        sample_id: `${task.case_id}-${state}-candidate-${twoDigits(candidate)}`,
        case_id: task.case_id,
        split: task.split,
        family: task.family,
        state_index: stateIndex,
        workflow_step_index: position,
        observation,
        tool_call: call,
        valid_label: label.valid,
        invalid_kind: label.invalid_kind,
        label_source: LABEL_SOURCE,
        challenge_source: challenge,
        state_sha256,
      };
    }
  }
}

/**
 * Generates the rows, task by task: nothing of a task is kept once its rows are out.
 *
 * @param tasks ascending by case id, each with an oracle plan of at least 5 steps
 * @param seed root of the streams that shuffle the four rows of a state
 * @returns 20 rows a task, ascending by sample id
 * @throws TracewrightError "not_sorted"; "plan_too_short" or "unsolvable_task" for a plan that does not serve;
 * "no_such_candidate", "no_final_action" or "no_collision" where a state does not offer what is asked of it
 */
export function* actionValidityRows(
  tasks: Iterable<WorkflowTask>,
  { seed }: { readonly seed: number },
): Generator<ActionValidityRow> {
  const cursor = new KindCursor();
  let previous = "";
  for (const task of tasks) {
    if (task.case_id <= previous) {
      refuse("not_sorted", task, { expected: `a case id after ${previous}`, actual: task.case_id });
    }
    previous = task.case_id;
    yield* rowsOfTask(task, { seed, cursor });
  }
}

/** A row as one canonical line, newline included. */
export function actionValidityLine(row: ActionValidityRow): string {
  return canonicalJson(row) + "\n";
}
