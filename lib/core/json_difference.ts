import type { Json } from "./canonical_json.ts";

/** Where two JSON values differ. A side that has nothing there is undefined. */
export interface JsonDifference {
  /** Dot-separated keys and indices, e.g. `steps.4.log_prob`; "" for the whole value. */
  readonly path: string;
  readonly expected: Json | undefined;
  readonly actual: Json | undefined;
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function* find(
  expected: Json | undefined,
  actual: Json | undefined,
  path: string,
): Generator<JsonDifference> {
  const below = (key: string | number) => (path === "" ? String(key) : `${path}.${key}`);
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let i = 0; i < Math.max(expected.length, actual.length); i++) {
      yield* find(expected[i], actual[i], below(i));
    }
  } else if (isObject(expected) && isObject(actual)) {
    for (const key of [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort()) {
      yield* find(
        Object.hasOwn(expected, key) ? expected[key] : undefined,
        Object.hasOwn(actual, key) ? actual[key] : undefined,
        below(key),
      );
    }
  } else if (!Object.is(expected, actual)) {
    yield { path, expected, actual };
  }
}

/**
 * All differences of two JSON values, in canonical order. Booleans never equal numbers; nothing is near enough.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { jsonDifference, jsonDifferences } from "./json_difference.ts";
 *
 * const [first, second] = jsonDifferences({ tsr: 1, steps: [4, 5] }, { tsr: true, steps: [4] });
 * assert.deepEqual(first, { path: "steps.1", expected: 5, actual: undefined });
 * assert.deepEqual(second, { path: "tsr", expected: 1, actual: true });
 * assert.equal(jsonDifference([1], [1]), null);
 * ```
 */
export function jsonDifferences(expected: Json, actual: Json): JsonDifference[] {
  return [...find(expected, actual, "")];
}

/** The first difference of two JSON values in canonical order, or null where they are equal. */
export function jsonDifference(expected: Json, actual: Json): JsonDifference | null {
  return find(expected, actual, "").next().value ?? null;
}
