import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { sha256Hex } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import type { ToolSchema, WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import {
  actionValidityLine,
  type ActionValidityRow,
  actionValidityRows,
  sampledPositions,
} from "./action_validity.ts";
import { generateSplit } from "./generate.ts";

const SEED = 20260808;
const TASKS = generateSplit({ split: "test", size: 20, baseSeed: SEED });
const ROWS = [...actionValidityRows(TASKS, { seed: SEED })];

/** Rows by a property, in order of first appearance. */
function groups(rows: readonly ActionValidityRow[], key: (row: ActionValidityRow) => string) {
  const found = new Map<string, ActionValidityRow[]>();
  for (const row of rows) found.set(key(row), [...found.get(key(row)) ?? [], row]);
  return found;
}

/** Whether the environment of a row's case, brought to the row's state, judges the row's call as it is labelled. */
function trueLabel(row: ActionValidityRow): boolean {
  const task = TASKS.find(({ case_id }) => case_id === row.case_id)!;
  const env = new WorkflowEnvironment(task);
  for (const call of task.oracle_plans[0]!.slice(0, row.workflow_step_index)) env.step(call);
  assert.deepEqual(row.observation, env.observe());
  const { valid, invalid_kind } = env.dryRun(row.tool_call);
  return valid === row.valid_label && invalid_kind === row.invalid_kind;
}

Deno.test("sampledPositions() rounds halves to even", () => {
  // L = 6: 0, 1.25, 2.5, 3.75, 5; L = 7: 0, 1.5, 3, 4.5, 6; L = 15: 0, 3.5, 7, 10.5, 14
  assert.deepEqual([6, 7, 9, 15].map(sampledPositions), [
    [0, 1, 2, 4, 5],
    [0, 2, 3, 4, 6],
    [0, 2, 4, 6, 8],
    [0, 4, 7, 10, 14],
  ]);
});

Deno.test("actionValidityRows() gives 20 rows a task, sorted, half of them valid in every state", () => {
  assert.equal(ROWS.length, 400);
  const ids = ROWS.map((row) => row.sample_id);
  assert.deepEqual(ids, [...new Set(ids)].sort());
  assert.equal(ids[0], `${TASKS[0]!.case_id}-state-00-candidate-00`);
  assert.deepEqual(new Set(ROWS.map((row) => row.case_id)).size, 20);
  const states = groups(ROWS, (row) => `${row.case_id} ${row.state_index}`);
  assert.equal(states.size, 100);
  for (const rows of states.values()) {
    assert.equal(rows.length, 4);
    assert.equal(rows.filter((row) => row.valid_label).length, 2);
    assert.equal(new Set(rows.map((row) => row.tool_call.call_id)).size, 4);
  }
});

Deno.test("actionValidityRows() uses each kind equally and gives every second task one collision", () => {
  // 10 invalid slots a task: the cursor starts at 10 t mod 4, so the last state of odd tasks asks for safety.
  const kinds = groups(ROWS.filter((row) => !row.valid_label), (row) => row.invalid_kind!);
  const sizes = Object.fromEntries([...kinds].map(([kind, rows]) => [kind, rows.length]));
  assert.deepEqual(sizes, { schema: 50, grounding: 50, precondition: 50, safety: 50 });
  const collisions = ROWS.filter((row) => row.challenge_source === "hidden_ledger_collision");
  assert.deepEqual(
    collisions.map((row) => row.case_id),
    TASKS.filter((_, t) => t % 2 === 1).map((task) => task.case_id),
  );
  for (const row of collisions) assert.deepEqual([row.state_index, row.invalid_kind], [4, "safety"]);
});

Deno.test("labels are those of the environment, which only a collision contradicts", () => {
  for (const row of ROWS) {
    assert.equal(trueLabel(row), row.challenge_source === "standard_candidate", row.sample_id);
    assert.equal(row.state_sha256, sha256Hex(canonicalJson(row.observation)));
  }
});

Deno.test("actionValidityRows() gives the same bytes again, and another seed only another order", () => {
  const bytes = (seed: number) =>
    [...actionValidityRows(TASKS.slice(0, 3), { seed })].map(actionValidityLine);
  assert.equal(bytes(SEED).length, 60);
  assert.deepEqual(bytes(SEED), ROWS.slice(0, 60).map(actionValidityLine));
  assert.notDeepEqual(bytes(1), bytes(2));
  const calls = (seed: number) =>
    [...actionValidityRows(TASKS.slice(0, 3), { seed })].map((row) => canonicalJson(row.tool_call)).sort();
  assert.deepEqual(calls(1), calls(2));
});

Deno.test("actionValidityRows() reads one task at a time", () => {
  let read = 0;
  function* counted() {
    for (const task of TASKS) {
      read++;
      yield task;
    }
  }
  const rows = actionValidityRows(counted(), { seed: SEED });
  for (let i = 0; i < 21; i++) rows.next();
  assert.equal(read, 2);
});

/** The second task, whose last state asks for a collision, with parts replaced; after an unchanged first one. */
function withSecond(change: (task: WorkflowTask) => Partial<WorkflowTask>): WorkflowTask[] {
  return [TASKS[0]!, { ...TASKS[1]!, ...change(TASKS[1]!) }];
}

function fails(tasks: readonly WorkflowTask[], code: string): void {
  assert.throws(() => [...actionValidityRows(tasks, { seed: SEED })], (error) => hasCode(error, code), code);
}

Deno.test("actionValidityRows() refuses tasks that do not serve, each by its code", () => {
  fails([TASKS[1]!, TASKS[0]!], "not_sorted");
  fails([TASKS[0]!, TASKS[0]!], "not_sorted");
  fails(withSecond((task) => ({ oracle_plans: [task.oracle_plans[0]!.slice(0, 4)] })), "plan_too_short");
  fails(withSecond(() => ({ oracle_plans: [] })), "plan_too_short");
  fails(withSecond((task) => ({ oracle_plans: [[...task.oracle_plans[0]!].reverse()] })), "unsolvable_task");
});

Deno.test("actionValidityRows() refuses a state without a kind of call that it needs", () => {
  const schemas = (change: (schema: ToolSchema) => ToolSchema[]) =>
    withSecond((task) => ({ tool_schemas: task.tool_schemas.flatMap(change) }));
  fails(schemas((schema) => schema.policy_allowed ? [schema] : []), "no_such_candidate");
  // Without a key among its arguments the final call is never offered with one, and so is not valid.
  const keyless = ({ idempotency_key: _key, ...rest }: Readonly<Record<string, string>>) => rest;
  fails(
    schemas((schema) => [{ ...schema, required_arguments: keyless(schema.required_arguments) }]),
    "no_final_action",
  );
});

Deno.test("actionValidityRows() refuses a collision that the environment does not mind", () => {
  const unguarded = withSecond((task) => ({
    workflow_nodes: task.workflow_nodes.map((node) => ({ ...node, safety_token: null })),
  }));
  fails(unguarded, "no_collision");
});

/** The files that a file imports at run time, transitively, by address. */
function imported(address: URL, found = new Set<string>()): Set<string> {
  if (found.has(address.href)) return found;
  found.add(address.href);
  const text = Deno.readTextFileSync(address);
  for (const [, path] of text.matchAll(/^(?:import|export)\s(?!type\s)[^;]*?from "(\.[^"]+)";/gm)) {
    imported(new URL(path!, address), found);
  }
  return found;
}

Deno.test("labelling imports the environment and not the mask", () => {
  const files = [...imported(new URL("./action_validity.ts", import.meta.url))];
  assert.ok(files.some((file) => file.endsWith("/world/tool_registry.ts")));
  assert.deepEqual(files.filter((file) => file.includes("mask")), []);
});
