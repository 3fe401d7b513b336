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
import type { ToolSchema } from "./contracts.ts";
import { POLICY_INPUT_SCHEMA } from "./policy_input.ts";
import type { Decision, PolicyInput, PolicyObservation, PolicyToolCall } from "./policy_input.ts";

/** What does not change between decisions with the same identities. */
interface Memo {
  readonly aliases: EntityAliases;
  readonly schemas: Map<string, ToolSchema>;
}

/**
 * Builds the policy inputs of one task. Gives the same bytes as `policyInputFromDecision`, but aliases each schema and
 * each string once instead of at every decision.
 */
export class PolicyInputBuilder {
  readonly #schemas: ReadonlyMap<string, ToolSchema>;
  readonly #memos = new Map<string, Memo>();

  /** @throws TracewrightError "duplicate_tool" */
  constructor(schemas: readonly ToolSchema[]) {
    this.#schemas = schemasByName(schemas);
  }

  /** @throws as `policyInputFromDecision` does */
  build(decision: Omit<Decision, "schemas">): PolicyInput {
    const { observation, candidates, mask } = decision;
    checkSelectable(candidates.length, mask);
    const memo = this.#memo(identitiesOf(decision));
    // depths as in the whole input, so that both ways refuse the same nesting
    const seen = memo.aliases.value(observationFields(observation), 1) as JsonObject & PolicyObservation;
    const list = candidates.map(({ tool_name, arguments: args }, i) =>
      Object.freeze({
        tool_call: memo.aliases.value({ tool_name, arguments: args }, 3) as JsonObject & PolicyToolCall,
        action_mask: mask[i]!,
        tool_schema: this.#schema(memo, tool_name),
      })
    );
    return seal(Object.freeze({
      schema_version: POLICY_INPUT_SCHEMA,
      observation: seen,
      candidates: Object.freeze(list),
    }));
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
