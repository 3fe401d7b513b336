import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { ENCODER, exampleTasks } from "./_example_episodes.ts";
import { continuationRows } from "./continuation.ts";
import { noisyRows, validProbability } from "./noisy_continuation.ts";
import { PREFIX_NAMES, prefixLengths } from "./progress_row.ts";

const TASKS = exampleTasks(20, "train").slice(0, 8);
const ROWS = [...noisyRows(TASKS, ENCODER, 17)];

Deno.test("validProbability() grows from 0.5 with the prefix", () => {
  assert.equal(validProbability({ prefix: 0, optimalSteps: 10 }), 0.5);
  assert.equal(validProbability({ prefix: 5, optimalSteps: 10 }), 0.725);
  assert.equal(validProbability({ prefix: 10, optimalSteps: 10 }), 0.95);
});

Deno.test("noisyRows() gives one row a continuation, of the prefix state, two a prefix", () => {
  assert.deepEqual(
    ROWS.map(({ case_id, prefix, trial, terminal }) => [case_id, prefix, trial, terminal]),
    TASKS.flatMap(({ case_id }) =>
      PREFIX_NAMES.flatMap((prefix) => [0, 1].map((trial) => [case_id, prefix, trial, false]))
    ),
  );
  const others = [...continuationRows(TASKS, ENCODER, 17)].filter((row) => !row.terminal && row.trial < 2);
  assert.deepEqual(
    ROWS.map(({ state }) => state),
    others.map(({ state }) => state),
    "the same prefix states",
  );
});

Deno.test("noisyRows() labels by what the protocol words, in an environment of its own", () => {
  let successes = 0;
  const labels = TASKS.flatMap((task) =>
    prefixLengths(task.optimal_steps).flatMap((prefix, p) =>
      [0, 1].map((trial) => {
        const environment = new WorkflowEnvironment(task);
        for (const call of task.oracle_plans[0]!.slice(0, prefix)) environment.step(call);
        const stream = new RandomStream(
          17,
          "tracewright.noisy_continuation.v1",
          task.case_id,
          PREFIX_NAMES[p]!,
          trial,
        );
        while (!environment.done) {
          const valid = stream.uniform() < 0.5 + 0.45 * (prefix / task.optimal_steps);
          const pool = environment.candidates().filter((call) => environment.dryRun(call).valid === valid);
          assert.equal(environment.step(stream.pick(pool)).accepted, valid);
        }
        if (environment.evaluate().success) successes++;
        return environment.evaluate().success;
      })
    )
  );
  assert.deepEqual(ROWS.map(({ label }) => label), labels);
  assert.ok(successes > 0 && successes < labels.length);
});

Deno.test("noisyRows() repeats, and no task's rows depend on the others", () => {
  const alone = TASKS.toReversed().map((task) => [...noisyRows([task], ENCODER, 17)]).reverse().flat();
  assert.deepEqual(alone, ROWS);
  assert.notDeepEqual([...noisyRows(TASKS, ENCODER, 29)], ROWS);
  const [task] = TASKS;
  assert.throws(
    () => [...noisyRows([{ ...task!, oracle_plans: [] }], ENCODER, 17)],
    (error) => hasCode(error, "bad_prefixes"),
  );
});
