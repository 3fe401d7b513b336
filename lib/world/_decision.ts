/** The parts that the plain and the fast way of building a policy input have in common. */
import { TracewrightError } from "../core/error.ts";
import { collectIdentities } from "./_entity_alias.ts";
import type { WorldCode } from "./_error.ts";
import type { Observation, ToolSchema } from "./contracts.ts";
import type { Decision, PolicyObservation } from "./policy_input.ts";

/** The public fields of an observation: exactly those of the DTO. */
export function observationFields(observation: Observation): PolicyObservation {
  const { step_index, max_steps, remaining_steps, user_goal, visible_state } = observation;
  const { available_entities, available_tools, message, done } = observation;
  return {
    available_entities,
    available_tools,
    done,
    max_steps,
    message,
    remaining_steps,
    step_index,
    user_goal,
    visible_state,
  };
}

/** The public fields of a schema: exactly those of the DTO. */
export function schemaFields(schema: ToolSchema): ToolSchema {
  const { name, description, required_arguments, optional_arguments, additional_properties } = schema;
  const { mutating, idempotent, side_effect, operation_id, required_completed_operations, policy_allowed } =
    schema;
  return {
    name,
    description,
    required_arguments,
    optional_arguments,
    additional_properties,
    mutating,
    idempotent,
    side_effect,
    operation_id,
    required_completed_operations,
    policy_allowed,
  };
}

/** Schemas by name. @throws TracewrightError "duplicate_tool" */
export function schemasByName(schemas: readonly ToolSchema[]): Map<string, ToolSchema> {
  const byName = new Map<string, ToolSchema>();
  for (const schema of schemas) {
    if (byName.has(schema.name)) {
      throw new TracewrightError<"world", WorldCode>("duplicate_tool", { tool: schema.name });
    }
    byName.set(schema.name, schema);
  }
  return byName;
}

/** The identities of a decision in first-seen order: the available entities, the state's, the candidates'. */
export function identitiesOf(decision: Omit<Decision, "schemas">): Set<string> {
  const identities = new Set(decision.observation.available_entities);
  collectIdentities(decision.observation.visible_state, identities);
  for (const call of decision.candidates) collectIdentities(call.arguments, identities);
  return identities;
}

/**
 * Checks that there is something to decide.
 *
 * @throws TracewrightError "empty_decision", "mask_mismatch" or "nothing_selectable"
 */
export function checkSelectable(candidates: number, mask: readonly boolean[]): void {
  if (candidates === 0) throw new TracewrightError<"world", WorldCode>("empty_decision", {});
  if (mask.length !== candidates || mask.some((bit) => typeof bit !== "boolean")) {
    throw new TracewrightError<"world", WorldCode>("mask_mismatch", {
      expected: `${candidates} booleans`,
      actual: mask,
    });
  }
  if (!mask.includes(true)) {
    throw new TracewrightError<"world", WorldCode>("nothing_selectable", {
      hint: "every state needs at least one candidate that the mask allows",
    });
  }
}

/** @throws TracewrightError "unknown_candidate_tool" */
export function unknownCandidateTool(name: string): never {
  throw new TracewrightError<"world", WorldCode>("unknown_candidate_tool", {
    message: "a candidate names a tool without a public schema",
    tool: name,
  });
}
