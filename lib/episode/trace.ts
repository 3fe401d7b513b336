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

// Keys below stand in canonical order: writing a record in another order costs several times as much.

function stepInfo({ task }: Episode, { outcome, potential }: EpisodeStep, inputDigest: string): TraceInfo {
  const { info } = outcome;
  return {
    case_id: task.case_id,
    idempotent_replay: info.idempotent_replay,
    node_id: info.node_id,
    policy_input_sha256: inputDigest,
    progress_potential: potential,
    state_version: info.state_version,
    timed_out: info.timed_out,
    total_simulated_latency_s: info.total_simulated_latency_ms / 1000,
  };
}

function compactStep(episode: Episode, step: EpisodeStep, index: number, inputDigest: string): CompactStep {
  const { candidates, choice, outcome, publicMask } = step;
  return {
    action: candidates[choice.index]!,
    action_index: choice.index,
    action_mask: step.selectionMask,
    candidate_count: candidates.length,
    candidates_sha256: candidatesDigest(candidates),
    done: outcome.done,
    info: stepInfo(episode, step, inputDigest),
    invalid_kind: outcome.invalid_kind,
    log_prob: choice.logProb,
    predicted_valid: publicMask[choice.index]!,
    reward: totalReward(step.reward),
    reward_components: step.reward,
    step_index: index,
    trajectory_id: episode.task.case_id,
    valid_label: step.validLabel,
    value: choice.value,
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

function fullStep(episode: Episode, step: EpisodeStep, index: number, inputDigest: string): FullStep {
  const { state, actions, mask } = step.features;
  const width = actions.length / mask.length;
  const { candidate_count: _count, candidates_sha256: _digest, ...core } = compactStep(
    episode,
    step,
    index,
    inputDigest,
  );
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
  const stepRecord = mode === "compact" ? compactStep : fullStep;
  return {
    action_evaluations: mode === "compact" ? [] : actionEvaluations(episode),
    case_id: task.case_id,
    credit_assignment: credit,
    difficulty: task.difficulty,
    executed_actions: steps.map((step, i) => ({
      accepted: step.outcome.accepted,
      candidate_index: step.choice.index,
      executed_valid: step.validLabel,
      policy_input_sha256: inputDigests[i]!,
      step_index: i,
    })),
    family: task.family,
    final_state: episode.finalState,
    forbidden_side_effect_count: evaluation.forbidden_side_effect_count,
    goal_predicates_satisfied: evaluation.goal_predicates_satisfied,
    max_steps: task.max_steps,
    optimal_steps: task.optimal_steps,
    schema: TRACE_SCHEMA,
    simulated_latency_s: episode.totalLatencyMs / 1000,
    step_count: steps.length,
    steps: steps.map((step, i) => stepRecord(episode, step, i, inputDigests[i]!)),
    success: evaluation.success,
    trace_mode: mode,
  };
}

/** A trace record as one canonical line, newline included. */
export function traceLine(record: TraceRecord): string {
  return canonicalJson(record as unknown as Json) + "\n";
}
