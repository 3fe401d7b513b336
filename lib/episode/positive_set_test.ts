import assert from "node:assert/strict";
import { WorkflowEnvironment } from "../world/environment.ts";
import { sameDecision } from "./demonstrations.ts";
import { oraclePositive } from "./positive_set.ts";
import { exampleTasks } from "./_example_episodes.ts";

/** A call id begins with what its candidate was made as. */
const kindOf = (callId: string) => callId.replace(/-\d+:.*$/, "");

Deno.test("oraclePositive() holds exactly the ready candidates, all along both plans", () => {
  for (const task of exampleTasks(10)) {
    for (const plan of task.oracle_plans) {
      const environment = new WorkflowEnvironment(task);
      for (const call of plan) {
        const candidates = environment.candidates();
        const positive = oraclePositive(task, environment, candidates);
        assert.deepEqual(positive, candidates.map(({ call_id }) => kindOf(call_id) === "ready"));
        assert.ok(positive[candidates.findIndex((candidate) => sameDecision(candidate, call))]);
        environment.step(call);
      }
      assert.ok(!oraclePositive(task, environment, environment.candidates()).includes(true));
    }
  }
});

Deno.test("oraclePositive() brings every case to its end in the optimal steps, whichever member is taken", () => {
  for (const task of exampleTasks(10)) {
    for (const last of [false, true]) {
      const environment = new WorkflowEnvironment(task);
      while (!environment.done) {
        const candidates = environment.candidates();
        const positive = oraclePositive(task, environment, candidates);
        environment.step(candidates[last ? positive.lastIndexOf(true) : positive.indexOf(true)]!);
      }
      assert.deepEqual([environment.evaluate().success, environment.steps], [true, task.optimal_steps]);
    }
  }
});

Deno.test("oraclePositive() leaves out a finished operation, though its replay is valid", () => {
  const [task] = exampleTasks(1);
  const environment = new WorkflowEnvironment(task!);
  environment.step(task!.oracle_plans[0]![0]!);
  const candidates = environment.candidates();
  const replay = candidates.findIndex(({ call_id }) => kindOf(call_id) === "replay");
  assert.ok(environment.dryRun(candidates[replay]!).valid);
  assert.equal(oraclePositive(task!, environment, candidates)[replay], false);
});
