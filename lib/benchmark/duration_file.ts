/** The daily files of the public trace that service times are derived from. */
import { TracewrightError } from "../core/error.ts";
import type { BenchmarkCode } from "./_error.ts";
import type { WeightedDurations } from "./service_time_profile.ts";

/** Days that the trace has. */
export const TRACE_DAYS = 14;

const FILE_NAME = /^function_durations_percentiles\.anon\.d(0[1-9]|1[0-4])\.csv$/;
/** What Python, in which the profile was first derived, reads as a finite number too. */
const NUMBER = /^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/;
/** Longest line that is read, in characters. */
const MAX_LINE = 1 << 20;

/** The day, 1 to 14, that a file of durations is of, by its name without folders; undefined for any other file. */
export function dayOfFile(name: string): number | undefined {
  const digits = FILE_NAME.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * Checks that each day is there once.
 *
 * @throws TracewrightError "wrong_days"
 */
export function checkDays(days: readonly number[]): void {
  const expected = Array.from({ length: TRACE_DAYS }, (_, i) => i + 1);
  const actual = [...days].sort((a, b) => a - b);
  if (actual.join() === expected.join()) return;
  throw new TracewrightError<"benchmark", BenchmarkCode>("wrong_days", {
    message: `the trace has ${TRACE_DAYS} daily files of durations, each once`,
    expected: "function_durations_percentiles.anon.d01.csv to d14.csv",
    actual: `${actual.length} files, of days ${actual.join(", ") || "none"}`,
  });
}

function numberOf(text: string | undefined): number {
  return text !== undefined && NUMBER.test(text) ? Number(text) : NaN;
}

/**
 * Reads one daily file, piece by piece: of each row its average duration in milliseconds and its number of invocations. Rows
 * that do not count are left out and counted. The files hold no quoted fields.
 */
export class DurationFile {
  readonly #durations: WeightedDurations;
  readonly #file: string;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #rest = "";
  #line = 0;
  #leftOut = 0;
  #columns: { readonly average: number; readonly count: number; readonly width: number } | undefined;

  /** @param file its name, for messages */
  constructor({ durations, file }: { readonly durations: WeightedDurations; readonly file: string }) {
    this.#durations = durations;
    this.#file = file;
  }

  /** Rows that did not count. */
  get rowsLeftOut(): number {
    return this.#leftOut;
  }

  /**
   * Takes the next bytes.
   *
   * @throws TracewrightError "bad_duration_file" (no UTF-8, a line that does not end, or no columns `Average` and `Count`)
   */
  write(bytes: Uint8Array): void {
    this.#take(this.#decode(bytes));
  }

  /** Takes the last line, where it has no newline. @throws as {@link write} does */
  end(): void {
    this.#take(this.#decode());
    if (this.#rest !== "") this.#row(this.#rest);
    this.#rest = "";
    if (this.#columns === undefined) this.#refuse("a line of column names", "an empty file");
  }

  #decode(bytes?: Uint8Array): string {
    try {
      return bytes === undefined ? this.#decoder.decode() : this.#decoder.decode(bytes, { stream: true });
    } catch (cause) {
      return this.#refuse("UTF-8", "other bytes", cause);
    }
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    if (this.#rest.length > MAX_LINE) {
      this.#refuse(`lines of at most ${MAX_LINE} characters`, this.#rest.length);
    }
    for (const line of lines) this.#row(line);
  }

  #row(text: string): void {
    this.#line++;
    const fields = text.replace(/\r$/, "").split(",");
    if (this.#columns === undefined) return this.#header(fields);
    const { average, count, width } = this.#columns;
    const duration = fields.length === width ? numberOf(fields[average]) : NaN;
    const weight = numberOf(fields[count]);
    if (Number.isFinite(duration) && duration >= 0 && Number.isSafeInteger(weight) && weight > 0) {
      this.#durations.add({ duration, weight });
    } else this.#leftOut++;
  }

  #header(fields: readonly string[]): void {
    const position = (name: string): number => {
      const at = fields.indexOf(name);
      if (at < 0 || fields.indexOf(name, at + 1) >= 0) {
        this.#refuse(`one column ${name}`, fields.slice(0, 8).join(","));
      }
      return at;
    };
    this.#columns = { average: position("Average"), count: position("Count"), width: fields.length };
  }

  #refuse(expected: string, actual: unknown, cause?: unknown): never {
    throw new TracewrightError<"benchmark", BenchmarkCode>("bad_duration_file", {
      file: this.#file,
      line: Math.max(1, this.#line),
      expected,
      actual,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}
