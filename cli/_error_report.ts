import type { Json } from "../lib/core/canonical_json.ts";
import { TracewrightError } from "../lib/core/error.ts";

function show(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "object" && value !== null) return JSON.stringify(value) ?? String(value);
  return value === undefined ? "nothing" : Object.is(value, -0) ? "-0" : String(value);
}

/** Codes whose `actual` is a value that somebody wrote, not words about one. */
const WRITTEN_VALUES: ReadonlySet<string> = new Set(["wrong_type", "wrong_value", "out_of_range"]);

/** Whether a text shown bare would read as another thing: a number, `true`, `null`, a list, or nothing at all. */
function readsOtherwise(text: string): boolean {
  if (text.trim() !== text || text === "") return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A text quoted where a bare one could be taken for a value of another type; everything else as it is. */
function showValue(value: unknown): string {
  return typeof value === "string" && readsOtherwise(value) ? JSON.stringify(value) : show(value);
}

function seenText(value: unknown, code: string): string {
  return typeof value === "string" && WRITTEN_VALUES.has(code) ? JSON.stringify(value) : showValue(value);
}

/** Beside a value that somebody wrote stand words about what could be there. */
function expectedText(value: unknown, code: string): string {
  return WRITTEN_VALUES.has(code) ? show(value) : showValue(value);
}

/** A value for `--json`: what JSON cannot hold becomes a text. */
function plain(value: unknown): Json {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? value : show(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
  }
  return show(value);
}

interface Parts {
  readonly code: string;
  readonly what: string;
  readonly where: readonly (readonly [string, unknown])[];
  readonly details: Readonly<Record<string, unknown>>;
  readonly hint?: string | undefined;
}

const HINTS: readonly (readonly [abstract new (...args: never[]) => Error, string])[] = [
  [Deno.errors.NotCapable, "grant the permission that the message names, or run the task"],
  [Deno.errors.NotFound, "check the path"],
];

/** The error and those that came with it in its cause. */
function together(error: unknown): readonly unknown[] {
  const cause = error instanceof TracewrightError ? error.cause : undefined;
  return cause instanceof AggregateError ? [error, ...cause.errors] : [error];
}

function partsOf(error: unknown): Parts {
  if (error instanceof TracewrightError) {
    const { message, hint, expected: _expected, actual: _actual, cause: _cause, ...where } = error.details;
    return {
      code: error.code,
      what: message ?? error.code.replaceAll("_", " "),
      where: Object.entries(where),
      details: error.details,
      hint,
    };
  }
  const known = HINTS.find(([kind]) => error instanceof kind);
  if (error instanceof Error && known) {
    return { code: "refused", what: error.message, where: [], details: {}, hint: known[1] };
  }
  const what = error instanceof Error ? error.stack ?? error.message : String(error);
  const hint = "nobody foresaw this; please report it with the lines above";
  return { code: "unforeseen", what, where: [], details: {}, hint };
}

/** A place in a file reads `file:line:column`, so that editors can jump to it; the rest by name. */
function placeText(where: Parts["where"]): string {
  const place = new Map(where);
  const [file, line, column] = [place.get("file"), place.get("line"), place.get("column")];
  const parts = where.filter(([name]) => file === undefined || !["file", "line", "column"].includes(name))
    .map(([name, value]) => `${name} ${show(value)}`);
  if (file !== undefined) {
    parts.unshift([file, line, column].filter((part) => part !== undefined).map(show).join(":"));
  }
  return parts.join(", ");
}

/** An error for a person: what, where, the value seen, the value expected, what to do; one block for each problem. */
export function errorText(error: unknown): string {
  return together(error).map((one) => {
    const { code, what, where, details, hint } = partsOf(one);
    const place = placeText(where);
    return [
      `error: ${what} [${code}]`,
      place && `  where:    ${place}`,
      "actual" in details && `  seen:     ${seenText(details["actual"], code)}`,
      "expected" in details && `  expected: ${expectedText(details["expected"], code)}`,
      hint && `  hint:     ${hint}`,
    ].filter((line) => typeof line === "string" && line !== "").join("\n");
  }).join("\n");
}

/** An error for a program: `{error: {code, message, ...details}, further: [...]}`. */
export function errorJson(error: unknown): Json {
  const [first, ...further] = together(error).map((one) => {
    const { code, what, details, hint } = partsOf(one);
    const rest = Object.entries(details).filter(([name]) => name !== "cause" && name !== "message")
      .map(([name, value]) => [name, plain(value)] as const);
    return { ...Object.fromEntries(rest), code, message: what, ...(hint === undefined ? {} : { hint }) };
  });
  return { error: first ?? null, ...(further.length > 0 ? { further } : {}) };
}
