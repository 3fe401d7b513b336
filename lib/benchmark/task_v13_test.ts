import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { verifyOracle } from "../world/oracle.ts";
import { parseTask } from "../world/parse_task.ts";
import { MUTATING_TIERS_MS, secondsOf } from "../world/service_time.ts";
import { FAMILIES } from "./families.ts";
import { generateTaskV13, opaqueOperationId, taskSeed } from "./task_v13.ts";
import { workflowPredecessors } from "./topology.ts";

const REQUEST = {
  split: "test",
  baseSeed: 20260808,
  familyIndex: 7,
  ordinal: 3,
  difficulty: "medium",
  length: 10,
} as const;

/** Test tasks of every family and length. */
const ALL: readonly WorkflowTask[] = FAMILIES.flatMap((_, familyIndex) =>
  Array.from(
    { length: 10 },
    (_, i) => generateTaskV13({ ...REQUEST, familyIndex, ordinal: i, length: i + 6 }),
  )
);

Deno.test("generateTaskV13() writes identity as section 3 spells it", () => {
  const task = generateTaskV13(REQUEST);
  // 2,000,000,000 + 20,260,808 + 7 x 1,000,000 + 3
  assert.equal(taskSeed(REQUEST), 2_027_260_811);
  assert.equal(task.seed, 2_027_260_811);
  assert.equal(task.case_id, "test-cloud_incident_response-0003");
  assert.equal(task.entity_id, "test-clou-00003-2027260811");
  assert.equal(task.generator_version, "benchmark-v1.3.0");
  const early = generateTaskV13({ ...REQUEST, split: "train", familyIndex: 0, baseSeed: 5, ordinal: 12 });
  assert.equal(early.entity_id, "train-cale-00012-0000000017");
  const late = taskSeed({ split: "test", baseSeed: 2006549735, familyIndex: 9, ordinal: 99 });
  assert.equal(late, 4_015_549_834);
});

Deno.test("opaqueOperationId() is op_ and 20 hexadecimal digits of SHA-256", () => {
  const expected = digestOf("benchmark-v1.3.0:2027260811:operation:4").slice("sha256:".length).slice(0, 20);
  assert.equal(opaqueOperationId(2027260811, 4), `op_${expected}`);
  assert.equal(generateTaskV13(REQUEST).workflow_nodes[4]!.node_id, `op_${expected}`);
});

Deno.test("generateTaskV13() repeats ids for the same seed and shares none with another", () => {
  const ids = (task: WorkflowTask) => task.workflow_nodes.map((node) => node.node_id);
  assert.deepEqual(generateTaskV13(REQUEST), generateTaskV13(REQUEST));
  const others = new Set(ids(generateTaskV13({ ...REQUEST, ordinal: 4 })));
  for (const id of ids(generateTaskV13(REQUEST))) assert.equal(others.has(id), false);
});

Deno.test("generateTaskV13() mirrors the workflow in the public schemas, and opaquely", () => {
  for (const task of ALL) {
    const ids = task.workflow_nodes.map((node) => node.node_id);
    assert.equal(new Set(ids).size, task.optimal_steps);
    for (const id of ids) assert.match(id, /^op_[0-9a-f]{20}$/);
    const lists = workflowPredecessors(task.topology, task.optimal_steps);
    task.workflow_nodes.forEach((node, i) => {
      const schema = task.tool_schemas[i]!;
      assert.deepEqual(node.required_predecessors, lists[i]!.map((p) => ids[p]));
      assert.deepEqual(schema.required_completed_operations, node.required_predecessors);
      assert.deepEqual([schema.name, schema.operation_id, schema.side_effect], [
        node.tool_name,
        node.node_id,
        node.side_effect,
      ]);
      assert.deepEqual([schema.mutating, schema.idempotent, schema.policy_allowed], [true, true, true]);
    });
  }
});

Deno.test("generateTaskV13() gives the first L stages, the barrier the token, and the final action the guard", () => {
  for (const task of ALL) {
    const family = FAMILIES.find((one) => one.key === task.family)!;
    const length = task.optimal_steps;
    const token = `approved-${task.entity_id}`;
    task.workflow_nodes.forEach((node, i) => {
      const stage = family.stages[i]!;
      assert.equal(node.tool_name, `${family.key}.${stage}`);
      assert.deepEqual(node.effects, {
        [`${stage}_done`]: true,
        ...(i === length - 2 ? { approval_token: token } : {}),
        ...(i === length - 1 ? { status: "completed" } : {}),
      });
      assert.equal(node.safety_token, i === length - 1 ? token : null);
      assert.equal(node.side_effect, i === length - 1 ? `${family.key}.completed` : null);
      const wants = Object.keys(task.tool_schemas[i]!.required_arguments);
      assert.deepEqual(
        wants,
        ["entity_id", "operation_id", "expected_version"].concat(
          i === length - 1 ? ["approval_token", "idempotency_key"] : [],
        ),
      );
    });
  }
});

Deno.test("generateTaskV13() adds four queries and the forbidden shortcut after the workflow tools", () => {
  for (const task of ALL) {
    assert.equal(task.tool_schemas.length, task.optimal_steps + 5);
    assert.equal(new Set(task.tool_schemas.map((schema) => schema.name)).size, task.optimal_steps + 5);
    const extra = task.tool_schemas.slice(task.optimal_steps);
    const shortcut = extra[4]!;
    assert.equal(extra[0]!.name, `${task.family}.inspect_status`);
    for (const query of extra.slice(0, 4)) {
      assert.deepEqual([query.mutating, query.idempotent, query.policy_allowed], [false, true, true]);
      assert.equal(query.operation_id, "inspect-status");
    }
    const { priority, region, channel } = task.initial_state;
    [priority, region, channel].forEach((fact, i) => assert.ok(extra[i + 1]!.name.includes(fact)));
    assert.deepEqual(
      [shortcut.name, shortcut.mutating, shortcut.idempotent, shortcut.policy_allowed, shortcut.operation_id],
      [`${task.family}.force_complete`, true, false, false, "force-complete"],
    );
    assert.deepEqual(task.forbidden_side_effects, [shortcut.side_effect]);
  }
});

Deno.test("generateTaskV13() writes a goal that names all that is visible, and predicates over all nodes", () => {
  for (const task of ALL) {
    const { priority, region, channel } = task.initial_state;
    const { title } = FAMILIES.find((family) => family.key === task.family)!;
    for (const part of [title, task.entity_id, priority, region, channel]) {
      assert.ok(task.user_goal.includes(part));
    }
    assert.deepEqual(task.hidden_goal_predicates, [
      { path: "status", operator: "eq", value: "completed" },
      {
        path: "completed_nodes",
        operator: "contains_all",
        value: task.workflow_nodes.map((node) => node.node_id),
      },
    ]);
  }
});

Deno.test("generateTaskV13() draws facts and service times from all the values there are", () => {
  const seen = (values: readonly unknown[]) => [...new Set(values.map(String))].sort();
  assert.deepEqual(seen(ALL.map((task) => task.initial_state.priority)), ["priority", "standard", "urgent"]);
  assert.deepEqual(seen(ALL.map((task) => task.initial_state.region)), ["apac", "emea", "na"]);
  assert.deepEqual(seen(ALL.map((task) => task.initial_state.channel)), ["api", "mobile", "web"]);
  const times = ALL.flatMap((task) => Object.values(task.latency_trace));
  assert.deepEqual(seen(times), MUTATING_TIERS_MS.map((ms) => String(secondsOf(ms))));
});

Deno.test("generateTaskV13() leaves four steps of slack and gives two different plans that both solve the task", () => {
  for (const task of ALL) {
    assert.equal(task.max_steps, task.optimal_steps + 4);
    const orders = task.oracle_plans.map((plan) => plan.map((call) => call.arguments.operation_id).join());
    assert.equal(new Set(orders).size, 2);
    assert.ok(orders[0]! < orders[1]!); // ascending ids, depth first
    for (const index of [0, 1]) {
      const report = verifyOracle(task, index);
      assert.deepEqual([report.solvable, report.executed_steps], [true, task.optimal_steps], report.reason);
    }
    const last = task.oracle_plans[0]!.at(-1)!;
    assert.equal(last.arguments.idempotency_key, `idem-${task.entity_id}-${last.arguments.operation_id}`);
  }
});

Deno.test("generateTaskV13() makes frozen tasks that survive a file, without fields of v1.4", () => {
  for (const task of ALL.slice(0, 20)) {
    assert.equal(Object.isFrozen(task.tool_schemas[0]), true);
    const again = parseTask(JSON.parse(canonicalJson(task)));
    assert.equal(canonicalJson(again), canonicalJson(task));
    assert.equal("group_id" in task || "goal_variant" in task, false);
  }
});
