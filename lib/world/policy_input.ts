/**
 * The only object that may reach a policy: public parts of one decision, entities aliased, hidden keys dropped.
 * Source: protocol/benchmark-v1.4.md section 11.
 */
import { canonicalJson } from "../core/canonical_json.ts";
import type { Json, JsonObject } from "../core/canonical_json.ts";
import { digestOf, hexOf } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { z } from "zod";
import {
  checkSelectable,
  identitiesOf,
  observationFields,
  schemaFields,
  schemasByName,
  unknownCandidateTool,
} from "./_decision.ts";
import { collectIdentities, EntityAliases, FORBIDDEN_KEYS } from "./_entity_alias.ts";
import type { WorldCode } from "./_error.ts";
import { seal, sealOf, textOfSealed } from "./_sealed_input.ts";
import type { Observation, ToolCall, ToolSchema } from "./contracts.ts";
import { frozenCopy } from "./frozen_copy.ts";

/** Schema id inside every input. */
export const POLICY_INPUT_SCHEMA = "policy-input-v1";

/** An {@link Observation} without its task id. */
export type PolicyObservation = Omit<Observation, "task_id">;

/** A call without its call id. */
export type PolicyToolCall = Omit<ToolCall, "call_id">;

/** One thing that may be done, whether the mask lets it be selected, and the public schema of its tool. */
export interface PolicyCandidate {
  readonly tool_call: PolicyToolCall;
  readonly action_mask: boolean;
  readonly tool_schema: ToolSchema;
}

/** One decision as a policy sees it. Deeply frozen; made only by this room. */
export interface PolicyInput {
  readonly schema_version: typeof POLICY_INPUT_SCHEMA;
  readonly observation: PolicyObservation;
  readonly candidates: readonly PolicyCandidate[];
}

/** The four public parts of a decision; never a task. */
export interface Decision {
  readonly observation: Observation;
  readonly candidates: readonly ToolCall[];
  /** One boolean a candidate. */
  readonly mask: readonly boolean[];
  readonly schemas: readonly ToolSchema[];
}

/**
 * Builds the input of one decision. This is the plain definition; `PolicyInputBuilder` gives the same bytes faster.
 *
 * @throws TracewrightError "empty_decision", "mask_mismatch", "nothing_selectable", "unknown_candidate_tool",
 * "duplicate_tool", "bad_identity", or "not_policy_input" where a part is not finite JSON
 */
export function policyInputFromDecision(decision: Decision): PolicyInput {
  const { observation, candidates, mask, schemas } = decision;
  checkSelectable(candidates.length, mask);
  const byName = schemasByName(schemas);
  const aliases = new EntityAliases(identitiesOf(decision));
  const input = aliases.value({
    observation: observationFields(observation),
    candidates: candidates.map(({ tool_name, arguments: args }, i) => ({
      tool_call: { tool_name, arguments: args },
      action_mask: mask[i],
      tool_schema: schemaFields(byName.get(tool_name) ?? unknownCandidateTool(tool_name)),
    })),
  }) as JsonObject & Omit<PolicyInput, "schema_version">;
  return seal(Object.freeze({ schema_version: POLICY_INPUT_SCHEMA, ...input }));
}

const json = z.custom<Json>(() => true);
const jsonMap = z.record(z.string(), json);
const typeMap = z.record(z.string(), z.string());
const count = z.int().min(0);

const POLICY_INPUT = z.strictObject({
  schema_version: z.literal(POLICY_INPUT_SCHEMA),
  observation: z.strictObject({
    step_index: count,
    max_steps: z.int().min(1),
    remaining_steps: count,
    user_goal: z.string(),
    visible_state: jsonMap,
    available_entities: z.array(z.string()),
    available_tools: z.array(z.string()),
    message: z.string(),
    done: z.boolean(),
  }),
  candidates: z.array(z.strictObject({
    tool_call: z.strictObject({ tool_name: z.string(), arguments: jsonMap }),
    action_mask: z.boolean(),
    tool_schema: z.strictObject({
      name: z.string(),
      description: z.string(),
      required_arguments: typeMap,
      optional_arguments: typeMap,
      additional_properties: z.boolean(),
      mutating: z.boolean(),
      idempotent: z.boolean(),
      side_effect: z.string().nullable(),
      operation_id: z.string().nullable(),
      required_completed_operations: z.array(z.string()),
      policy_allowed: z.boolean(),
    }),
  })),
});

const ALIAS = /^<entity:(?:0|[1-9][0-9]*)>$/;

function refuseKeys(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) return value.forEach(refuseKeys);
  for (const [key, item] of Object.entries(value)) {
    if (FORBIDDEN_KEYS.has(key) || key === "__proto__") {
      throw new TracewrightError<"world", WorldCode>("forbidden_key", {
        message: "a policy must not see this",
        field: key,
      });
    }
    refuseKeys(item);
  }
}

/**
 * Reads a policy input from outside. Nothing is dropped or repaired.
 *
 * @throws TracewrightError "not_policy_input" (not JSON, unknown, missing or mistyped fields, a call whose name is not
 * its schema's), "forbidden_key", "raw_identity", "empty_decision" or "nothing_selectable"
 */
export function parsePolicyInput(value: unknown): PolicyInput {
  if (sealOf(value) !== undefined) return value as PolicyInput;
  let text: string;
  try {
    text = canonicalJson(value);
  } catch (cause) {
    throw new TracewrightError<"world", WorldCode>("not_policy_input", {
      message: cause instanceof Error ? cause.message : String(cause),
      cause,
    });
  }
  const read = JSON.parse(text) as Json;
  refuseKeys(read);
  const checked = POLICY_INPUT.safeParse(read);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw new TracewrightError<"world", WorldCode>("not_policy_input", {
      message: issue?.message ?? "wrong shape",
      field: issue?.path.join("."),
    });
  }
  const input = read as Json & PolicyInput;
  const { observation, candidates } = input;
  if (observation.step_index + observation.remaining_steps !== observation.max_steps) {
    throw new TracewrightError<"world", WorldCode>("not_policy_input", {
      field: "observation.remaining_steps",
      expected: observation.max_steps - observation.step_index,
      actual: observation.remaining_steps,
    });
  }
  checkSelectable(candidates.length, candidates.map((candidate) => candidate.action_mask));
  for (const { tool_call, tool_schema } of candidates) {
    if (tool_call.tool_name !== tool_schema.name) {
      throw new TracewrightError<"world", WorldCode>("not_policy_input", {
        field: "tool_schema.name",
        expected: tool_call.tool_name,
        actual: tool_schema.name,
      });
    }
  }
  const identities = new Set(observation.available_entities);
  collectIdentities(observation.visible_state, identities);
  for (const { tool_call } of candidates) collectIdentities(tool_call.arguments, identities);
  for (const identity of identities) {
    if (!ALIAS.test(identity)) {
      throw new TracewrightError<"world", WorldCode>("raw_identity", {
        message: "an entity is not aliased",
        expected: "<entity:k>",
        actual: identity,
      });
    }
  }
  return seal(frozenCopy(input));
}

/** True where this room made the value, by building or by parsing: what a policy must ask before it looks. */
export function isPolicyInput(value: unknown): value is PolicyInput {
  return sealOf(value) !== undefined;
}

/** The canonical JSON of an input; kept with an input that this room made. */
export function canonicalPolicyText(input: PolicyInput): string {
  const known = sealOf(input);
  if (known === undefined) return canonicalJson(input);
  return known.text ??= textOfSealed(input);
}

const encoder = new TextEncoder();

/** The canonical bytes of an input. */
export function canonicalPolicyInput(input: PolicyInput): Uint8Array {
  return encoder.encode(canonicalPolicyText(input));
}

/** SHA-256 of the canonical bytes, 64 hexadecimal digits: what a trace stores. */
export function policyInputDigest(input: PolicyInput): string {
  const known = sealOf(input);
  if (known === undefined) return hexOf(digestOf(canonicalJson(input)));
  return known.sha256 ??= hexOf(digestOf(canonicalPolicyText(input)));
}
