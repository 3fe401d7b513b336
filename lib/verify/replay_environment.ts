import { canonicalJson, type Json, parseCanonical } from "../core/canonical_json.ts";
import { sha256Hex } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { type JsonDifference, jsonDifference } from "../core/json_difference.ts";
import { rewardComponents, totalReward } from "../episode/reward.ts";
import type { RewardSettings } from "../episode/reward_settings.ts";
import { type CompactStep, TRACE_SCHEMA, type TraceRecord } from "../episode/trace.ts";
import { ActionMask } from "../world/action_mask.ts";
import type { ToolCall, WorkflowState, WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { oncePerFrozen } from "../world/once_per_frozen.ts";
import { policyInputDigest } from "../world/policy_input.ts";
import { PolicyInputBuilder } from "../world/policy_input_builder.ts";
import { verifyError } from "./verify_code.ts";

/** What the traces of one evaluation must have been made with. */
export interface ReplaySettings {
  /** Node of the DAG, for messages. */
  readonly node: string;
  readonly credit: "action" | "sequence";
  readonly selection: "public" | "none";
  readonly reward: RewardSettings;
}

const POLICY_FIELDS = ["log_prob", "value"] as const;

/**
 * The first difference of two trace records in the order of time: step by step, then everything else. Null where they are
 * equal.
 */
export function traceDifference(expected: Json, actual: Json): JsonDifference | null {
  const lists = (["steps", "executed_actions"] as const)
    .map((name) => ({ name, expected: listOf(expected, name), actual: listOf(actual, name) }));
  const steps = Math.max(...lists.map((list) => Math.min(list.expected.length, list.actual.length)));
  for (let step = 0; step < steps; step++) {
    for (const list of lists) {
      const [one, other] = [list.expected[step], list.actual[step]];
      const difference = one === undefined || other === undefined ? null : jsonDifference(one, other);
      if (difference === null) continue;
      const path = difference.path === "" ? "" : `.${difference.path}`;
      return { ...difference, path: `${list.name}.${step}${path}` };
    }
  }
  return jsonDifference(expected, actual);
}

function listOf(record: Json, name: string): readonly Json[] {
  const list = (record as { readonly [field: string]: Json })[name];
  return Array.isArray(list) ? list : [];
}

/** Splits the path of a field inside a record: the step it belongs to, and the rest. */
export function placeInTrace(path: string): { readonly step?: number; readonly field: string } {
  const [, list, step, field] = /^(steps|executed_actions)\.(\d+)(?:\.(.*))?$/s.exec(path) ?? [];
  if (step === undefined) return { field: path };
  return {
    step: Number(step),
    field: field === undefined ? path : list === "steps" ? field : `${list}.${field}`,
  };
}

function mismatch(
  settings: ReplaySettings,
  task: WorkflowTask,
  step: number | null,
  { path, expected, actual }: {
    readonly path: string;
    readonly expected: unknown;
    readonly actual: unknown;
  },
): never {
  throw verifyError("trace_environment_mismatch", {
    verify_step: "environment",
    node: settings.node,
    case: task.case_id,
    ...(step === null ? placeInTrace(path) : { step, field: path }),
    expected,
    actual,
    hint: "the environment, stepped through the recorded actions, gives something else",
  });
}

function schemaError(
  settings: ReplaySettings,
  task: WorkflowTask,
  path: string,
  expected: string,
  actual: unknown,
): never {
  throw verifyError("trace_schema", {
    verify_step: "environment",
    node: settings.node,
    case: task.case_id,
    ...placeInTrace(path),
    expected,
    actual,
  });
}

function parseLine(line: string, task: WorkflowTask, settings: ReplaySettings): TraceRecord<CompactStep> {
  let value: Json;
  try {
    value = parseCanonical(line);
  } catch (cause) {
    const { expected = "canonical JSON", actual = "something else", character } =
      cause instanceof TracewrightError ? cause.details : {};
    throw verifyError("trace_not_canonical", {
      verify_step: "environment",
      node: settings.node,
      case: task.case_id,
      message: cause instanceof Error ? cause.message : String(cause),
      ...(character === undefined ? {} : { character }),
      expected,
      actual,
      cause,
    });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return schemaError(settings, task, "", "an object", value);
  }
  const record = value as unknown as TraceRecord<CompactStep>;
  if (record.case_id !== task.case_id) {
    throw verifyError("trace_case_mismatch", {
      verify_step: "environment",
      node: settings.node,
      case: task.case_id,
      field: "case_id",
      expected: task.case_id,
      actual: record.case_id,
      hint: "traces stand in the order of the test split, one a case",
    });
  }
  if (!Array.isArray(record.steps)) schemaError(settings, task, "steps", "a list", record.steps);
  if (!Array.isArray(record.executed_actions)) {
    schemaError(settings, task, "executed_actions", "a list", record.executed_actions);
  }
  return record;
}

/** Fields that only the policy determines: here they need the right form, the policy step compares them byte for byte. */
function policyDetermined(
  step: CompactStep,
  place: {
    readonly settings: ReplaySettings;
    readonly task: WorkflowTask;
    readonly index: number;
    readonly last: boolean;
  },
): { readonly progress: number } {
  const { settings, task, index } = place;
  const field = (name: string) => `steps.${index}.${name}`;
  for (const name of POLICY_FIELDS) {
    if (typeof step[name] !== "number") {
      schemaError(settings, task, field(name), "a number", step[name] ?? null);
    }
  }
  const progress = step.reward_components?.progress;
  if (typeof progress !== "number") {
    schemaError(settings, task, field("reward_components.progress"), "a number", progress ?? null);
  }
  const potential = step.info?.progress_potential;
  if (potential === null) {
    if (progress !== 0) {
      schemaError(settings, task, field("reward_components.progress"), "0 without a potential", progress);
    }
  } else {
    const zeroed = place.last && settings.reward.terminal_potential !== "estimated";
    if (potential?.terminal_zeroed !== zeroed) {
      schemaError(
        settings,
        task,
        field("info.progress_potential.terminal_zeroed"),
        String(zeroed),
        potential ?? null,
      );
    }
  }
  return { progress };
}

/** What a state offers; the same for as long as the state stays, and a step that changes nothing leaves the same object. */
interface Offer {
  readonly state: WorkflowState;
  readonly candidates: readonly ToolCall[];
  readonly digest: string;
}

function offerOf(environment: WorkflowEnvironment): Offer {
  const candidates = environment.candidates();
  return { state: environment.state, candidates, digest: sha256Hex(canonicalJson(candidates)) };
}

const maskOf = oncePerFrozen((schemas: WorkflowTask["tool_schemas"]) => new ActionMask(schemas));
const inputsOf = oncePerFrozen((schemas: WorkflowTask["tool_schemas"]) => new PolicyInputBuilder(schemas));

/** Steps the environment along the recorded actions and rebuilds the record around what only the policy could know. */
function replay(
  record: TraceRecord<CompactStep>,
  task: WorkflowTask,
  settings: ReplaySettings,
): TraceRecord<CompactStep> {
  const environment = new WorkflowEnvironment(task);
  const mask = maskOf(task.tool_schemas);
  const inputs = inputsOf(task.tool_schemas);
  let offer: Offer | undefined;
  const steps: CompactStep[] = [];
  const executed: TraceRecord["executed_actions"][number][] = [];
  for (const [index, step] of record.steps.entries()) {
    if (environment.done) {
      mismatch(settings, task, index, {
        path: "steps",
        expected: `${index} steps, for the episode is over`,
        actual: record.steps.length,
      });
    }
    if (typeof step !== "object" || step === null) {
      schemaError(settings, task, `steps.${index}`, "an object", step);
    }
    const observation = environment.observe();
    if (offer?.state !== environment.state) offer = offerOf(environment);
    const { candidates } = offer;
    const allowed = mask.mask(observation, candidates);
    const selectable = settings.selection === "public" ? allowed : allowed.map(() => true);
    const call = candidates[step.action_index];
    if (!Number.isInteger(step.action_index) || call === undefined || !selectable[step.action_index]) {
      mismatch(settings, task, index, {
        path: "action_index",
        expected: `a selectable index below ${candidates.length}`,
        actual: step.action_index ?? null,
      });
    }
    const input = policyInputDigest(inputs.build({ observation, candidates, mask: selectable }));
    const valid = environment.dryRun(call).valid;
    const outcome = environment.step(call);
    const { progress } = policyDetermined(step, { settings, task, index, last: outcome.done });
    const components = rewardComponents({
      success: outcome.success,
      done: outcome.done,
      accepted: outcome.accepted,
      forbiddenActive: environment.evaluate().forbidden_side_effect_count > 0,
      progress,
    }, settings.reward);
    // keys in canonical order: writing them in another one costs several times as much
    steps.push({
      action: call,
      action_index: step.action_index,
      action_mask: selectable,
      candidate_count: candidates.length,
      candidates_sha256: offer.digest,
      done: outcome.done,
      info: {
        case_id: task.case_id,
        idempotent_replay: outcome.info.idempotent_replay,
        node_id: outcome.info.node_id,
        policy_input_sha256: input,
        progress_potential: step.info.progress_potential,
        state_version: outcome.info.state_version,
        timed_out: outcome.info.timed_out,
        total_simulated_latency_s: outcome.info.total_simulated_latency_ms / 1000,
      },
      invalid_kind: outcome.invalid_kind,
      log_prob: step.log_prob,
      predicted_valid: allowed[step.action_index]!,
      reward: totalReward(components),
      reward_components: components,
      step_index: index,
      trajectory_id: task.case_id,
      valid_label: valid,
      value: step.value,
    });
    executed.push({
      accepted: outcome.accepted,
      candidate_index: step.action_index,
      executed_valid: valid,
      policy_input_sha256: input,
      step_index: index,
    });
  }
  if (!environment.done) {
    mismatch(settings, task, null, {
      path: "steps",
      expected: "steps up to the end of the episode",
      actual: record.steps.length,
    });
  }
  const evaluation = environment.evaluate();
  return {
    action_evaluations: [],
    case_id: task.case_id,
    credit_assignment: settings.credit,
    difficulty: task.difficulty,
    executed_actions: executed,
    family: task.family,
    final_state: environment.state,
    forbidden_side_effect_count: evaluation.forbidden_side_effect_count,
    goal_predicates_satisfied: evaluation.goal_predicates_satisfied,
    max_steps: task.max_steps,
    optimal_steps: task.optimal_steps,
    schema: TRACE_SCHEMA,
    simulated_latency_s: environment.totalLatencyMs / 1000,
    step_count: steps.length,
    steps,
    success: evaluation.success,
    trace_mode: "compact",
  };
}

/**
 * The record where the whole line is what the replay writes, which is also the proof that it is canonical: the common case,
 * at the cost of one parse and one write. Anything else is undefined, and is looked at again to say what is wrong with it.
 */
function matchingRecord(
  line: string,
  task: WorkflowTask,
  settings: ReplaySettings,
): TraceRecord<CompactStep> | undefined {
  try {
    const record = JSON.parse(line) as TraceRecord<CompactStep>;
    return canonicalJson(replay(record, task, settings)) === line ? record : undefined;
  } catch {
    return undefined; // found again, and reported, by the checks in their order
  }
}

/**
 * Replays one recorded episode in a fresh environment and compares every field that does not come from the policy. Shares
 * no code with the episode runner. A forged but legal trajectory passes here; the policy step is what stops it.
 *
 * @param line one canonical trace line without its newline
 * @returns the record, now known to be what the environment says
 * @throws TracewrightError "trace_not_canonical", "trace_schema", "trace_case_mismatch" or "trace_environment_mismatch"
 */
export function replayEnvironment(
  line: string,
  task: WorkflowTask,
  settings: ReplaySettings,
): TraceRecord<CompactStep> {
  const matching = matchingRecord(line, task, settings);
  if (matching !== undefined) return matching;
  const record = parseLine(line, task, settings);
  const expected = replay(record, task, settings);
  const difference = traceDifference(expected as unknown as Json, record as unknown as Json);
  if (difference !== null) mismatch(settings, task, null, difference);
  return record;
}
