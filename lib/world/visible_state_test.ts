import assert from "node:assert/strict";
import { exampleTask } from "./_example_task.ts";
import { visibleState } from "./visible_state.ts";

Deno.test("visibleState() leaves out the three internal fields and keeps effects", () => {
  const task = exampleTask();
  assert.deepEqual(visibleState(task.initial_state), task.visible_observation);
  const visible = visibleState({ ...task.initial_state, take_in_done: true });
  assert.equal(visible.take_in_done, true);
  for (const key of ["processed_call_ids", "idempotency_results", "audit_log"]) {
    assert.equal(Object.hasOwn(visible, key), false);
  }
  assert.equal(Object.isFrozen(visible), true);
});
