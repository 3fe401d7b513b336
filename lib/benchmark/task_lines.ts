/**
 * Task files: canonical JSON Lines, sorted by case id, every line ending in a newline. Only this form is read.
 * Source: protocol/environment.md section 1, rule 5.
 */
import { canonicalJson, parseCanonical } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { parseTask } from "../world/parse_task.ts";
import type { BenchmarkCode } from "./_error.ts";

/** Longest line that is read, in bytes. */
export const MAX_LINE_BYTES = 1 << 20;

const NEWLINE = 0x0a;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function lineError(
  code: BenchmarkCode,
  line: number,
  details: {
    readonly message?: string;
    readonly expected?: unknown;
    readonly actual?: unknown;
    readonly cause?: unknown;
  } = {},
): never {
  throw new TracewrightError<"benchmark", BenchmarkCode>(code, { line, ...details });
}

/** Tasks in the order of a task file. */
export function sortedTasks(tasks: readonly WorkflowTask[]): WorkflowTask[] {
  return [...tasks].sort((a, b) => a.case_id < b.case_id ? -1 : a.case_id > b.case_id ? 1 : 0);
}

/** One task as a line of a task file, newline included. */
export function taskLine(task: WorkflowTask): Uint8Array<ArrayBuffer> {
  return encoder.encode(canonicalJson(task) + "\n");
}

/** Writes tasks as the bytes of a task file, sorted by case id. */
export function writeTaskLines(tasks: readonly WorkflowTask[]): Uint8Array {
  return encoder.encode(sortedTasks(tasks).map((task) => canonicalJson(task) + "\n").join(""));
}

/**
 * Reads tasks from the lines of a task file, one at a time.
 *
 * @param lines without their newlines
 * @returns frozen tasks in file order
 * @throws TracewrightError naming the line, counted from 1: "bad_line", "blank_line", "not_sorted"
 */
export function* readTasks(lines: Iterable<string>): Generator<WorkflowTask> {
  let number = 0;
  let previous = "";
  for (const line of lines) {
    number++;
    if (line === "") lineError("blank_line", number);
    const task = parseLine(line, number);
    requireOrder(task, previous, number);
    previous = task.case_id;
    yield task;
  }
}

function requireOrder(task: WorkflowTask, previous: string, line: number): void {
  if (task.case_id > previous) return;
  lineError("not_sorted", line, { expected: `a case id after ${previous}`, actual: task.case_id });
}

/**
 * Reads a task file.
 *
 * @returns frozen tasks in file order
 * @throws TracewrightError naming the line, counted from 1: "bad_line" (not canonical JSON, or not a task), "blank_line",
 * "line_too_long", "missing_newline" (the last line), "not_sorted" (also a repeated case id), "not_utf8"
 */
export function readTaskLines(bytes: Uint8Array): WorkflowTask[] {
  const tasks: WorkflowTask[] = [];
  let previous = "";
  for (let from = 0, line = 1; from < bytes.length; line++) {
    const end = bytes.indexOf(NEWLINE, from);
    if (end < 0) {
      lineError("missing_newline", line, { message: "the file is cut short or was edited" });
    }
    if (end === from) lineError("blank_line", line);
    if (end - from > MAX_LINE_BYTES) {
      lineError("line_too_long", line, { expected: `at most ${MAX_LINE_BYTES} bytes`, actual: end - from });
    }
    const task = readLine(bytes.subarray(from, end), line);
    requireOrder(task, previous, line);
    previous = task.case_id;
    tasks.push(task);
    from = end + 1;
  }
  return tasks;
}

function readLine(bytes: Uint8Array, line: number): WorkflowTask {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    return lineError("not_utf8", line, { cause });
  }
  return parseLine(text, line);
}

function parseLine(text: string, line: number): WorkflowTask {
  try {
    return parseTask(parseCanonical(text));
  } catch (cause) {
    return lineError("bad_line", line, {
      message: cause instanceof Error ? cause.message : String(cause),
      cause,
    });
  }
}
