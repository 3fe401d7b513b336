import assert from "node:assert/strict";
import { RandomStream } from "../core/random_stream.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { rolloutSchedule } from "./schedule.ts";

/** Two cases of each of ten families, three of the first. */
const TASKS = Array.from({ length: 21 }, (_, i) => ({
  case_id: `case-${String(i).padStart(2, "0")}`,
  family: `family-${i % 10}`,
})) as WorkflowTask[];

const ids = (tasks: readonly WorkflowTask[]) => tasks.map(({ case_id }) => case_id);
const schedule = (episodes: number, seed = 17, tasks: readonly WorkflowTask[] = TASKS) =>
  rolloutSchedule(tasks, episodes, new RandomStream(seed, "schedule", 0));

Deno.test("rolloutSchedule() covers all ten families in every round of ten", () => {
  const picked = schedule(128);
  assert.equal(picked.length, 128);
  const orders = new Set<string>();
  for (let round = 0; round + 10 <= picked.length; round += 10) {
    const families = picked.slice(round, round + 10).map(({ family }) => family);
    assert.equal(new Set(families).size, 10);
    orders.add(families.join());
  }
  assert.ok(orders.size > 1); // a fresh order every round
});

Deno.test("rolloutSchedule() takes a family's cases in turn and starts over when they run out", () => {
  const first = schedule(90).filter(({ family }) => family === "family-0");
  assert.deepEqual(ids(first), [
    ...ids(first.slice(0, 3)),
    ...ids(first.slice(0, 3)),
    ...ids(first.slice(0, 3)),
  ]);
  assert.equal(new Set(first.slice(0, 3)).size, 3);
  const second = schedule(40).filter(({ family }) => family === "family-1");
  assert.equal(new Set(second).size, 2);
  assert.deepEqual(second.slice(2), second.slice(0, 2));
});

Deno.test("rolloutSchedule() repeats for the same stream, differs for another, and ignores input order", () => {
  assert.deepEqual(ids(schedule(50)), ids(schedule(50)));
  assert.notDeepEqual(ids(schedule(50)), ids(schedule(50, 29)));
  assert.deepEqual(ids(schedule(50, 17, TASKS.toReversed())), ids(schedule(50)));
  assert.deepEqual(ids(schedule(25)), ids(schedule(50)).slice(0, 25));
});

Deno.test("rolloutSchedule() of nothing is nothing", () => {
  assert.deepEqual(schedule(0), []);
  assert.deepEqual(schedule(5, 17, []), []);
});
