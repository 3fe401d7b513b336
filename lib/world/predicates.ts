import type { Json } from "../core/canonical_json.ts";
import type { StatePredicate, WorkflowState } from "./contracts.ts";

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length &&
      left.every((item, i) => deepEqual(item, right[i]));
  }
  if (!isMap(left) || !isMap(right)) return false;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && deepEqual(left[key], right[key]));
}

function lookUp(state: WorkflowState, path: readonly string[]): unknown {
  let at: unknown = state;
  for (const part of path) {
    if (!isMap(at) || !Object.hasOwn(at, part)) return null;
    at = at[part];
  }
  return at;
}

function contains(actual: unknown, expected: Json): boolean {
  if (typeof actual === "string") return typeof expected === "string" && actual.includes(expected);
  if (Array.isArray(actual)) return actual.some((item) => deepEqual(item, expected));
  return isMap(actual) && typeof expected === "string" && Object.hasOwn(actual, expected);
}

/**
 * True where a hidden predicate holds: walk the dotted path through maps (a missing part yields null), then compare.
 * Operands of a kind that the operator does not take make it false, never an error.
 * Source: protocol/environment.md section 5.1.
 */
export function predicateHolds(predicate: StatePredicate, state: WorkflowState): boolean {
  const actual = lookUp(state, predicate.path.split("."));
  const expected = predicate.value;
  switch (predicate.operator) {
    case "eq":
      return deepEqual(actual, expected);
    case "ne":
      return !deepEqual(actual, expected);
    case "contains":
      return contains(actual, expected);
    case "contains_all":
      return Array.isArray(actual) && Array.isArray(expected) &&
        expected.every((item) => actual.some((other) => deepEqual(other, item)));
    case "gte":
      return typeof actual === "number" && typeof expected === "number" && actual >= expected;
    case "lte":
      return typeof actual === "number" && typeof expected === "number" && actual <= expected;
  }
}
