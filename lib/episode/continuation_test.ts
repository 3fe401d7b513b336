import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { policyInputFromDecision } from "../world/policy_input.ts";
import { ENCODER, exampleTasks } from "./_example_episodes.ts";
import { CONTINUATION_POLICY, continuationRows } from "./continuation.ts";
import { oraclePositive } from "./positive_set.ts";
import { PREFIX_NAMES, prefixLengths, type ProgressRow } from "./progress_row.ts";

const SEED = 17;
const TASKS = exampleTasks(10, "train").slice(0, 3);
const rowsOf = (tasks: readonly WorkflowTask[], seed = SEED) => [...continuationRows(tasks, ENCODER, seed)];
const ROWS = rowsOf(TASKS);

/** The state of an environment as the actor reads it. */
function encoded(task: WorkflowTask, environment: WorkflowEnvironment): Int32Array {
  const candidates = environment.candidates();
  const { observation } = policyInputFromDecision({
    observation: environment.observe(),
    candidates,
    mask: candidates.map(() => true),
    schemas: task.tool_schemas,
  });
  return ENCODER.encodeState(observation);
}

Deno.test("continuationRows() gives two rows a continuation: its prefix state and its terminal state", () => {
  assert.equal(ROWS.length, TASKS.length * 4 * 8 * 2);
  let at = 0;
  for (const task of TASKS) {
    for (const prefix of PREFIX_NAMES) {
      for (let trial = 0; trial < 8; trial++) {
        for (const terminal of [false, true]) {
          const row = ROWS[at++]!;
          assert.deepEqual(
            [row.case_id, row.family, row.prefix, row.trial, row.terminal],
            [task.case_id, task.family, prefix, trial, terminal],
          );
          assert.equal(row.state[2], terminal ? 1024 : 0); // state slot 2 is `done`
        }
        assert.equal(ROWS[at - 1]!.label, ROWS[at - 2]!.label);
      }
    }
  }
});

Deno.test("continuationRows() encodes the prefix states of plan 0, aliased as for the actor", () => {
  for (const task of TASKS) {
    for (const [p, length] of prefixLengths(task.optimal_steps).entries()) {
      const environment = new WorkflowEnvironment(task);
      for (const call of task.oracle_plans[0]!.slice(0, length)) environment.step(call);
      const own = ROWS.filter((row) =>
        row.case_id === task.case_id && row.prefix === PREFIX_NAMES[p] && !row.terminal
      );
      assert.equal(own.length, 8);
      const expected = encoded(task, environment);
      for (const { state } of own) assert.deepEqual(state, expected);
    }
  }
});

/** A continuation as the protocol words it, in an environment of its own, with nothing remembered. */
function plainly(task: WorkflowTask, prefix: number, stream: RandomStream) {
  const environment = new WorkflowEnvironment(task);
  for (const call of task.oracle_plans[0]!.slice(0, prefix)) environment.step(call);
  let strayed = false;
  let errors = 0;
  while (!environment.done) {
    const candidates = environment.candidates();
    const positive = oraclePositive(task, environment, candidates);
    const of = (holds: (i: number) => boolean) => candidates.flatMap((_, i) => holds(i) ? [i] : []);
    strayed ||= stream.uniform() >= 0.75;
    const pool = strayed
      ? of((i) => !positive[i] && environment.dryRun(candidates[i]!).valid)
      : of((i) => positive[i]!);
    assert.ok(pool.length > 0); // there is always a query to waste a step on, and always a way on
    const call = candidates[stream.pick(pool)]!;
    if (strayed) errors++;
    assert.ok(environment.step(call).accepted);
  }
  return { label: environment.evaluate().success, state: encoded(task, environment), errors };
}

Deno.test("continuationRows() labels by one probability for all prefixes, and an error is forever", () => {
  assert.equal(CONTINUATION_POLICY.follow_probability, 0.75);
  const labels = new Set<boolean>();
  for (const task of TASKS) {
    for (const [p, length] of prefixLengths(task.optimal_steps).entries()) {
      const prefix = PREFIX_NAMES[p]!;
      for (let trial = 0; trial < 8; trial++) {
        const stream = new RandomStream(SEED, "tracewright.continuation.v2", task.case_id, prefix, trial);
        const { label, state, errors } = plainly(task, length, stream);
        assert.equal(label, errors === 0, "whoever strays once runs into the step limit");
        const terminal = ROWS.find((row) =>
          row.case_id === task.case_id && row.prefix === prefix && row.trial === trial && row.terminal
        );
        assert.equal(terminal!.label, label);
        assert.deepEqual(terminal!.state, state);
        labels.add(label);
      }
    }
  }
  assert.equal(labels.size, 2);
});

Deno.test("continuationRows() repeats, differs for another seed, and no task's rows depend on the others", () => {
  assert.deepEqual(rowsOf(TASKS), ROWS);
  const alone = TASKS.toReversed().map((task) => rowsOf([task])).reverse().flat();
  assert.deepEqual(alone, ROWS);
  const labels = (rows: readonly ProgressRow[]) => rows.map(({ label }) => label);
  assert.notDeepEqual(labels(rowsOf(TASKS, 29)), labels(ROWS));
});

Deno.test("continuationRows() refuses a plan that does not lead to the prefix states", () => {
  const [task] = TASKS;
  const plan = task!.oracle_plans[0]!;
  const plans = [[], [plan.slice(0, 3)], [[plan[0]!, plan[0]!, ...plan.slice(2)].with(1, plan.at(-1)!)]];
  for (const oracle_plans of plans) {
    assert.throws(() => rowsOf([{ ...task!, oracle_plans }]), (error) => hasCode(error, "bad_prefixes"));
  }
});
