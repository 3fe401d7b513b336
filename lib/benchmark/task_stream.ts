import { parseCanonical } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { parseTask } from "../world/parse_task.ts";
import type { BenchmarkCode } from "./_error.ts";

/**
 * The tasks of a task file one at a time, for sets too large to hold. What the file must look like is told in
 * `task_lines.ts`; what is not seen here is whether its last line ends in a newline.
 *
 * @param lines of a task file, without their newlines
 * @returns frozen tasks in file order, ascending by case id
 * @throws TracewrightError naming the line, counted from 1: "bad_line" (not canonical JSON, or not a task) or "not_sorted"
 */
export function* taskStream(lines: Iterable<string>): Generator<WorkflowTask> {
  let [line, previous] = [0, ""];
  for (const text of lines) {
    line++;
    let task: WorkflowTask;
    try {
      task = parseTask(parseCanonical(text));
    } catch (cause) {
      throw new TracewrightError<"benchmark", BenchmarkCode>("bad_line", {
        line,
        message: cause instanceof Error ? cause.message : String(cause),
        cause,
      });
    }
    if (task.case_id <= previous) {
      throw new TracewrightError<"benchmark", BenchmarkCode>("not_sorted", {
        line,
        expected: `a case id after ${previous}`,
        actual: task.case_id,
      });
    }
    previous = task.case_id;
    yield task;
  }
}
