import { TracewrightError } from "./error.ts";

/** A JSON value. Numbers are finite doubles; -0 is not one of them in evidence. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
/** A JSON object. */
export type JsonObject = { readonly [key: string]: Json };

/** Why a value has no canonical form, or why bytes are not one. */
export type CanonicalCode = "not_json" | "not_canonical" | "too_deep";

/** Deepest nesting that canonical JSON accepts, on writing and on reading. */
export const MAX_JSON_DEPTH = 64;

// deno-lint-ignore no-control-regex -- JSON must escape exactly these
const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/;

function notJson(what: string, actual?: unknown): never {
  throw new TracewrightError<"core", CanonicalCode>("not_json", { message: what, actual });
}

function quote(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return `"${text}"`;
  if (!text.isWellFormed()) notJson("a string holds a lone surrogate", text.toWellFormed());
  return JSON.stringify(text);
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return quote(value);
    case "number":
      if (!Number.isFinite(value)) notJson("a number is not finite", value);
      if (value === 0 && Object.is(value, -0)) {
        notJson("-0 has no canonical form; add +0 where the record is built", -0);
      }
      return String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      break;
    default:
      return notJson(`a ${typeof value} is not JSON`);
  }
  if (value === null) return "null";
  if (depth >= MAX_JSON_DEPTH) {
    throw new TracewrightError<"core", CanonicalCode>("too_deep", {
      message: `nesting deeper than ${MAX_JSON_DEPTH}, or a cycle`,
    });
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    let text = "[" + write(value[0], depth + 1);
    for (let i = 1; i < value.length; i++) text += "," + write(value[i], depth + 1);
    return text + "]";
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) notJson("only plain objects and arrays are JSON");
  const record = value as Record<string, unknown>;
  const keys = Object.keys(record).sort(); // UTF-16 code units, as RFC 8785 section 3.2.3 asks
  let text = "{";
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    text += (i === 0 ? "" : ",") + quote(key) + ":" + write(record[key], depth + 1);
  }
  return text + "}";
}

/** What {@link inOrder} gives for a value that only {@link write} can judge. */
const NO_ORDER = Symbol();

function isAscending(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! > keys[i]!) return false;
  return true;
}

/** Whether an object cannot keep a key in the place where it was added: numbers come first, and one name is no field. */
function isOutOfPlace(key: string): boolean {
  const first = key.charCodeAt(0);
  return (first >= 48 && first <= 57) || key === "__proto__";
}

/**
 * The value with all keys in canonical order, the same object where they are so already: the engine's own writer is several
 * times faster than {@link write}, and gives the same text for a value in order. {@link NO_ORDER} where there may be no
 * canonical form; `write` then says why.
 */
function inOrder(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) && !(value === 0 && Object.is(value, -0)) ? value : NO_ORDER;
    case "object":
      break;
    default:
      return NO_ORDER;
  }
  if (value === null) return null;
  if (depth >= MAX_JSON_DEPTH) return NO_ORDER;
  // the engine's writer would ask it for another value
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === "function") return NO_ORDER;
  if (Array.isArray(value)) return itemsInOrder(value, depth + 1);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return NO_ORDER;
  const record = value as Record<string, unknown>;
  const keys = Object.keys(record);
  let copy: Record<string, unknown> | undefined;
  if (!isAscending(keys)) {
    if (keys.some(isOutOfPlace)) return NO_ORDER;
    keys.sort(); // UTF-16 code units, as RFC 8785 section 3.2.3 asks
    copy = {};
  }
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const item = record[key];
    const ordered = inOrder(item, depth + 1);
    if (ordered === NO_ORDER) return NO_ORDER;
    if (copy !== undefined) copy[key] = ordered;
    else if (ordered !== item) {
      if (keys.some(isOutOfPlace)) return NO_ORDER;
      copy = {};
      for (let j = 0; j < i; j++) copy[keys[j]!] = record[keys[j]!];
      copy[key] = ordered;
    }
  }
  return copy ?? record;
}

function itemsInOrder(items: readonly unknown[], depth: number): unknown {
  let copy: unknown[] | undefined;
  for (let i = 0; i < items.length; i++) {
    const ordered = inOrder(items[i], depth);
    if (ordered === NO_ORDER) return NO_ORDER;
    if (copy !== undefined) copy.push(ordered);
    else if (ordered !== items[i]) copy = [...items.slice(0, i), ordered];
  }
  return copy ?? items;
}

/**
 * The canonical form of a JSON value: RFC 8785, and stricter, so that equal bytes and equal values are the same thing. The
 * value is plain data: what a getter gives may be read more than once.
 *
 * @throws TracewrightError "not_json" on NaN, infinities, -0, undefined, lone surrogates and anything that is not a
 * plain object, array or scalar; "too_deep" beyond {@link MAX_JSON_DEPTH}.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { canonicalBytes, canonicalJson, parseCanonical } from "./canonical_json.ts";
 *
 * assert.equal(canonicalJson({ b: 1, a: [0.5, "é"] }), '{"a":[0.5,"é"],"b":1}');
 * assert.deepEqual(parseCanonical(canonicalBytes({ a: 1 })), { a: 1 });
 * assert.throws(() => parseCanonical('{"a": 1}'), { code: "not_canonical" });
 * assert.throws(() => canonicalJson(NaN), { code: "not_json" });
 * ```
 */
export function canonicalJson(value: unknown): string {
  const ordered = inOrder(value, 0);
  if (ordered !== NO_ORDER) {
    const text = JSON.stringify(ordered);
    // JSON.stringify escapes a lone surrogate, and nothing else, in this way
    if (!text.includes("\\ud")) return text;
  }
  return write(value, 0);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** {@link canonicalJson} as UTF-8 bytes: what digests are taken over. */
export function canonicalBytes(value: unknown): Uint8Array<ArrayBuffer> {
  return encoder.encode(canonicalJson(value)) as Uint8Array<ArrayBuffer>;
}

/**
 * Reads evidence: parse, write again, compare. Anything but the canonical form is refused, which also refuses
 * duplicate keys, a byte order mark, other number spellings and trailing white space.
 *
 * @throws TracewrightError "not_canonical", naming the first character that differs
 */
export function parseCanonical(source: Uint8Array | string): Json {
  let text: string;
  let value: Json;
  let again: string;
  try {
    text = typeof source === "string" ? source : decoder.decode(source);
    value = JSON.parse(text) as Json;
    again = canonicalJson(value);
  } catch (cause) {
    throw new TracewrightError<"core", CanonicalCode>("not_canonical", {
      message: cause instanceof Error ? cause.message : String(cause),
      cause,
    });
  }
  if (again !== text) {
    let at = 0;
    while (at < text.length && text[at] === again[at]) at++;
    throw new TracewrightError<"core", CanonicalCode>("not_canonical", {
      message: "the bytes are JSON but not in canonical form",
      character: at,
      expected: again.slice(at, at + 40),
      actual: text.slice(at, at + 40),
    });
  }
  return value;
}
