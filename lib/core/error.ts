/** What an error carries besides its code. `expected` and `actual` are the two values a reader needs to compare. */
export interface ErrorDetails {
  /** One sentence of plain words; without it the code speaks for itself. */
  readonly message?: string;
  /** What the reader should type or change next. */
  readonly hint?: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
  readonly cause?: unknown;
  /** Where: node, case, step, field, file, line, column … */
  readonly [place: string]: unknown;
}

function show(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 160 ? value.slice(0, 157) + "..." : value);
  }
  if (value === undefined) return "nothing";
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean") {
    return String(value);
  }
  try {
    const text = JSON.stringify(value);
    return text.length > 200 ? text.slice(0, 197) + "..." : text;
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function describe(code: string, details: ErrorDetails): string {
  const { message, hint, expected, actual, cause: _cause, ...place } = details;
  const parts = [message ? `${code}: ${message}` : code];
  const where = Object.entries(place).map(([name, value]) => `${name} ${show(value)}`).join(", ");
  if (where) parts.push(`at ${where}`);
  if ("expected" in details || "actual" in details) {
    parts.push(`expected ${show(expected)}, got ${show(actual)}`);
  }
  if (hint) parts.push(`hint: ${hint}`);
  return parts.join("; ");
}

/**
 * The one error class of the project. `Room` and `Code` exist for the type checker: a room throws only codes of its
 * own closed union, and a caller may switch over them exhaustively. Codes are snake_case and never reused.
 *
 * @example
 * ```ts
 * import { TracewrightError } from "./error.ts";
 * const error = new TracewrightError<"learn", "non_finite">("non_finite", { expected: "a finite loss", actual: NaN });
 * if (error.code !== "non_finite") throw new Error("unreachable");
 * ```
 */
export class TracewrightError<Room extends string = string, Code extends string = string> extends Error {
  override readonly name = "TracewrightError";
  /** Only a type: ties the error to the room whose code union it uses. */
  declare readonly room?: Room;
  readonly code: Code;
  readonly details: ErrorDetails;

  constructor(code: Code, details: ErrorDetails = {}) {
    super(describe(code, details), "cause" in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.details = details;
  }
}

/** True where `error` is a {@link TracewrightError} carrying exactly this code. */
export function hasCode<Code extends string>(
  error: unknown,
  code: Code,
): error is TracewrightError<string, Code> {
  return error instanceof TracewrightError && error.code === code;
}
