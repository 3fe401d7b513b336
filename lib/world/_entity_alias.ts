import type { Json } from "../core/canonical_json.ts";
import { MAX_JSON_DEPTH } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import type { WorldCode } from "./_error.ts";

/** Keys that must not reach a policy at any depth. Source: protocol/benchmark-v1.4.md section 11, rule 5. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set([
  "audit_log",
  "call_id",
  "candidate_valid",
  "case_id",
  "evaluator_result",
  "forbidden_side_effects",
  "goal_predicates",
  "hidden_goal_predicates",
  "idempotency_results",
  "invalid_kind",
  "label_source",
  "oracle_distance",
  "oracle_plan",
  "oracle_plans",
  "positive_actions",
  "positive_label",
  "predicted_invalid_kind",
  "predicted_valid",
  "processed_call_ids",
  "safety_token",
  "schema_label",
  "state_sha256",
  "target_node_id",
  "target_node_ids",
  "task_id",
  "valid_label",
  "validity_label",
  "workflow_nodes",
]);

function refuse(message: string, actual: unknown): never {
  throw new TracewrightError<"world", WorldCode>("not_policy_input", { message, actual });
}

/** Adds every string under a key `entity_id`, at any depth, keys in sorted order so that insertion order is no input. */
export function collectIdentities(value: unknown, into: Set<string>, depth = 0): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > MAX_JSON_DEPTH) refuse(`nesting deeper than ${MAX_JSON_DEPTH}, or a cycle`, undefined);
  if (Array.isArray(value)) {
    for (const item of value) collectIdentities(item, into, depth + 1);
    return;
  }
  const record = value as Record<string, unknown>;
  for (const key of Object.keys(record).sort()) {
    const item = record[key];
    if (typeof item === "object") collectIdentities(item, into, depth + 1);
    else if (key === "entity_id" && typeof item === "string") into.add(item);
  }
}

/** Texts whose alias is remembered; enough for a task, small enough to forget. */
const REMEMBERED_TEXTS = 4096;

/**
 * Replaces identity k, in first-seen order, by `<entity:k>` inside all strings, the longest identity first. Text that is
 * already an alias is not looked into again, so no identity can match inside one.
 */
export class EntityAliases {
  readonly #longestFirst: readonly { readonly identity: string; readonly alias: string }[];
  readonly #known = new Map<string, string>();

  /** @throws TracewrightError "bad_identity" if an identity is not a non-empty string */
  constructor(identities: Iterable<string>) {
    const entries = [...identities].map((identity, k) => {
      if (typeof identity !== "string" || identity === "") {
        throw new TracewrightError<"world", WorldCode>("bad_identity", {
          expected: "a non-empty string",
          actual: identity,
        });
      }
      return { identity, alias: `<entity:${k}>`, k };
    });
    this.#longestFirst = entries.sort((a, b) => b.identity.length - a.identity.length || a.k - b.k);
  }

  /**
   * One string.
   *
   * @throws TracewrightError "not_policy_input" if it holds a lone surrogate
   */
  text(text: string): string {
    let aliased = this.#known.get(text);
    if (aliased === undefined) {
      if (!text.isWellFormed()) refuse("a string holds a lone surrogate", text.toWellFormed());
      aliased = this.#replace(text, 0);
      if (this.#known.size >= REMEMBERED_TEXTS) this.#known.clear();
      this.#known.set(text, aliased);
    }
    return aliased;
  }

  #replace(text: string, from: number): string {
    for (let i = from; i < this.#longestFirst.length; i++) {
      const { identity, alias } = this.#longestFirst[i]!;
      if (text.includes(identity)) {
        return text.split(identity).map((part) => this.#replace(part, i + 1)).join(alias);
      }
    }
    return text;
  }

  /**
   * A frozen copy of a JSON value with all strings aliased and {@link FORBIDDEN_KEYS} left out. Other keys stay as they
   * are: they are names of fields, and an entity called "version" must not change them.
   *
   * @param depth how deep the value lies in the whole input
   * @throws TracewrightError "not_policy_input" if the value is not finite plain JSON
   */
  value(value: unknown, depth = 0): Json {
    switch (typeof value) {
      case "string":
        return this.text(value);
      case "number":
        if (!Number.isFinite(value) || Object.is(value, -0)) refuse("a number has no canonical form", value);
        return value;
      case "boolean":
        return value;
      case "object":
        break;
      default:
        return refuse(`a ${typeof value} is not JSON`, undefined);
    }
    if (value === null) return null;
    if (depth >= MAX_JSON_DEPTH) refuse(`nesting deeper than ${MAX_JSON_DEPTH}, or a cycle`, undefined);
    if (Array.isArray(value)) {
      return Object.freeze(Array.from(value, (item) => this.value(item, depth + 1)));
    }
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      refuse("only plain objects and arrays are JSON", Object.prototype.toString.call(value));
    }
    return this.#record(value as Readonly<Record<string, unknown>>, depth);
  }

  #record(record: Readonly<Record<string, unknown>>, depth: number): Json {
    // A spread keeps the shape, which is several times faster than filling an empty object key by key.
    const copy = { ...record } as Record<string, Json>;
    for (const symbol of Object.getOwnPropertySymbols(copy)) Reflect.deleteProperty(copy, symbol);
    for (const key of Object.keys(copy)) {
      if (FORBIDDEN_KEYS.has(key)) delete copy[key];
      else if (key === "__proto__" || !key.isWellFormed()) refuse("a key cannot be kept", key.toWellFormed());
      else {
        const item = record[key];
        const aliased = this.value(item, depth + 1);
        if (aliased !== item) copy[key] = aliased;
      }
    }
    return Object.freeze(copy);
  }
}
