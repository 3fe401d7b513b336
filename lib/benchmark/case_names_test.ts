import assert from "node:assert/strict";
import { TracewrightError } from "../core/error.ts";
import { caseNames } from "./case_names.ts";
import { generateSplit } from "./generate.ts";
import { writeTaskLines } from "./task_lines.ts";

const TASKS = generateSplit({ split: "dev", size: 4, baseSeed: 3 });
const LINES = new TextDecoder().decode(writeTaskLines(TASKS)).split("\n").slice(0, -1);

function problem(lines: readonly string[]): unknown[] {
  try {
    return [...caseNames(lines)];
  } catch (error) {
    return error instanceof TracewrightError ? [error.code, error.details.line] : [error];
  }
}

Deno.test("caseNames() gives the ids and families of a task file, one line at a time", () => {
  assert.deepEqual([...caseNames(LINES)], TASKS.map(({ case_id, family }) => ({ case_id, family })));
  let read = 0;
  const names = caseNames((function* () {
    for (const line of LINES) {
      read++;
      yield line;
    }
  })());
  names.next();
  assert.equal(read, 1);
});

Deno.test("caseNames() names the line that tells no case or stands in the wrong place", () => {
  const renamed = (key: string) => LINES[1]!.replace(`"${key}":`, `"x_${key}":`);
  assert.deepEqual(problem([LINES[0]!, renamed("case_id")]), ["bad_line", 2]);
  assert.deepEqual(problem([LINES[0]!, renamed("family")]), ["bad_line", 2]);
  for (const line of ["", "null", "{"]) assert.deepEqual(problem([LINES[0]!, line]), ["bad_line", 2]);
  assert.deepEqual(problem([LINES[1]!, LINES[0]!]), ["not_sorted", 2]);
  assert.deepEqual(problem([LINES[0]!, LINES[0]!]), ["not_sorted", 2]);
});
