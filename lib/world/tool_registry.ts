/**
 * The judge on the environment's side: labels a call and executes it. It knows the hidden half of a task and shares no
 * code with the action mask, which is the other judge. Source: protocol/environment.md section 4.
 */
import type { JsonObject } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import type { WorldCode } from "./_error.ts";
import { isJsonRequest, requestSha256 } from "./_request.ts";
import type {
  InvalidActionKind,
  RefusalCode,
  ToolCall,
  ToolSchema,
  ValidationResult,
  ValidCode,
  WorkflowNode,
  WorkflowState,
  WorkflowTask,
} from "./contracts.ts";
import { frozenCopy } from "./frozen_copy.ts";
import { millisecondsOf, READ_ONLY_MS, REJECTED_MS, REPLAY_MS } from "./service_time.ts";

/** The parts of a task that the registry judges by. */
export type RegistryTask = Pick<
  WorkflowTask,
  "entity_id" | "tool_schemas" | "workflow_nodes" | "forbidden_side_effects"
>;

/** What executing a call gave. A call that commits nothing returns the very state object it was given. */
export interface Execution {
  readonly state: WorkflowState;
  readonly result: ValidationResult;
  /** Whole milliseconds. */
  readonly latencyMs: number;
}

/** The operation id of every read-only tool. */
const INSPECT_OPERATION = "inspect-status";

/** Every message is policy-visible: one fixed sentence a code, without ids, tokens or anything else of this case. */
const REFUSALS: Readonly<Record<RefusalCode, readonly [InvalidActionKind, string]>> = {
  unknown_tool: ["schema", "No tool of this name is offered."],
  missing_argument: ["schema", "A required argument is missing."],
  unexpected_argument: ["schema", "The tool does not take one of the arguments given."],
  argument_type: ["schema", "An argument has the wrong type."],
  request_not_json: ["schema", "The request is not plain finite JSON."],
  call_id_reuse: ["safety", "This call_id already belongs to a different request."],
  forbidden_side_effect: ["safety", "The tool would cause a side effect that is forbidden here."],
  unknown_entity: ["grounding", "The entity is not the one this case is about."],
  readonly_operation: ["grounding", "A read-only tool takes only the status operation."],
  operation_tool_mismatch: ["grounding", "The operation does not belong to this tool."],
  repeat_non_idempotent: ["safety", "The operation is done and must not be repeated."],
  stale_version: ["precondition", "The expected version is not the current one."],
  missing_predecessor: ["precondition", "An operation that must come first is not done yet."],
  approval_forged: ["safety", "The approval token is not a genuine one."],
  approval_not_recorded: ["precondition", "The approval has not been recorded yet."],
  idempotency_key_blank: ["safety", "The idempotency key is blank."],
  idempotency_key_conflict: ["safety", "The idempotency key already stands for another operation."],
};

const ACCEPTED: Readonly<Record<ValidCode, string>> = {
  ok_readonly: "The query was answered; nothing changed.",
  ok_replay_exact: "The same request was accepted before; nothing changed.",
  ok_replay_completed: "The operation was already done; nothing changed.",
  ok: "The operation was committed.",
};

function accepted(code: ValidCode, nodeId: string | null): ValidationResult {
  return Object.freeze({
    valid: true,
    invalid_kind: null,
    code,
    reason: ACCEPTED[code],
    node_id: nodeId,
    idempotent_replay: code === "ok_replay_exact" || code === "ok_replay_completed",
  });
}

/** Results are constants: a dry run allocates nothing. */
const REFUSED = Object.freeze(
  Object.fromEntries(
    Object.entries(REFUSALS).map(([code, [kind, reason]]) => [
      code,
      Object.freeze({
        valid: false,
        invalid_kind: kind,
        code,
        reason,
        node_id: null,
        idempotent_replay: false,
      }),
    ]),
  ),
) as Readonly<Record<RefusalCode, ValidationResult>>;

const ANSWERED = accepted("ok_readonly", null);

/** Keys an effect may not write: with them versions and audit entries would stop counting commits. */
const RESERVED_KEYS = [
  "entity_id",
  "version",
  "completed_nodes",
  "side_effects",
  "processed_call_ids",
  "idempotency_results",
  "audit_log",
];

/** The registry's own type check; the mask has another. A whole number is a safe integer: JSON has no 3.0 beside 3. */
function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "number":
      return typeof value === "number";
    case "integer":
      return Number.isSafeInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "null":
      return value === null;
    default:
      return false;
  }
}

interface Tool {
  readonly schema: ToolSchema;
  readonly required: readonly string[];
  readonly types: ReadonlyMap<string, string>;
  readonly forbidden: boolean;
}

interface Node {
  readonly node: WorkflowNode;
  readonly effects: JsonObject;
  readonly latencyMs: number;
  readonly ok: ValidationResult;
  readonly replayExact: ValidationResult;
  readonly replayCompleted: ValidationResult;
}

/** Validates and executes the calls of one task. It holds no state: states are passed in and never changed in place. */
export class ToolRegistry {
  readonly #entityId: string;
  readonly #tools = new Map<string, Tool>();
  readonly #nodes = new Map<string, Node>();

  /**
   * @throws TracewrightError "duplicate_tool", "duplicate_node", "reserved_effect" or "bad_service_time" where the
   * task contradicts itself
   */
  constructor(task: RegistryTask) {
    this.#entityId = task.entity_id;
    for (const schema of task.tool_schemas) {
      if (this.#tools.has(schema.name)) {
        throw new TracewrightError<"world", WorldCode>("duplicate_tool", { tool: schema.name });
      }
      this.#tools.set(schema.name, {
        schema,
        required: Object.keys(schema.required_arguments),
        types: new Map(
          Object.entries(schema.required_arguments).concat(Object.entries(schema.optional_arguments)),
        ),
        forbidden: schema.side_effect !== null && task.forbidden_side_effects.includes(schema.side_effect),
      });
    }
    for (const node of task.workflow_nodes) {
      if (this.#nodes.has(node.node_id)) {
        throw new TracewrightError<"world", WorldCode>("duplicate_node", { node: node.node_id });
      }
      const reserved = RESERVED_KEYS.find((key) => Object.hasOwn(node.effects, key));
      if (reserved !== undefined) {
        throw new TracewrightError<"world", WorldCode>("reserved_effect", {
          message: "an effect may not write a field that the environment keeps",
          node: node.node_id,
          field: reserved,
        });
      }
      this.#nodes.set(node.node_id, {
        node,
        effects: frozenCopy(node.effects),
        latencyMs: millisecondsOf(node.simulated_latency_s),
        ok: accepted("ok", node.node_id),
        replayExact: accepted("ok_replay_exact", node.node_id),
        replayCompleted: accepted("ok_replay_completed", node.node_id),
      });
    }
  }

  /**
   * The pure label of a call, also called dry run. Rows are judged in the order of section 4.1; the first that fails
   * wins.
   */
  validate(state: WorkflowState, call: ToolCall): ValidationResult {
    const tool = this.#tools.get(call.tool_name);
    if (tool === undefined) return REFUSED.unknown_tool; // 1
    const malformed = shapeFault(tool, call); // 2 to 5
    if (malformed !== null) return REFUSED[malformed];
    const args = call.arguments;
    const { schema } = tool;

    let exactReplay = false;
    if (call.call_id !== "" && state.processed_call_ids.includes(call.call_id)) { // 6
      const entries = state.audit_log.filter((entry) => entry.call_id === call.call_id);
      if (entries.length !== 1 || entries[0]?.request_sha256 !== requestSha256(call)) {
        return REFUSED.call_id_reuse;
      }
      exactReplay = true;
    }
    if (tool.forbidden) return REFUSED.forbidden_side_effect; // 7
    if (args.entity_id !== state.entity_id || args.entity_id !== this.#entityId) { // 8
      return REFUSED.unknown_entity;
    }
    if (!schema.mutating) { // 9
      if (args.operation_id !== INSPECT_OPERATION) return REFUSED.readonly_operation;
      if (args.expected_version !== state.version) return REFUSED.stale_version;
      return ANSWERED;
    }
    const found = typeof args.operation_id === "string" ? this.#nodes.get(args.operation_id) : undefined;
    if (found === undefined || found.node.tool_name !== call.tool_name) { // 10
      return REFUSED.operation_tool_mismatch;
    }
    const { node } = found;
    if (exactReplay) return found.replayExact; // 11
    if (state.completed_nodes.includes(node.node_id)) { // 12
      return schema.idempotent ? found.replayCompleted : REFUSED.repeat_non_idempotent;
    }
    if (args.expected_version !== state.version) return REFUSED.stale_version; // 13
    for (const predecessor of node.required_predecessors) { // 14
      if (!state.completed_nodes.includes(predecessor)) return REFUSED.missing_predecessor;
    }
    if (node.safety_token !== null) { // 15
      if (args.approval_token !== node.safety_token) return REFUSED.approval_forged;
      if (state.approval_token !== node.safety_token) return REFUSED.approval_not_recorded;
      const key = args.idempotency_key;
      if (typeof key !== "string" || key.trim() === "") return REFUSED.idempotency_key_blank;
      const ledger = state.idempotency_results;
      if (Object.hasOwn(ledger, key) && ledger[key] !== node.node_id) return REFUSED.idempotency_key_conflict;
    }
    return found.ok; // 16
  }

  /**
   * Validates, then commits all or nothing (section 4.2). Everything but a first valid mutation gives back the same
   * state object, so that "nothing changed" is an identity check.
   */
  execute(state: WorkflowState, call: ToolCall): Execution {
    const result = this.validate(state, call);
    if (!result.valid) return { state, result, latencyMs: REJECTED_MS };
    if (result.node_id === null) return { state, result, latencyMs: READ_ONLY_MS };
    if (result.idempotent_replay) return { state, result, latencyMs: REPLAY_MS };
    // validate() found the node a moment ago
    const { node, effects, latencyMs } = this.#nodes.get(result.node_id)!;
    const version = state.version + 1;
    const key = call.arguments.idempotency_key;
    const entry = Object.freeze({
      call_id: call.call_id,
      tool_name: call.tool_name,
      node_id: node.node_id,
      request_sha256: requestSha256(call),
      version,
    });
    const next: WorkflowState = {
      ...state,
      ...effects,
      completed_nodes: Object.freeze([...state.completed_nodes, node.node_id]),
      version,
      side_effects: node.side_effect === null
        ? state.side_effects
        : Object.freeze([...state.side_effects, node.side_effect]),
      processed_call_ids: call.call_id === ""
        ? state.processed_call_ids
        : Object.freeze([...state.processed_call_ids, call.call_id]),
      idempotency_results: typeof key === "string"
        ? Object.freeze({ ...state.idempotency_results, [key]: node.node_id })
        : state.idempotency_results,
      audit_log: Object.freeze([...state.audit_log, entry]),
    };
    return { state: Object.freeze(next), result, latencyMs };
  }
}

/** Rows 2 to 5: what can be said about a call without looking at any state. */
function shapeFault(tool: Tool, call: ToolCall): RefusalCode | null {
  const args: unknown = call.arguments;
  if (typeof args !== "object" || args === null) return "request_not_json";
  const given = args as Record<string, unknown>;
  for (const name of tool.required) if (!Object.hasOwn(given, name)) return "missing_argument";
  const names = Object.keys(given);
  if (!tool.schema.additional_properties) {
    for (const name of names) if (!tool.types.has(name)) return "unexpected_argument";
  }
  for (const name of names) {
    const type = tool.types.get(name);
    if (type !== undefined && !hasType(given[name], type)) return "argument_type";
  }
  return isJsonRequest(call) ? null : "request_not_json";
}
