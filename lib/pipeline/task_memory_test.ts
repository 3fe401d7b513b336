import assert from "node:assert/strict";
import { generateSplit } from "../benchmark/generate.ts";
import { writeTaskLines } from "../benchmark/task_lines.ts";
import { hasCode } from "../core/error.ts";
import { memoryInput } from "../stage/run_stage.ts";
import { eachTask, tasksOf } from "./task_memory.ts";

const TASKS = generateSplit({ split: "dev", size: 12, baseSeed: 20260808 });
const BYTES = writeTaskLines(TASKS);

Deno.test("tasksOf() reads a file once, by its digest and not by its name", () => {
  const tasks = tasksOf(memoryInput(BYTES));
  assert.deepEqual(tasks, TASKS);
  assert.equal(tasksOf(memoryInput(BYTES)), tasks);
  const fewer = tasksOf(memoryInput(writeTaskLines(TASKS.slice(1))));
  assert.deepEqual(fewer, TASKS.slice(1));
  assert.equal(tasksOf(memoryInput(BYTES)), tasks);
});

Deno.test("tasksOf() lets go of what it read least lately when too much is held", () => {
  const file = (first: number) => ({
    ...memoryInput(writeTaskLines(TASKS.slice(first))),
    size: 30 * 2 ** 20,
  });
  const one = tasksOf(file(2));
  const two = tasksOf(file(3));
  assert.equal(tasksOf(file(2)), one); // used again, so the other one goes first
  tasksOf(file(4));
  assert.equal(tasksOf(file(2)), one);
  assert.notEqual(tasksOf(file(3)), two);
});

Deno.test("eachTask() gives a small file's tasks and a large one's, line by line, telling how far it is", () => {
  for (const size of [BYTES.length, 2 ** 40]) {
    const told: number[] = [];
    const blob = { ...memoryInput(BYTES), size };
    assert.deepEqual([...eachTask(blob, (fraction) => told.push(fraction))], TASKS);
    assert.ok(told.every((fraction, i) => fraction <= 1 && fraction >= (told[i - 1] ?? 0)));
    assert.ok(told.length >= TASKS.length - 1);
  }
});

Deno.test("tasksOf() and eachTask() refuse what is no task file, every time", () => {
  const bad = memoryInput("{}\n");
  for (let i = 0; i < 2; i++) {
    assert.throws(() => tasksOf(bad), (error) => hasCode(error, "bad_line"));
    assert.throws(
      () => [...eachTask({ ...bad, size: 2 ** 40 }, () => {})],
      (error) => hasCode(error, "bad_line"),
    );
  }
});
