import assert from "node:assert/strict";
import { rewardComponents, totalReward } from "./reward.ts";

const SETTINGS = {
  task_success: 1,
  task_failure: -1,
  step: -0.01,
  invalid_action: -0.2,
  forbidden_effect: -1,
  progress_beta: 0.35,
  gamma: 0.99,
};
const STEP = { success: false, done: false, accepted: true, forbiddenActive: false, progress: 0 };

Deno.test("rewardComponents() pays success once, failure at the end, and nothing between", () => {
  assert.equal(rewardComponents({ ...STEP, success: true, done: true }, SETTINGS).task, 1);
  assert.equal(rewardComponents({ ...STEP, done: true }, SETTINGS).task, -1);
  assert.equal(rewardComponents(STEP, SETTINGS).task, 0);
});

Deno.test("rewardComponents() charges rejected calls and recorded forbidden effects", () => {
  const parts = rewardComponents({ ...STEP, accepted: false, forbiddenActive: true }, SETTINGS);
  assert.deepEqual(parts, { task: 0, progress: 0, step: -0.01, invalid: -0.2, forbidden: -1 });
  assert.equal(totalReward(parts), 0 + 0 + -0.01 + -0.2 + -1);
});

Deno.test("rewardComponents() writes a vanishing progress part as +0", () => {
  assert.ok(Object.is(rewardComponents({ ...STEP, progress: -0 }, SETTINGS).progress, 0));
});
