import { canonicalJson } from "../core/canonical_json.ts";
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
  readonly schemas: Map<string, { readonly schema: ToolSchema; readonly text: string }>;
}

/**
 * Builds the policy inputs of one task. Gives the same bytes as `policyInputFromDecision`, but aliases and writes each
 * schema once instead of at every decision, and keeps the canonical text with the input.
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
    const list: PolicyCandidate[] = [];
    let text = "";
    for (let i = 0; i < candidates.length; i++) {
      const { tool_name, arguments: args } = candidates[i]!;
      const { schema, text: schemaText } = this.#schema(memo, tool_name);
      const call = memo.aliases.value({ arguments: args, tool_name }, 3) as JsonObject & PolicyToolCall;
      const action_mask = mask[i]!;
      list.push(Object.freeze({ tool_call: call, action_mask, tool_schema: schema }));
      text += `${i === 0 ? "" : ","}{"action_mask":${action_mask},"tool_call":${canonicalJson(call)}` +
        `,"tool_schema":${schemaText}}`;
    }
    const input: PolicyInput = Object.freeze({
      schema_version: POLICY_INPUT_SCHEMA,
      observation: seen,
      candidates: Object.freeze(list),
    });
    return seal(
      input,
      `{"candidates":[${text}],"observation":${
        canonicalJson(seen)
      },"schema_version":"${POLICY_INPUT_SCHEMA}"}`,
    );
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

  #schema(memo: Memo, name: string): { readonly schema: ToolSchema; readonly text: string } {
    let entry = memo.schemas.get(name);
    if (entry === undefined) {
      const source = schemaFields(this.#schemas.get(name) ?? unknownCandidateTool(name));
      const schema = memo.aliases.value(source) as JsonObject & ToolSchema;
      entry = { schema, text: canonicalJson(schema) };
      memo.schemas.set(name, entry);
    }
    return entry;
  }
}
