import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { generateSplit } from "./generate.ts";
import { auditedTasks, type AuditRow, auditRow, publicAudit } from "./public_audit.ts";

const SEED = 20260808;
const TASKS = generateSplit({ split: "test", size: 20, baseSeed: SEED });
const AUDIT = publicAudit(TASKS, { baseSeed: SEED });
const ROWS = new TextDecoder().decode(AUDIT.trace).split("\n").slice(0, -1).map((line) =>
  JSON.parse(line) as AuditRow
);

Deno.test("publicAudit() finds every case solved in its optimal steps", () => {
  const steps = TASKS.reduce((sum, task) => sum + task.optimal_steps, 0);
  const { row_sha256, trace, ...facts } = AUDIT.manifest;
  assert.deepEqual(facts, {
    schema: "tracewright.public-audit.v1",
    baseline_id: "R1-public-ready-greedy-v1",
    generator_version: "benchmark-v1.3.0",
    split: "test",
    base_seed: SEED,
    case_count: 20,
    successful_cases: 20,
    task_success_rate: 1,
    total_steps: steps,
    mean_steps: steps / 20,
    forbidden_side_effect_count: 0,
    case_ids_sha256: digestOf(TASKS.map((task) => task.case_id).join("\n")),
    tasks_sha256: digestOf(TASKS.map((task) => canonicalJson(task) + "\n").join("")),
  });
  assert.deepEqual(trace, {
    path: "v1.3-public-ready-audit.jsonl",
    rows: 20,
    sha256: digestOf(AUDIT.trace),
  });
  for (const [i, row] of ROWS.entries()) {
    assert.deepEqual([row.case_id, row.success, row.steps], [
      TASKS[i]!.case_id,
      true,
      TASKS[i]!.optimal_steps,
    ]);
    assert.equal(row_sha256[row.case_id], digestOf(canonicalJson(row)));
    assert.equal(
      row.policy_input_sequence_sha256,
      digestOf(row.decisions.map((one) => one.policy_input_sha256).join("\n")),
    );
    assert.deepEqual(row.decisions.map((one) => one.step_index), [...row.decisions.keys()]);
    assert.deepEqual(row.decisions.map((one) => one.success).indexOf(true), row.steps - 1);
  }
});

Deno.test("publicAudit() does not depend on the order of its tasks and gives the same bytes again", () => {
  assert.deepEqual(publicAudit([...TASKS].reverse(), { baseSeed: SEED }), AUDIT);
});

Deno.test("publicAudit() writes no entity and no call id", () => {
  const text = new TextDecoder().decode(AUDIT.trace) + canonicalJson(AUDIT.manifest);
  for (const { entity_id } of TASKS) assert.equal(text.includes(entity_id), false);
  assert.equal(text.includes("call_id"), false);
  const [task] = TASKS as [WorkflowTask];
  // An entity that is called as something public cannot be told from it.
  const exposed = { ...task, entity_id: task.case_id };
  assert.throws(() => auditRow(exposed), (error) => hasCode(error, "audit_leak"));
});

Deno.test("auditedTasks() takes the whole test split of the seed and nothing else", () => {
  const fails = (tasks: readonly WorkflowTask[], code: string, baseSeed = SEED) =>
    assert.throws(() => auditedTasks(tasks, { baseSeed }), (error) => hasCode(error, code), code);
  const [first, ...rest] = TASKS as [WorkflowTask, ...WorkflowTask[]];
  fails(TASKS, "other_benchmark", SEED + 1);
  fails(rest, "other_benchmark");
  fails([{ ...first, max_steps: first.max_steps + 1 }, ...rest], "other_benchmark");
  fails([{ ...first, split: "dev" }, ...rest], "wrong_split");
  fails([{ ...first, generator_version: "benchmark-v1.4.0" }, ...rest], "wrong_version");
  fails([first, ...TASKS], "duplicate_in_split");
  fails([], "bad_size");
});
