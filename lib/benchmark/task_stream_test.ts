import assert from "node:assert/strict";
import { TracewrightError } from "../core/error.ts";
import { generateSplit } from "./generate.ts";
import { writeTaskLines } from "./task_lines.ts";
import { taskStream } from "./task_stream.ts";

const TASKS = generateSplit({ split: "dev", size: 4, baseSeed: 3 });
const LINES = new TextDecoder().decode(writeTaskLines(TASKS)).split("\n").slice(0, -1);

function problem(lines: readonly string[]): unknown[] {
  try {
    return [...taskStream(lines)];
  } catch (error) {
    return error instanceof TracewrightError ? [error.code, error.details.line] : [error];
  }
}

Deno.test("taskStream() gives the tasks of a file, one line at a time", () => {
  assert.deepEqual([...taskStream(LINES)], TASKS);
  let read = 0;
  const stream = taskStream((function* () {
    for (const line of LINES) {
      read++;
      yield line;
    }
  })());
  stream.next();
  assert.equal(read, 1);
});

Deno.test("taskStream() names the line that is no task or stands in the wrong place", () => {
  assert.deepEqual(problem([LINES[0]!, LINES[1]!.replace('"split"', '"splat"')]), ["bad_line", 2]);
  assert.deepEqual(problem([LINES[0]!, ""]), ["bad_line", 2]);
  assert.deepEqual(problem([LINES[0]! + " "]), ["bad_line", 1]);
  assert.deepEqual(problem([LINES[1]!, LINES[0]!]), ["not_sorted", 2]);
  assert.deepEqual(problem([LINES[0]!, LINES[0]!]), ["not_sorted", 2]);
});
