import { canonicalJson } from "../core/canonical_json.ts";
import type { PolicyInput, PolicyObservation } from "./policy_input.ts";

/** What is known about an input that this room made: its canonical text and digest, as soon as someone asked for them. */
interface Seal {
  text: string | null;
  sha256: string | null;
}

const seals = new WeakMap<object, Seal>();
const texts = new WeakMap<object, string>();

/** Marks a deeply frozen input as made by this room. */
export function seal(input: PolicyInput): PolicyInput {
  seals.set(input, { text: null, sha256: null });
  return input;
}

/** The seal of an input, or nothing for any other value. */
export function sealOf(value: unknown): Seal | undefined {
  return typeof value === "object" && value !== null ? seals.get(value) : undefined;
}

/** Frozen parts are written once: the inputs of one task share their schemas, and those about one state much more. */
function textOf(part: object): string {
  let text = texts.get(part);
  if (text === undefined) texts.set(part, text = canonicalJson(part));
  return text;
}

function candidatesText(candidates: PolicyInput["candidates"]): string {
  let text = texts.get(candidates);
  if (text === undefined) {
    const list = candidates.map(({ action_mask, tool_call, tool_schema }) =>
      `{"action_mask":${action_mask},"tool_call":${canonicalJson(tool_call)},"tool_schema":${
        textOf(tool_schema)
      }}`
    );
    texts.set(candidates, text = `[${list.join(",")}]`);
  }
  return text;
}

function observationText(observation: PolicyObservation): string {
  const { available_entities, available_tools, visible_state, ...rest } = observation;
  // the other fields of an observation come after the tools and before the state in the order of names
  const between = canonicalJson(rest).slice(1, -1);
  return `{"available_entities":${textOf(available_entities)},"available_tools":${textOf(available_tools)},` +
    `${between},"visible_state":${textOf(visible_state)}}`;
}

/** The canonical JSON of a sealed input: the same text as `canonicalJson(input)`, put together from its parts. */
export function textOfSealed({ candidates, observation, schema_version }: PolicyInput): string {
  return `{"candidates":${candidatesText(candidates)},"observation":${observationText(observation)}` +
    `,"schema_version":"${schema_version}"}`;
}
