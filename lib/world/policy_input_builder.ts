import type { JsonObject } from "../core/canonical_json.ts";
import {
  checkSelectable,
  identitiesOf,
  observationFields,
  schemaFields,
  schemasByName,
  unknownCandidateTool,
} from "./_decision.ts";
import { EntityAliases } from "./_entity_alias.ts";
import { seal } from "./_sealed_input.ts";
import type { Observation, ToolSchema } from "./contracts.ts";
import { isDeeplyFrozen } from "./frozen_copy.ts";
import { POLICY_INPUT_SCHEMA } from "./policy_input.ts";
import type {
  Decision,
  PolicyCandidate,
  PolicyInput,
  PolicyObservation,
  PolicyToolCall,
} from "./policy_input.ts";

/** What does not change between decisions with the same identities. */
interface Memo {
  readonly aliases: EntityAliases;
  readonly schemas: Map<string, ToolSchema>;
}

/** The parts of an observation that stay for as long as the state does. */
const LASTING_PARTS = ["visible_state", "available_entities", "available_tools"] as const;
type LastingParts = Pick<PolicyObservation, (typeof LASTING_PARTS)[number]>;

/** The last decision, and all of its input that the next one has too if it is about the same offer in the same state. */
interface Last {
  readonly candidates: Decision["candidates"];
  readonly mask: readonly boolean[];
  readonly observation: LastingParts;
  readonly aliases: EntityAliases;
  readonly list: readonly PolicyCandidate[];
  readonly parts: LastingParts;
}

function isSameOffer(last: Last, { candidates, mask, observation }: Omit<Decision, "schemas">): boolean {
  return last.candidates === candidates &&
    LASTING_PARTS.every((part) => last.observation[part] === observation[part]) &&
    last.mask.length === mask.length && last.mask.every((bit, i) => bit === mask[i]);
}

/**
 * Builds the policy inputs of one task. Gives the same bytes as `policyInputFromDecision`, but aliases each schema and
 * each string once instead of at every decision, and what a call without effect leaves as it was not at all.
 */
export class PolicyInputBuilder {
  readonly #schemas: ReadonlyMap<string, ToolSchema>;
  readonly #memos = new Map<string, Memo>();
  #last: Last | undefined;

  /** @throws TracewrightError "duplicate_tool" */
  constructor(schemas: readonly ToolSchema[]) {
    this.#schemas = schemasByName(schemas);
  }

  /** @throws as `policyInputFromDecision` does */
  build(decision: Omit<Decision, "schemas">): PolicyInput {
    const last = this.#last;
    if (last !== undefined && isSameOffer(last, decision)) {
      return input(observationAgain(last, decision.observation), last.list);
    }
    const { observation, candidates, mask } = decision;
    checkSelectable(candidates.length, mask);
    const memo = this.#memo(identitiesOf(decision));
    // depths as in the whole input, so that both ways refuse the same nesting
    const seen = memo.aliases.value(observationFields(observation), 1) as JsonObject & PolicyObservation;
    const list = Object.freeze(candidates.map(({ tool_name, arguments: args }, i) =>
      Object.freeze({
        tool_call: memo.aliases.value({ arguments: args, tool_name }, 3) as JsonObject & PolicyToolCall,
        action_mask: mask[i]!,
        tool_schema: this.#schema(memo, tool_name),
      })
    ));
    // only what nobody can write to is the same whenever it is the same object
    const lasting = isDeeplyFrozen(candidates) &&
      LASTING_PARTS.every((part) => isDeeplyFrozen(observation[part]));
    this.#last = lasting
      ? { candidates, mask: [...mask], observation, aliases: memo.aliases, list, parts: seen }
      : undefined;
    return input(seen, list);
  }

  #memo(identities: ReadonlySet<string>): Memo {
    const key = JSON.stringify([...identities]);
    let memo = this.#memos.get(key);
    if (memo === undefined) {
      memo = { aliases: new EntityAliases(identities), schemas: new Map() };
      this.#memos.set(key, memo);
    }
    return memo;
  }

  #schema(memo: Memo, name: string): ToolSchema {
    let schema = memo.schemas.get(name);
    if (schema === undefined) {
      const source = schemaFields(this.#schemas.get(name) ?? unknownCandidateTool(name));
      schema = memo.aliases.value(source, 3) as JsonObject & ToolSchema;
      memo.schemas.set(name, schema);
    }
    return schema;
  }
}

function input(observation: PolicyObservation, candidates: readonly PolicyCandidate[]): PolicyInput {
  return seal(Object.freeze({ schema_version: POLICY_INPUT_SCHEMA, observation, candidates }));
}

function observationAgain({ aliases, parts }: Last, observation: Observation): PolicyObservation {
  const { visible_state, available_entities, available_tools } = parts;
  const { step_index, max_steps, remaining_steps, user_goal, message, done } = observation;
  const seen = aliases.value({ done, max_steps, message, remaining_steps, step_index, user_goal }, 1);
  return Object.freeze({
    ...seen as unknown as Omit<PolicyObservation, keyof LastingParts>,
    visible_state,
    available_entities,
    available_tools,
  });
}
