import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { digestOf, digestOfJson, hexOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { policyInputFromDecision } from "../world/policy_input.ts";
import {
  auditLabels,
  CONTINUATION_POLICY,
  PREFIX_NAMES,
  prefixLengths,
  type ProgressRow,
  progressRows,
} from "./continuation.ts";
import { ENCODER, exampleTasks } from "./_example_episodes.ts";

const SEED = 17;
const TASKS = exampleTasks(10, "train").slice(0, 3);
const rowsOf = (tasks: readonly WorkflowTask[], seed = SEED) => [...progressRows(tasks, ENCODER, seed)];
const ROWS = rowsOf(TASKS);

Deno.test("prefixLengths() are 0, a third, two thirds and the last step but one", () => {
  assert.deepEqual(prefixLengths(6), [0, 2, 4, 5]);
  assert.deepEqual(prefixLengths(10), [0, 3, 6, 9]);
  assert.deepEqual(prefixLengths(15), [0, 5, 10, 14]);
  for (const steps of [1, 2, 3]) {
    assert.throws(() => prefixLengths(steps), (error) => hasCode(error, "bad_prefixes"));
  }
});

Deno.test("progressRows() gives two rows a continuation: its prefix state and its terminal state", () => {
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

Deno.test("progressRows() encodes the prefix states of plan 0, aliased as for the actor", () => {
  for (const task of TASKS) {
    for (const [p, length] of prefixLengths(task.optimal_steps).entries()) {
      const environment = new WorkflowEnvironment(task);
      for (const call of task.oracle_plans[0]!.slice(0, length)) environment.step(call);
      const candidates = environment.candidates();
      const { observation } = policyInputFromDecision({
        observation: environment.observe(),
        candidates,
        mask: candidates.map(() => true),
        schemas: task.tool_schemas,
      });
      const own = ROWS.filter((row) =>
        row.case_id === task.case_id && row.prefix === PREFIX_NAMES[p] && !row.terminal
      );
      assert.equal(own.length, 8);
      for (const { state } of own) assert.deepEqual(state, ENCODER.encodeState(observation));
    }
  }
});

/** Whether the policy follows the oracle at a step, from its definition alone. */
function follows(place: Record<string, string | number>): boolean {
  const hash = digestOf(canonicalJson([digestOfJson(CONTINUATION_POLICY), SEED, "follow", place, null]));
  return BigInt("0x" + hexOf(hash).slice(0, 16)) * 4n < 3n * 2n ** 64n;
}

Deno.test("progressRows() labels by one probability for all prefixes, and an error is forever", () => {
  assert.equal(CONTINUATION_POLICY.follow_probability, 0.75);
  const labels = new Set<boolean>();
  for (const task of TASKS) {
    for (const [p, prefix] of prefixLengths(task.optimal_steps).entries()) {
      const prefix_name = PREFIX_NAMES[p]!;
      for (let trial = 0; trial < 8; trial++) {
        // There is always a query to waste a step on, so whoever strays once runs into the step limit.
        const expected = Array.from({ length: task.optimal_steps - prefix }, (_, step) => step)
          .every((step) => follows({ case_id: task.case_id, prefix_name, prefix, trial, step }));
        const row = ROWS.find((row) =>
          row.case_id === task.case_id && row.prefix === prefix_name && row.trial === trial
        );
        assert.equal(row!.label, expected);
        labels.add(expected);
      }
    }
  }
  assert.equal(labels.size, 2);
});

Deno.test("progressRows() repeats, differs for another seed, and no task's rows depend on the others", () => {
  assert.deepEqual(rowsOf(TASKS), ROWS);
  const alone = TASKS.toReversed().map((task) => rowsOf([task])).reverse().flat();
  assert.deepEqual(alone, ROWS);
  const labels = (rows: readonly ProgressRow[]) => rows.map(({ label }) => label);
  assert.notDeepEqual(labels(rowsOf(TASKS, 29)), labels(ROWS));
});

Deno.test("progressRows() refuses a plan that does not lead to the prefix states", () => {
  const [task] = TASKS;
  const plan = task!.oracle_plans[0]!;
  const plans = [[], [plan.slice(0, 3)], [[plan[0]!, plan[0]!, ...plan.slice(2)].with(1, plan.at(-1)!)]];
  for (const oracle_plans of plans) {
    assert.throws(() => rowsOf([{ ...task!, oracle_plans }]), (error) => hasCode(error, "bad_prefixes"));
  }
});

/** Rows of `continuations` runs of a family, the first `successes` of them good. */
function outcomes(family: string, successes: number, continuations: number): ProgressRow[] {
  return Array.from({ length: continuations }, (_, trial) => {
    const row = {
      case_id: `case-${family}-${trial % 2}`,
      family,
      prefix: PREFIX_NAMES[trial % 4]!,
      trial,
      state: new Int32Array(1),
      label: trial < successes,
    };
    return [{ ...row, terminal: false }, { ...row, terminal: true }];
  }).flat();
}

Deno.test("auditLabels() counts continuations by family and by prefix", () => {
  const audit = auditLabels([...outcomes("b", 1, 4), ...outcomes("a", 3, 8)]);
  assert.deepEqual(audit, {
    policy: digestOfJson(CONTINUATION_POLICY),
    case_ids: ["case-a-0", "case-a-1", "case-b-0", "case-b-1"],
    continuations: 12,
    rows: 24,
    terminal_rows: 12,
    successes: 4,
    families: {
      a: { continuations: 8, successes: 3 },
      b: { continuations: 4, successes: 1 },
    },
    prefixes: {
      "0": { continuations: 3, successes: 2 },
      "33": { continuations: 3, successes: 1 },
      "67": { continuations: 3, successes: 1 },
      last_nonterminal: { continuations: 3, successes: 0 },
    },
  });
});

Deno.test("auditLabels() refuses labels that teach nothing", () => {
  const refused = (rows: readonly ProgressRow[]) =>
    assert.throws(() => auditLabels(rows), (error) => hasCode(error, "unbalanced_labels"));
  refused([]);
  refused(outcomes("a", 9, 10));
  refused(outcomes("a", 1, 10));
  // Balanced as a whole, but one family without failures, and one without successes.
  refused([...outcomes("a", 5, 10), ...outcomes("b", 4, 4)]);
  refused([...outcomes("a", 5, 10), ...outcomes("b", 0, 4)]);
  refused(outcomes("a", 5, 10).slice(1));
  refused(outcomes("a", 5, 10).slice(0, -1));
  // The bounds belong to the allowed range.
  assert.equal(auditLabels(outcomes("a", 2, 10)).successes, 2);
  assert.equal(auditLabels(outcomes("a", 8, 10)).successes, 8);
});
