import type { Json, JsonObject } from "../core/canonical_json.ts";
import { canonicalJson } from "../core/canonical_json.ts";
import { sha256Hex } from "../core/digest.ts";
import type { InvalidActionKind, ToolCall, WorkflowState } from "../world/contracts.ts";
import { policyInputDigest } from "../world/policy_input.ts";
import { episodeError } from "./_error.ts";
import { type RewardComponents, totalReward } from "./reward.ts";
import type { Episode, EpisodeStep } from "./run_episodes.ts";
import type { ProgressPotential } from "./shaping.ts";

/** Schema of a trace line. */
export const TRACE_SCHEMA = "tracewright.trace.v1";

/** Whether advantages were assigned per action or per episode while the policy was trained. */
export type CreditAssignment = "action" | "sequence";

/** One executed action, flat, for metrics and SQL. */
export interface ExecutedAction {
  readonly step_index: number;
  readonly candidate_index: number;
  readonly policy_input_sha256: string;
  /** The environment's dry-run verdict before execution. */
  readonly executed_valid: boolean;
  readonly accepted: boolean;
}

/** Verdicts on one candidate; full traces only. */
export interface ActionEvaluation {
  readonly step_index: number;
  readonly candidate_index: number;
  readonly valid_label: boolean;
  readonly predicted_valid: boolean;
  readonly invalid_kind: string | null;
}

/** What both kinds of step record hold. */
export interface TraceStepCore {
  readonly trajectory_id: string;
  readonly step_index: number;
  readonly action_index: number;
  readonly action: ToolCall;
  /** The selection mask: all true for unmasked variants. */
  readonly action_mask: readonly boolean[];
  readonly log_prob: number;
  readonly value: number;
  readonly reward: number;
  readonly reward_components: RewardComponents;
  readonly done: boolean;
  readonly valid_label: boolean;
  /** The public mask's verdict on the chosen action. */
  readonly predicted_valid: boolean;
  readonly invalid_kind: InvalidActionKind | null;
  readonly info: TraceInfo;
}

/** What the environment and the shaping say of a step. */
export interface TraceInfo {
  readonly case_id: string;
  readonly node_id: string | null;
  readonly idempotent_replay: boolean;
  readonly timed_out: boolean;
  readonly state_version: number;
  readonly total_simulated_latency_s: number;
  readonly policy_input_sha256: string;
  readonly progress_potential: ProgressPotential | null;
}

/** Compact: the candidate list is named by its digest. */
export interface CompactStep extends TraceStepCore {
  readonly candidate_count: number;
  readonly candidates_sha256: string;
}

/** Full: everything the policy saw, and what came of it. Features are integers on the feature grid. */
export interface FullStep extends TraceStepCore {
  readonly observation: JsonObject;
  readonly candidates: readonly ToolCall[];
  readonly next_observation: JsonObject;
  readonly state_features: readonly number[];
  readonly action_features: readonly (readonly number[])[];
}

/** One line of a trace blob: one case. Source: protocol/evaluation-and-evidence.md section 1. */
export interface TraceRecord<Step = CompactStep | FullStep> {
  readonly schema: typeof TRACE_SCHEMA;
  readonly credit_assignment: CreditAssignment;
  readonly trace_mode: "compact" | "full";
  readonly case_id: string;
  readonly family: string;
  readonly difficulty: string;
  readonly success: boolean;
  readonly goal_predicates_satisfied: boolean;
  readonly forbidden_side_effect_count: number;
  readonly optimal_steps: number;
  readonly max_steps: number;
  readonly step_count: number;
  readonly simulated_latency_s: number;
  readonly steps: readonly Step[];
  readonly action_evaluations: readonly ActionEvaluation[];
  readonly executed_actions: readonly ExecutedAction[];
  /** The full state, ledger, processed ids and audit log included. */
  readonly final_state: WorkflowState;
}

/** Episodes offer one list for as long as the state stays as it is. */
const listDigests = new WeakMap<readonly ToolCall[], string>();

/** SHA-256, 64 hexadecimal digits, of the canonical candidate list in order, call ids included. */
export function candidatesDigest(candidates: readonly ToolCall[]): string {
  let digest = listDigests.get(candidates);
  if (digest === undefined) listDigests.set(candidates, digest = sha256Hex(canonicalJson(candidates)));
  return digest;
}

function stepCore(episode: Episode, step: EpisodeStep, index: number, inputDigest: string): TraceStepCore {
  const { case_id } = episode.task;
  const { choice, outcome } = step;
  const { info } = outcome;
  return {
    trajectory_id: case_id,
    step_index: index,
    action_index: choice.index,
    action: step.candidates[choice.index]!,
    action_mask: step.selectionMask,
    log_prob: choice.logProb,
    value: choice.value,
    reward: totalReward(step.reward),
    reward_components: step.reward,
    done: outcome.done,
    valid_label: step.validLabel,
    predicted_valid: step.publicMask[choice.index]!,
    invalid_kind: outcome.invalid_kind,
    info: {
      case_id,
      node_id: info.node_id,
      idempotent_replay: info.idempotent_replay,
      timed_out: info.timed_out,
      state_version: info.state_version,
      total_simulated_latency_s: info.total_simulated_latency_ms / 1000,
      policy_input_sha256: inputDigest,
      progress_potential: step.potential,
    },
  };
}

function compactStep(core: TraceStepCore, step: EpisodeStep): CompactStep {
  return {
    ...core,
    candidate_count: step.candidates.length,
    candidates_sha256: candidatesDigest(step.candidates),
  };
}

/** A row a candidate a step; only an episode that was run with full evidence has them. */
function actionEvaluations({ task, steps }: Episode): ActionEvaluation[] {
  return steps.flatMap((step, s) => {
    if (step.labels.length !== step.candidates.length) {
      throw episodeError("missing_evidence", {
        case: task.case_id,
        step: s,
        expected: `${step.candidates.length} verdicts`,
        actual: step.labels.length,
        hint: 'run the episode with "full" evidence',
      });
    }
    return step.labels.map((label, c) => ({
      step_index: s,
      candidate_index: c,
      valid_label: label.valid,
      predicted_valid: step.publicMask[c]!,
      invalid_kind: label.invalid_kind,
    }));
  });
}

function fullStep(core: TraceStepCore, step: EpisodeStep): FullStep {
  const { state, actions, mask } = step.features;
  const width = actions.length / mask.length;
  return {
    ...core,
    observation: step.observation as unknown as JsonObject,
    candidates: step.candidates,
    next_observation: step.outcome.observation as unknown as JsonObject,
    state_features: Array.from(state),
    action_features: mask.map((_, i) => Array.from(actions.subarray(i * width, (i + 1) * width))),
  };
}

/**
 * The record of one episode. The same episode gives the same bytes, whoever ran it and however many ran beside it.
 *
 * @param mode `compact` for evaluation and verification; `full`, which needs an episode run with full evidence, to look at
 * @throws TracewrightError "missing_evidence" for a full record of an episode without the verdicts
 */
export function traceRecord(
  episode: Episode,
  { mode, credit }: { mode: "compact" | "full"; credit: CreditAssignment },
): TraceRecord {
  const { task, evaluation, steps } = episode;
  const inputDigests = steps.map((step) => policyInputDigest(step.input));
  const cores = steps.map((step, i) => stepCore(episode, step, i, inputDigests[i]!));
  return {
    schema: TRACE_SCHEMA,
    credit_assignment: credit,
    trace_mode: mode,
    case_id: task.case_id,
    family: task.family,
    difficulty: task.difficulty,
    success: evaluation.success,
    goal_predicates_satisfied: evaluation.goal_predicates_satisfied,
    forbidden_side_effect_count: evaluation.forbidden_side_effect_count,
    optimal_steps: task.optimal_steps,
    max_steps: task.max_steps,
    step_count: steps.length,
    simulated_latency_s: episode.totalLatencyMs / 1000,
    steps: cores.map((core, i) =>
      mode === "compact" ? compactStep(core, steps[i]!) : fullStep(core, steps[i]!)
    ),
    action_evaluations: mode === "compact" ? [] : actionEvaluations(episode),
    executed_actions: steps.map((step, i) => ({
      step_index: i,
      candidate_index: step.choice.index,
      policy_input_sha256: inputDigests[i]!,
      executed_valid: step.validLabel,
      accepted: step.outcome.accepted,
    })),
    final_state: episode.finalState,
  };
}

/** A trace record as one canonical line, newline included. */
export function traceLine(record: TraceRecord): string {
  return canonicalJson(record as unknown as Json) + "\n";
}
