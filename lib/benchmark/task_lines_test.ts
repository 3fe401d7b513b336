import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { generateSplit } from "./generate.ts";
import { MAX_LINE_BYTES, readTaskLines, readTasks, writeTaskLines } from "./task_lines.ts";

const TASKS = generateSplit({ split: "test", size: 3, baseSeed: 20260808 });
const BYTES = writeTaskLines(TASKS);
const LINES = new TextDecoder().decode(BYTES).split("\n").slice(0, 3);

function refuses(text: string | Uint8Array, code: string, line: number): void {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  assert.throws(
    () => readTaskLines(bytes),
    (error) => hasCode(error, code) && error.details.line === line,
    code,
  );
}

Deno.test("writeTaskLines() writes one canonical line a task, sorted, and readTaskLines() reads the same tasks", () => {
  assert.deepEqual(writeTaskLines([...TASKS].reverse()), BYTES);
  assert.equal(BYTES.at(-1), 0x0a);
  assert.deepEqual(readTaskLines(BYTES), TASKS);
  assert.deepEqual(writeTaskLines(readTaskLines(BYTES)), BYTES);
  assert.deepEqual(readTaskLines(new Uint8Array()), []);
});

Deno.test("readTaskLines() names the line that is not a task in canonical form", () => {
  refuses(`${LINES[0]}\n{"a":1}\n`, "bad_line", 2);
  refuses(`${LINES[0]}\nnot json\n`, "bad_line", 2);
  refuses(`${LINES[0]} \n`, "bad_line", 1);
  refuses(`${LINES[0]}\r\n`, "bad_line", 1);
  refuses(`${LINES[0]!.replace(/"max_steps":(\d+)/, '"max_steps":$1.0')}\n`, "bad_line", 1);
  refuses(`${LINES[0]!.replace('{"case_id"', '{"case_id":"x","case_id"')}\n`, "bad_line", 1);
  refuses(`\ufeff${LINES[0]}\n`, "bad_line", 1);
});

Deno.test("readTaskLines() refuses blank, cut, unsorted, repeated, overlong and non-UTF-8 lines", () => {
  refuses(`${LINES[0]}\n\n${LINES[1]}\n`, "blank_line", 2);
  refuses(`${LINES[0]}\n${LINES[1]}\n\n`, "blank_line", 3);
  refuses(`${LINES[0]}\n${LINES[1]}`, "missing_newline", 2);
  refuses(`${LINES[1]}\n${LINES[0]}\n`, "not_sorted", 2);
  refuses(`${LINES[0]}\n${LINES[0]}\n`, "not_sorted", 2);
  refuses(`${"x".repeat(MAX_LINE_BYTES + 1)}\n`, "line_too_long", 1);
  refuses(new Uint8Array([0xff, 0x0a]), "not_utf8", 1);
});

Deno.test("readTasks() reads line by line what readTaskLines() reads at once, and names the bad line", () => {
  const tasks = generateSplit({ split: "test", size: 5, baseSeed: 7 });
  const lines = new TextDecoder().decode(writeTaskLines(tasks)).trimEnd().split("\n");
  assert.deepEqual([...readTasks(lines)], tasks);
  const refused = (bad: readonly string[], code: string, line: number) =>
    assert.throws(
      () => [...readTasks(bad)],
      (error) => hasCode(error, code) && error.details["line"] === line,
    );
  refused([lines[0]!, ""], "blank_line", 2);
  refused([lines[1]!, lines[0]!], "not_sorted", 2);
  refused([lines[0]!, lines[0]!], "not_sorted", 2);
  refused([lines[0]! + " "], "bad_line", 1);
});

Deno.test("readTasks() reads no further than it is asked to", () => {
  const [first] = generateSplit({ split: "test", size: 1, baseSeed: 7 });
  const lines = function* () {
    yield new TextDecoder().decode(writeTaskLines([first!])).trimEnd();
    throw new Error("read ahead");
  };
  assert.equal(readTasks(lines()).next().value?.case_id, first!.case_id);
});
