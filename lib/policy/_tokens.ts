/**
 * The tokeniser of the feature encoder. A value becomes a bag of typed tokens:
 *
 *     null           "null"
 *     true, false    "boolean:true"
 *     3              "number:3"
 *     "Step one_2"   "word:step" "word:one" "word:2"     runs of ASCII letters and digits, lower-cased
 *     [a, b]         "list:2", then the tokens of a and b
 *     {k: v}         "key:k", then the tokens of v, for every key
 *
 * An opaque operation id is per-world random, so inside any string it counts as the word `operation`; the ids
 * themselves enter through their own block. Letters mean ASCII: case folding and word boundaries are then the same in
 * every engine and locale.
 */
import type { Json } from "../core/canonical_json.ts";

const OPERATION_ID = /^op_[0-9a-f]{20}$/;
const OPERATION_IDS_INSIDE = /(?<![a-z0-9_])op_[0-9a-f]{20}(?![a-z0-9_])/g;
const OPERATION_WORD = "operation";
const UPPER = /[A-Z]+/g;
const WORDS = /[a-z0-9]+/g;
const PATTERN_CHARACTERS = /[\\^$.*+?()[\]{}|/-]/g;

/** ASCII lower case; other characters stay as they are. */
export function lowerAscii(text: string): string {
  return text.replace(UPPER, (run) => run.toLowerCase());
}

/** The lower-cased operation id, or undefined where a value is not exactly `op_` and 20 hexadecimal digits. */
export function operationId(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const lower = lowerAscii(value);
  return OPERATION_ID.test(lower) ? lower : undefined;
}

function withoutOperationIds(lower: string): string {
  return lower.includes("op_") ? lower.replace(OPERATION_IDS_INSIDE, OPERATION_WORD) : lower;
}

/** The word tokens of a string. */
export function stringTokens(text: string): string[] {
  return (withoutOperationIds(lowerAscii(text)).match(WORDS) ?? []).map((word) => "word:" + word);
}

/** The marker token of a map key. */
export function keyToken(key: string): string {
  return "key:" + withoutOperationIds(lowerAscii(key));
}

/** The marker token of a list of `length` items. */
export function listToken(length: number): string {
  return "list:" + length;
}

/** The token of a value that is neither a string, a list nor a map. */
export function scalarToken(value: null | boolean | number): string {
  return value === null ? "null" : typeof value === "number" ? "number:" + (value + 0) : "boolean:" + value;
}

/** All tokens of a value: the definition in one function, which the encoder computes piece by piece. */
export function valueTokens(value: Json): string[] {
  if (typeof value === "string") return stringTokens(value);
  if (value === null || typeof value !== "object") return [scalarToken(value)];
  if (Array.isArray(value)) return [listToken(value.length), ...(value as Json[]).flatMap(valueTokens)];
  return Object.entries(value as Record<string, Json>).flatMap((
    [key, inner],
  ) => [keyToken(key), ...valueTokens(inner)]);
}

/** What stands in a goal where an identity stood. */
export const IDENTITY_WORD = "identity";

/**
 * The goal without the names of its parties: every identity, longest first and in any case, becomes one placeholder.
 *
 * @param identities entity names and tokens; empty ones are ignored
 */
export function withoutIdentities(goal: string, identities: readonly string[]): string {
  const lower = identities.map(lowerAscii).filter((identity) => identity !== "");
  if (lower.length === 0) return goal;
  lower.sort((a, b) => b.length - a.length || (a < b ? -1 : a > b ? 1 : 0));
  const pattern = lower.map((identity) => identity.replace(PATTERN_CHARACTERS, "\\$&")).join("|");
  return lowerAscii(goal).replace(new RegExp(pattern, "g"), ` ${IDENTITY_WORD} `);
}
