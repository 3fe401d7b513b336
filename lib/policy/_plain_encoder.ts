/**
 * The feature encoder as its definition reads: every token spelled out, hashed on its own and added up, nothing
 * remembered. What the tests hold `FeatureEncoder` against.
 */
import type { Json, JsonObject } from "../core/canonical_json.ts";
import { sha256 } from "../core/digest.ts";
import type { PolicyCandidate, PolicyInput, PolicyObservation } from "../world/policy_input.ts";
import { operationId, valueTokens, withoutIdentities } from "./_tokens.ts";

const DROPPED = (
  "approval_token audit_log call_id candidate_valid entity_id idempotency_results invalid_kind label_source " +
  "predicted_valid processed_call_ids schema_label state_sha256 valid_label"
).split(" ");

interface Widths {
  readonly stateWidth: number;
  readonly actionWidth: number;
}

function grid(x: number): number {
  return Math.floor(x * 1024 + 0.5) + 0;
}

/** Sum of signs per bucket over max(1, sqrt(count)); the bucket from the first 64 bits, the sign from the 65th. */
function block(tokens: readonly string[], buckets: number): number[] {
  const sums = new Array<number>(buckets).fill(0);
  for (const token of tokens) {
    const hash = sha256(token);
    const number = new DataView(hash.buffer, hash.byteOffset).getBigUint64(0, false);
    sums[Number(number % BigInt(buckets))]! += hash[8]! >= 128 ? 1 : -1;
  }
  return sums.map((sum) => grid(sum / Math.max(1, Math.sqrt(tokens.length))));
}

function operationBlock({ stateWidth, actionWidth }: Widths): number {
  return Math.min(16, Math.floor((Math.min(stateWidth, actionWidth) - 8) / 2));
}

function operationTokens(names: readonly Json[]): string[] {
  return names.map(operationId).filter((id) => id !== undefined).map((id) => "operation:" + id);
}

function withoutDropped(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutDropped);
  const kept = Object.entries(value as JsonObject).filter(([key]) => !DROPPED.includes(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutDropped(inner)]));
}

const integer = (value: Json | undefined): number => Number.isSafeInteger(value) ? value as number : 0;

/** Features of one observation, [S]. */
export function plainState(observation: PolicyObservation, widths: Widths): number[] {
  const { visible_state: visible, max_steps, step_index, remaining_steps, user_goal, message } = observation;
  const token = visible["approval_token"];
  const completed = (visible["completed_nodes"] ?? []) as string[];
  const identities = [visible["entity_id"], token, ...observation.available_entities];
  const { completed_nodes: _, ...shown } = visible;
  const tokens = valueTokens({
    user_goal: withoutIdentities(user_goal, identities.filter((name) => typeof name === "string")),
    visible_state: withoutDropped(shown),
    message,
    step_index,
    max_steps,
    remaining_steps,
  });
  const operations = operationBlock(widths);
  return [
    grid(integer(visible["version"]) / 15),
    grid(completed.length / 15),
    observation.done ? 1024 : 0,
    typeof token === "string" && token !== "" ? 1024 : 0,
    grid(step_index / max_steps),
    grid(Math.max(0, remaining_steps) / max_steps),
    grid(Math.min(max_steps, 20) / 20),
    0,
    ...block(tokens, widths.stateWidth - 8 - operations),
    ...block(operationTokens(completed), operations),
  ];
}

/** Features of one candidate, [D]; `entities` are those of the observation, none for a lone action. */
export function plainAction(
  { tool_call: call, tool_schema: schema }: PolicyCandidate,
  entities: readonly string[],
  widths: Widths,
): number[] {
  const names = Object.keys(call.arguments).filter((name) => !DROPPED.includes(name)).sort();
  const { name, description, required_arguments, optional_arguments, side_effect } = schema;
  const { mutating, idempotent, policy_allowed, additional_properties } = schema;
  const prerequisites = schema.required_completed_operations;
  const tokens = valueTokens({
    tool_name: call.tool_name,
    argument_names: names,
    name,
    description,
    required_arguments,
    optional_arguments,
    mutating,
    idempotent,
    policy_allowed,
    additional_properties,
    side_effect,
    prerequisite_count: prerequisites.length,
  });
  const operations = operationBlock(widths);
  const entity = call.arguments["entity_id"];
  return [
    grid(integer(call.arguments["expected_version"]) / 15),
    typeof entity === "string" && entities.includes(entity) ? 1024 : 0,
    mutating ? 1024 : 0,
    idempotent ? 1024 : 0,
    policy_allowed ? 1024 : 0,
    additional_properties ? 1024 : 0,
    grid(Math.min(prerequisites.length, 15) / 15),
    side_effect !== null ? 1024 : 0,
    ...block(tokens, widths.actionWidth - 8 - operations),
    ...block(operationTokens([schema.operation_id, ...prerequisites]), operations),
  ];
}

/** Features of one candidate without its schema, [D]: the variant `arguments`. */
export function plainArgumentAction(
  { tool_call: { tool_name, arguments: args } }: PolicyCandidate,
  entities: readonly string[],
  widths: Widths,
): number[] {
  const argument_names = Object.keys(args).filter((name) => !DROPPED.includes(name)).sort();
  const operations = operationBlock(widths);
  const given = (name: string) => name in args ? 1024 : 0;
  const filled = (name: string) => typeof args[name] === "string" && args[name] !== "" ? 1024 : 0;
  const entity = args["entity_id"];
  return [
    grid(integer(args["expected_version"]) / 15),
    typeof entity === "string" && entities.includes(entity) ? 1024 : 0,
    given("entity_id"),
    given("operation_id"),
    given("expected_version"),
    filled("approval_token"),
    filled("idempotency_key"),
    0,
    ...block(valueTokens({ tool_name, argument_names }), widths.actionWidth - 8 - operations),
    ...block(operationTokens([args["operation_id"] ?? null]), operations),
  ];
}

/** All features of a decision: state [S] and actions [A * D]. */
export function plainDecision(
  input: PolicyInput,
  widths: Widths,
  action = plainAction,
): { state: number[]; actions: number[] } {
  const { observation, candidates } = input;
  return {
    state: plainState(observation, widths),
    actions: candidates.flatMap((one) => action(one, observation.available_entities, widths)),
  };
}
