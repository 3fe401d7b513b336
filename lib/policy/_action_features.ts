import type { Json, JsonObject } from "../core/canonical_json.ts";
import type { PolicyCandidate } from "../world/policy_input.ts";
import { DROPPED_FIELDS } from "./_dropped_fields.ts";
import { SchemaFeatureCache } from "./_schema_features.ts";
import type { TokenBag } from "./_token_bag.ts";
import { operationId } from "./_tokens.ts";
import { FEATURE_SCALE, toFeature } from "./feature_grid.ts";

/** Counts and versions are scaled by the longest workflow there is. */
export const LONGEST_WORKFLOW = 15;
/** Where the hashed tokens of both vectors start. */
export const SCALAR_SLOTS = 8;

/** Writes the features of one candidate into a row of zeros; slot 1 belongs to the whole decision and stays 0. */
export interface ActionFeatures {
  write(candidate: PolicyCandidate, out: Int32Array, row: number): void;
}

/** The bags that actions hash into, and how wide a row is. */
export interface ActionBags {
  readonly tokens: TokenBag;
  readonly operations: TokenBag;
  readonly actionWidth: number;
}

/** A JSON value as a whole number, 0 for anything else. */
export function integerOr0(value: Json | undefined): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
}

/** What both kinds of features hold: the version asked for, the tool's name and the names of the arguments. */
function addCall(bag: TokenBag, tool: string, args: JsonObject): void {
  bag.addKey("tool_name");
  bag.addString(tool);
  bag.addKey("argument_names");
  let names = 0;
  for (const name in args) {
    if (DROPPED_FIELDS.has(name)) continue;
    bag.addString(name);
    names++;
  }
  bag.addListLength(names);
}

function versionFeature(args: JsonObject): number {
  return toFeature(integerOr0(args["expected_version"]) / LONGEST_WORKFLOW, "action 0, expected version");
}

/** What the public schema says of the tool, and the call. Source: protocol section 2, `current`. */
export class SchemaActionFeatures implements ActionFeatures {
  readonly #bags: ActionBags;
  readonly #schemas: SchemaFeatureCache;

  constructor(bags: ActionBags) {
    this.#bags = bags;
    this.#schemas = new SchemaFeatureCache(bags.tokens, bags.operations, bags.actionWidth);
  }

  write({ tool_call: call, tool_schema: schema }: PolicyCandidate, out: Int32Array, row: number): void {
    const fixed = this.#schemas.of(schema);
    const bag = this.#bags.tokens;
    bag.startFrom(fixed.tokens);
    addCall(bag, call.tool_name, call.arguments);
    out.set(fixed.scalarsAndOperations, row);
    out[row] = versionFeature(call.arguments);
    bag.writeTo(out, row + SCALAR_SLOTS);
  }
}

/** Slots 2 to 4: which arguments a call has at all. */
const PRESENCE_SLOTS = [["entity_id", 2], ["operation_id", 3], ["expected_version", 4]] as const;
/** Slots 5 and 6: which credentials are given and not empty. */
const CREDENTIAL_SLOTS = [["approval_token", 5], ["idempotency_key", 6]] as const;

/**
 * The call alone, nothing of the schema: which arguments are there, and the operation they name. Slot 7 is unused. Blocked
 * and ready operations look alike. Source: protocol section 2, `frozen v1.3`.
 */
export class ArgumentActionFeatures implements ActionFeatures {
  readonly #bags: ActionBags;

  constructor(bags: ActionBags) {
    this.#bags = bags;
  }

  write({ tool_call: { tool_name, arguments: args } }: PolicyCandidate, out: Int32Array, row: number): void {
    const { tokens, operations, actionWidth } = this.#bags;
    out[row] = versionFeature(args);
    for (const [name, slot] of PRESENCE_SLOTS) if (Object.hasOwn(args, name)) out[row + slot] = FEATURE_SCALE;
    for (const [name, slot] of CREDENTIAL_SLOTS) {
      const value = args[name];
      if (typeof value === "string" && value !== "") out[row + slot] = FEATURE_SCALE;
    }
    tokens.clear();
    addCall(tokens, tool_name, args);
    tokens.writeTo(out, row + SCALAR_SLOTS);
    operations.clear();
    const operation = operationId(args["operation_id"]);
    if (operation !== undefined) operations.addToken("operation:" + operation);
    operations.writeTo(out, row + actionWidth - operations.width);
  }
}
