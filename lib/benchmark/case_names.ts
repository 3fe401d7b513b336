import { TracewrightError } from "../core/error.ts";
import type { BenchmarkCode } from "./_error.ts";

/** Which case a task is, and what kind of one. */
export interface CaseName {
  readonly case_id: string;
  readonly family: string;
}

/**
 * Only the names in a task file, for who counts cases and plays none: the rest of a task is neither checked nor kept, which
 * `taskStream` does at many times the cost.
 *
 * @param lines of a task file, without their newlines
 * @returns names in file order, ascending by case id; a family is one string, however many tasks it has
 * @throws TracewrightError naming the line, counted from 1: "bad_line" (not JSON, or no names in it) or "not_sorted"
 */
export function* caseNames(lines: Iterable<string>): Generator<CaseName> {
  const families = new Map<string, string>();
  let [line, previous] = [0, ""];
  for (const text of lines) {
    const { case_id, family } = namesIn(text, ++line);
    if (case_id <= previous) {
      throw new TracewrightError<"benchmark", BenchmarkCode>("not_sorted", {
        line,
        expected: `a case id after ${previous}`,
        actual: case_id,
      });
    }
    previous = case_id;
    const known = families.get(family);
    if (known === undefined) families.set(family, family);
    yield { case_id, family: known ?? family };
  }
}

function namesIn(text: string, line: number): CaseName {
  const refuse = (details: { readonly [name: string]: unknown }): never => {
    throw new TracewrightError<"benchmark", BenchmarkCode>("bad_line", { line, ...details });
  };
  let task: { readonly case_id?: unknown; readonly family?: unknown } | null;
  try {
    task = JSON.parse(text);
  } catch (cause) {
    return refuse({ message: cause instanceof Error ? cause.message : String(cause), cause });
  }
  const { case_id, family } = task ?? {};
  if (typeof case_id !== "string") return refuse({ field: "case_id", expected: "a name", actual: case_id });
  if (typeof family !== "string") return refuse({ field: "family", expected: "a name", actual: family });
  return { case_id, family };
}
