import type { Json } from "./canonical_json.ts";

/** Where two JSON values first differ, in canonical order. A side that has nothing there is undefined. */
export interface JsonDifference {
  /** Dot-separated keys and indices, e.g. `steps.4.log_prob`; "" for the whole value. */
  readonly path: string;
  readonly expected: Json | undefined;
  readonly actual: Json | undefined;
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function find(expected: Json | undefined, actual: Json | undefined, path: string): JsonDifference | null {
  const below = (key: string | number) => (path === "" ? String(key) : `${path}.${key}`);
  if (Array.isArray(expected) && Array.isArray(actual)) {
    for (let i = 0; i < Math.max(expected.length, actual.length); i++) {
      const found = find(expected[i], actual[i], below(i));
      if (found !== null) return found;
    }
    return null;
  }
  if (isObject(expected) && isObject(actual)) {
    for (const key of [...new Set([...Object.keys(expected), ...Object.keys(actual)])].sort()) {
      const found = find(
        Object.hasOwn(expected, key) ? expected[key] : undefined,
        Object.hasOwn(actual, key) ? actual[key] : undefined,
        below(key),
      );
      if (found !== null) return found;
    }
    return null;
  }
  return Object.is(expected, actual) ? null : { path, expected, actual };
}

/** The first difference of two JSON values, or null where they are equal. Booleans never equal numbers. */
export function jsonDifference(expected: Json, actual: Json): JsonDifference | null {
  return find(expected, actual, "");
}
