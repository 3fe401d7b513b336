import { canonicalJson } from "../core/canonical_json.ts";
import type { ToolSchema } from "./contracts.ts";
import type { PolicyInput } from "./policy_input.ts";

/** What is known about an input that this room made: its canonical text and digest, as soon as someone asked for them. */
interface Seal {
  text: string | null;
  sha256: string | null;
}

const seals = new WeakMap<object, Seal>();
const schemaTexts = new WeakMap<ToolSchema, string>();

/** Marks a deeply frozen input as made by this room. */
export function seal(input: PolicyInput): PolicyInput {
  seals.set(input, { text: null, sha256: null });
  return input;
}

/** The seal of an input, or nothing for any other value. */
export function sealOf(value: unknown): Seal | undefined {
  return typeof value === "object" && value !== null ? seals.get(value) : undefined;
}

/** A frozen schema is written once; the inputs of one task share their schemas, and these are most of the text. */
function schemaText(schema: ToolSchema): string {
  let text = schemaTexts.get(schema);
  if (text === undefined) {
    text = canonicalJson(schema);
    schemaTexts.set(schema, text);
  }
  return text;
}

/** The canonical JSON of a sealed input: the same text as `canonicalJson(input)`, put together from its parts. */
export function textOfSealed(input: PolicyInput): string {
  let list = "";
  for (const { action_mask, tool_call, tool_schema } of input.candidates) {
    list += `${list === "" ? "" : ","}{"action_mask":${action_mask},"tool_call":${canonicalJson(tool_call)}` +
      `,"tool_schema":${schemaText(tool_schema)}}`;
  }
  const observation = canonicalJson(input.observation);
  return `{"candidates":[${list}],"observation":${observation},"schema_version":"${input.schema_version}"}`;
}
