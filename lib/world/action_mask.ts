/**
 * The judge on the policy's side: which candidates look executable by public rules alone. It shares no code with the
 * tool registry, which is the other judge, and holds nothing of a task but its schemas.
 * Source: protocol/policy-and-training.md section 1.
 */
import type { Json, JsonObject } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import type { WorldCode } from "./_error.ts";
import type { InvalidActionKind, Observation, ToolCall, ToolSchema } from "./contracts.ts";

/** Why the mask judged as it did, in the order of its rules. */
export type MaskCode =
  | "tool_not_known"
  | "argument_absent"
  | "argument_undeclared"
  | "argument_of_wrong_type"
  | "tool_not_available"
  | "tool_not_allowed"
  | "entity_not_available"
  | "operation_not_of_tool"
  | "operation_repeated"
  | "version_not_current"
  | "prerequisite_open"
  | "approval_not_visible"
  | "approval_differs"
  | "key_blank"
  | "allowed_replay"
  | "allowed";

/** The mask's judgement of one candidate. `valid` is true exactly when `invalid_kind` is null. */
export interface MaskResult {
  readonly valid: boolean;
  readonly invalid_kind: InvalidActionKind | null;
  readonly code: MaskCode;
}

function verdict(code: MaskCode, kind: InvalidActionKind | null): MaskResult {
  return Object.freeze({ valid: kind === null, invalid_kind: kind, code });
}

const ALLOWED = verdict("allowed", null);
const ALLOWED_REPLAY = verdict("allowed_replay", null);
const TOOL_NOT_KNOWN = verdict("tool_not_known", "schema");
const ARGUMENT_ABSENT = verdict("argument_absent", "schema");
const ARGUMENT_UNDECLARED = verdict("argument_undeclared", "schema");
const ARGUMENT_OF_WRONG_TYPE = verdict("argument_of_wrong_type", "schema");
const TOOL_NOT_AVAILABLE = verdict("tool_not_available", "grounding");
const ENTITY_NOT_AVAILABLE = verdict("entity_not_available", "grounding");
const OPERATION_NOT_OF_TOOL = verdict("operation_not_of_tool", "grounding");
const TOOL_NOT_ALLOWED = verdict("tool_not_allowed", "safety");
const OPERATION_REPEATED = verdict("operation_repeated", "safety");
const APPROVAL_DIFFERS = verdict("approval_differs", "safety");
const KEY_BLANK = verdict("key_blank", "safety");
const VERSION_NOT_CURRENT = verdict("version_not_current", "precondition");
const PREREQUISITE_OPEN = verdict("prerequisite_open", "precondition");
const APPROVAL_NOT_VISIBLE = verdict("approval_not_visible", "precondition");

/** The mask's own type check. Types it does not know accept nothing. */
const TYPE_CHECKS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["string", (value: unknown) => typeof value === "string"],
  ["integer", (value: unknown) => {
    return typeof value === "number" && value % 1 === 0 && Math.abs(value) <= 9007199254740991;
  }],
  ["number", (value: unknown) => typeof value === "number"],
  ["boolean", (value: unknown) => value === true || value === false],
  ["array", (value: unknown) => Array.isArray(value)],
  ["object", (value: unknown) => value !== null && typeof value === "object" && !Array.isArray(value)],
  ["null", (value: unknown) => value === null],
]);

/** What the mask keeps of a schema: a copy, so that nothing of the task is held. */
interface Rule {
  readonly name: string;
  readonly declared: ReadonlyMap<string, string>;
  readonly required: readonly string[];
  readonly open: boolean;
  readonly allowed: boolean;
  readonly mutating: boolean;
  readonly idempotent: boolean;
  readonly operation: string | null;
  readonly prerequisites: readonly string[];
  readonly wantsToken: boolean;
}

/** The public facts of one observation. */
interface Facts {
  readonly tools: readonly Json[] | null;
  readonly entities: readonly Json[];
  readonly ownEntity: Json | undefined;
  readonly version: Json | undefined;
  readonly token: Json | undefined;
  readonly done: ReadonlySet<Json>;
}

function list(value: Json | undefined): readonly Json[] | null {
  return Array.isArray(value) ? value : null;
}

/** An observation, or a plain map with or without a nested `visible_state`. */
export type MaskObservation = Observation | JsonObject;

function factsOf(observation: MaskObservation): Facts {
  const map = observation as JsonObject;
  const nested = map.visible_state;
  const state = typeof nested === "object" && nested !== null && !Array.isArray(nested)
    ? nested as JsonObject
    : map;
  return {
    tools: list(map.available_tools),
    entities: list(map.available_entities) ?? [],
    ownEntity: state.entity_id,
    version: state.version,
    token: state.approval_token,
    done: new Set(list(state.completed_nodes)),
  };
}

/** Judges candidates by public rules. */
export class ActionMask {
  readonly #rules = new Map<string, Rule>();

  /** @throws TracewrightError "duplicate_tool" if two schemas share a name */
  constructor(schemas: readonly ToolSchema[]) {
    for (const schema of schemas) {
      if (this.#rules.has(schema.name)) {
        throw new TracewrightError<"world", WorldCode>("duplicate_tool", { tool: schema.name });
      }
      this.#rules.set(schema.name, {
        name: schema.name,
        declared: new Map(
          Object.entries({ ...schema.optional_arguments, ...schema.required_arguments }),
        ),
        required: Object.keys(schema.required_arguments),
        open: schema.additional_properties,
        allowed: schema.policy_allowed,
        mutating: schema.mutating,
        idempotent: schema.idempotent,
        // a tool without an operation of its own can only be a query
        operation: schema.operation_id ?? (schema.mutating ? null : "inspect-status"),
        prerequisites: [...schema.required_completed_operations],
        wantsToken: Object.hasOwn(schema.required_arguments, "approval_token"),
      });
    }
  }

  /** One result a candidate, in order. */
  evaluate(observation: MaskObservation, calls: readonly ToolCall[]): MaskResult[] {
    const facts = factsOf(observation);
    return calls.map((call) => this.#judge(facts, call));
  }

  /** One boolean a candidate: true where it may be selected. */
  mask(observation: MaskObservation, calls: readonly ToolCall[]): boolean[] {
    const facts = factsOf(observation);
    return calls.map((call) => this.#judge(facts, call).valid);
  }

  #judge(facts: Facts, call: ToolCall): MaskResult {
    const rule = this.#rules.get(call.tool_name);
    if (rule === undefined) return TOOL_NOT_KNOWN;
    const given = call.arguments;
    for (const name of rule.required) if (!Object.hasOwn(given, name)) return ARGUMENT_ABSENT;
    let wrongType = false;
    for (const name of Object.keys(given)) {
      const type = rule.declared.get(name);
      if (type !== undefined) wrongType ||= !(TYPE_CHECKS.get(type)?.(given[name]) ?? false);
      else if (!rule.open) return ARGUMENT_UNDECLARED;
    }
    if (wrongType) return ARGUMENT_OF_WRONG_TYPE;

    if (facts.tools !== null && !facts.tools.includes(rule.name)) return TOOL_NOT_AVAILABLE;
    if (!rule.allowed) return TOOL_NOT_ALLOWED;
    const entity = given.entity_id;
    if (typeof entity !== "string" || (entity !== facts.ownEntity && !facts.entities.includes(entity))) {
      return ENTITY_NOT_AVAILABLE;
    }
    const operation = given.operation_id;
    if (typeof operation !== "string" || operation !== rule.operation) return OPERATION_NOT_OF_TOOL;
    if (rule.mutating && facts.done.has(operation)) {
      return rule.idempotent ? ALLOWED_REPLAY : OPERATION_REPEATED;
    }
    if (given.expected_version !== facts.version) return VERSION_NOT_CURRENT;
    for (const needed of rule.prerequisites) if (!facts.done.has(needed)) return PREREQUISITE_OPEN;
    if (rule.wantsToken) {
      if (facts.token === null || facts.token === undefined) return APPROVAL_NOT_VISIBLE;
      if (given.approval_token !== facts.token) return APPROVAL_DIFFERS;
      const key = given.idempotency_key;
      if (typeof key !== "string" || /^\s*$/.test(key)) return KEY_BLANK;
    }
    return ALLOWED;
  }
}
