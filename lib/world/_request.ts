import { canonicalJson, MAX_JSON_DEPTH } from "../core/canonical_json.ts";
import { digestOf, hexOf } from "../core/digest.ts";
import type { ToolCall } from "./contracts.ts";

/** Schema tag inside every request hash. */
const REQUEST_SCHEMA = "tracewright.request.v1";

/** The same rules as canonical JSON, answered by true or false and without building any text. */
function isJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
      return value.isWellFormed();
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0);
    case "boolean":
      return true;
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  // The limit ends cycles as well: a cycle is endless depth.
  if (depth >= MAX_JSON_DEPTH) return false;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (!isJson(value[i], depth + 1)) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const record = value as Record<string, unknown>;
  for (const key of Reflect.ownKeys(record)) {
    if (typeof key !== "string" || !key.isWellFormed() || !isJson(record[key], depth + 1)) return false;
  }
  return true;
}

/**
 * True where a call has a canonical form: finite, acyclic, string-keyed JSON, shallow enough to be hashed. -0 is
 * refused because it has no canonical form. Source: protocol/environment.md section 4.1, row 5.
 */
export function isJsonRequest(call: ToolCall): boolean {
  const { arguments: args, call_id } = call as { arguments: unknown; call_id: unknown };
  return typeof call_id === "string" && call_id.isWellFormed() &&
    typeof args === "object" && args !== null && !Array.isArray(args) && isJson(args, 1);
}

/**
 * What makes two calls the same request: tool name and arguments, in any key order, types told apart; not the call id.
 *
 * @param call one that {@link isJsonRequest} accepts
 * @returns 64 hexadecimal digits
 */
export function requestSha256(call: ToolCall): string {
  return hexOf(
    digestOf(canonicalJson({
      arguments: call.arguments,
      schema: REQUEST_SCHEMA,
      tool_name: call.tool_name,
    })),
  );
}
