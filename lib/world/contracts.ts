/**
 * The records of the environment, with the snake_case names they have on disk. Fields are read-only: a state is never
 * changed in place, a committed step makes a new one. Source: protocol/environment.md section 2.
 */
import type { Json, JsonObject } from "../core/canonical_json.ts";

/** The three parts of a benchmark, in the order in which they are listed. */
export const SPLITS = ["train", "dev", "test"] as const;
/** One of {@link SPLITS}. */
export type Split = (typeof SPLITS)[number];

/** Order matters: negatives are drawn in this order. */
export const INVALID_KINDS = ["schema", "grounding", "precondition", "safety"] as const;
/** One of {@link INVALID_KINDS}. */
export type InvalidActionKind = (typeof INVALID_KINDS)[number];

/** Order matters: the hold-out rule indexes it. */
export const TOPOLOGIES = ["diamond_tail", "fanout_gate", "dual_lane", "dual_root_mesh"] as const;
/** One of {@link TOPOLOGIES}. */
export type WorkflowTopology = (typeof TOPOLOGIES)[number];

/** Tiers of length, from 6 to 8, 9 to 11 and 12 to 15 steps. */
export const DIFFICULTIES = ["short", "medium", "long"] as const;
/** One of {@link DIFFICULTIES}. */
export type Difficulty = (typeof DIFFICULTIES)[number];

/** Type names a tool schema may use. `integer` means `Number.isSafeInteger`; JSON does not tell 3 from 3.0. */
export const ARGUMENT_TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"] as const;
/** One of {@link ARGUMENT_TYPES}. */
export type ArgumentType = (typeof ARGUMENT_TYPES)[number];

/** Public description of a tool. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly required_arguments: Readonly<Record<string, string>>;
  readonly optional_arguments: Readonly<Record<string, string>>;
  readonly additional_properties: boolean;
  readonly mutating: boolean;
  readonly idempotent: boolean;
  readonly side_effect: string | null;
  readonly operation_id: string | null;
  readonly required_completed_operations: readonly string[];
  readonly policy_allowed: boolean;
}

/** One call is one step. `call_id` is evidence only and never reaches a policy; "" means none. */
export interface ToolCall {
  readonly tool_name: string;
  readonly arguments: JsonObject;
  readonly call_id: string;
}

/** Hidden. `path` is dot-separated. */
export interface StatePredicate {
  readonly path: string;
  readonly operator: "eq" | "ne" | "contains" | "contains_all" | "gte" | "lte";
  readonly value: Json;
}

/** Hidden. `simulated_latency_s` is in seconds, always a whole number of milliseconds divided by 1000. */
export interface WorkflowNode {
  readonly node_id: string;
  readonly tool_name: string;
  readonly required_predecessors: readonly string[];
  readonly effects: JsonObject;
  readonly side_effect: string | null;
  readonly safety_token: string | null;
  readonly simulated_latency_s: number;
}

/** One committed mutation. The request itself is not kept, only its hash. */
export interface AuditEntry {
  readonly call_id: string;
  readonly tool_name: string;
  readonly node_id: string;
  readonly request_sha256: string;
  readonly version: number;
}

/**
 * The full state. The last three fields are internal and never shown; effects of committed nodes are further keys.
 */
export interface WorkflowState {
  readonly entity_id: string;
  readonly version: number;
  readonly status: string;
  readonly priority: string;
  readonly region: string;
  readonly channel: string;
  readonly approval_token: string | null;
  readonly completed_nodes: readonly string[];
  readonly side_effects: readonly string[];
  readonly processed_call_ids: readonly string[];
  readonly idempotency_results: Readonly<Record<string, string>>;
  readonly audit_log: readonly AuditEntry[];
  readonly [effect: string]: Json | readonly AuditEntry[];
}

/** The named public fields of a state: all that a candidate builder may read. */
export type PublicState = Pick<
  WorkflowState,
  | "entity_id"
  | "version"
  | "status"
  | "priority"
  | "region"
  | "channel"
  | "approval_token"
  | "completed_nodes"
>;

/** What the world shows. `step_index + remaining_steps = max_steps`. */
export interface Observation {
  readonly task_id: string;
  readonly step_index: number;
  readonly max_steps: number;
  readonly remaining_steps: number;
  readonly user_goal: string;
  readonly visible_state: JsonObject;
  readonly available_entities: readonly string[];
  readonly available_tools: readonly string[];
  readonly message: string;
  readonly done: boolean;
}

/** One benchmark case: the public half, and the hidden half that no policy sees. */
export interface WorkflowTask {
  readonly case_id: string;
  readonly split: Split;
  readonly family: string;
  readonly topology: WorkflowTopology;
  readonly difficulty: Difficulty;
  readonly seed: number;
  readonly entity_id: string;
  readonly user_goal: string;
  readonly initial_state: WorkflowState;
  readonly visible_observation: JsonObject;
  readonly tool_schemas: readonly ToolSchema[];
  readonly workflow_nodes: readonly WorkflowNode[];
  readonly hidden_goal_predicates: readonly StatePredicate[];
  readonly forbidden_side_effects: readonly string[];
  readonly oracle_plans: readonly (readonly ToolCall[])[];
  readonly optimal_steps: number;
  readonly max_steps: number;
  /** Seconds of each node's first valid commit. */
  readonly latency_trace: Readonly<Record<string, number>>;
  readonly generator_version: string;
}

/** Codes of calls the registry accepts, in the order of the rows in protocol/environment.md section 4.1. */
export const VALID_CODES = ["ok_readonly", "ok_replay_exact", "ok_replay_completed", "ok"] as const;
/** One of {@link VALID_CODES}. */
export type ValidCode = (typeof VALID_CODES)[number];

/** Codes of calls the registry refuses, in the order in which they are judged (same section). */
export const REFUSAL_CODES = [
  "unknown_tool",
  "missing_argument",
  "unexpected_argument",
  "argument_type",
  "request_not_json",
  "call_id_reuse",
  "forbidden_side_effect",
  "unknown_entity",
  "readonly_operation",
  "operation_tool_mismatch",
  "repeat_non_idempotent",
  "stale_version",
  "missing_predecessor",
  "approval_forged",
  "approval_not_recorded",
  "idempotency_key_blank",
  "idempotency_key_conflict",
] as const;
/** One of {@link REFUSAL_CODES}. */
export type RefusalCode = (typeof REFUSAL_CODES)[number];
/** Why the registry judged as it did. */
export type ValidationCode = ValidCode | RefusalCode;

/** `valid` is true exactly when `invalid_kind` is null. */
export interface ValidationResult {
  readonly valid: boolean;
  readonly invalid_kind: InvalidActionKind | null;
  readonly code: ValidationCode;
  /** Policy-visible sentence without hidden data. */
  readonly reason: string;
  readonly node_id: string | null;
  readonly idempotent_replay: boolean;
}

/** What one call did. One call, accepted or rejected, is exactly one step. */
export interface StepOutcome {
  readonly observation: Observation;
  readonly reward: number;
  readonly done: boolean;
  readonly success: boolean;
  readonly accepted: boolean;
  readonly invalid_kind: InvalidActionKind | null;
  readonly reason: string;
  /** Whole milliseconds, this step only. */
  readonly simulated_latency_ms: number;
  readonly info: StepInfo;
}

/** Evidence about one step; never shown to a policy. */
export interface StepInfo {
  readonly case_id: string;
  readonly node_id: string | null;
  readonly idempotent_replay: boolean;
  readonly timed_out: boolean;
  readonly state_version: number;
  readonly total_simulated_latency_ms: number;
}

/** The judgement on the final state; how it was reached does not matter. */
export interface TaskEvaluation {
  readonly case_id: string;
  readonly success: boolean;
  readonly goal_predicates_satisfied: boolean;
  readonly forbidden_side_effect_count: number;
  readonly completed_steps: number;
  readonly optimal_steps: number;
  readonly max_steps: number;
}
