import assert from "node:assert/strict";
import { generateSplit } from "../benchmark/generate.ts";
import { hasCode } from "../core/error.ts";
import { runEpisodes } from "../episode/run_episodes.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { oracleActor } from "./oracle_actor.ts";

const TASKS = generateSplit({ split: "test", size: 12, baseSeed: 20260808 });
const SETTINGS = {
  encoder: new FeatureEncoder({ stateWidth: 16, actionWidth: 16 }),
  reward: {
    task_success: 1,
    task_failure: -1,
    invalid_action: -0.2,
    forbidden_effect: -1,
    step: -0.01,
    progress_beta: 0,
    gamma: 0.99,
  },
  selection: "public",
} as const;

const play = (tasks: readonly WorkflowTask[], plansOf: readonly WorkflowTask[]) =>
  Array.fromAsync(runEpisodes(tasks, oracleActor(plansOf), { ...SETTINGS, lanes: 5 }));

Deno.test("oracleActor() plays plan 0 call by call, in as many steps as are optimal", async () => {
  for (const { task, steps, evaluation } of await play(TASKS, TASKS)) {
    assert.equal(evaluation.success, true);
    const executed = steps.map(({ candidates, choice }) => candidates[choice.index]!);
    assert.deepEqual(
      executed.map((call) => [call.tool_name, call.arguments]),
      task.oracle_plans[0]!.map((call) => [call.tool_name, call.arguments]),
    );
  }
});

Deno.test("oracleActor() refuses to play without the plan of the case, or past its end", async () => {
  await assert.rejects(play(TASKS, TASKS.slice(1)), (error) => hasCode(error, "plan_not_offered"));
  const short = TASKS.map((task) => ({ ...task, oracle_plans: [task.oracle_plans[0]!.slice(0, 3)] }));
  await assert.rejects(play(TASKS, short), (error) => hasCode(error, "plan_not_offered"));
});
