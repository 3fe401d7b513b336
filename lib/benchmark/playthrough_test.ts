/** Generated tasks in the world: what must hold for every one of them, whoever plays. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ActionMask } from "../world/action_mask.ts";
import type { ToolCall, WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { policyInputDigest, policyInputFromDecision } from "../world/policy_input.ts";
import { millisecondsOf } from "../world/service_time.ts";
import { generateSplit } from "./generate.ts";

/** Ten families, four topologies, all lengths. */
const TASKS = [
  ...generateSplit({ split: "test", size: 40, baseSeed: 20260808 }),
  ...generateSplit({ split: "train", size: 40, baseSeed: 20260808 }),
];

function kindOf(call: ToolCall): string {
  return call.call_id.replace(/-\d+:.*$/, "");
}

/** Asserts that mask and dry run agree on every candidate of the present state, and returns the candidates. */
function agree(env: WorkflowEnvironment, mask: ActionMask): readonly ToolCall[] {
  const calls = env.candidates();
  mask.evaluate(env.observe(), calls).forEach((result, i) => {
    const label = env.dryRun(calls[i]!);
    if (result.valid !== label.valid || result.invalid_kind !== label.invalid_kind) {
      assert.fail(`${calls[i]!.call_id}: mask ${result.code}, environment ${label.code}`);
    }
  });
  assert.ok(calls.length >= 7 && calls.length <= 10);
  return calls;
}

Deno.test("mask and dry run agree along plan 0 of every task, which ends as the oracle says", () => {
  for (const task of TASKS) {
    const env = new WorkflowEnvironment(task);
    const mask = new ActionMask(task.tool_schemas);
    const kinds = agree(env, mask).map((call) => env.dryRun(call).invalid_kind);
    for (const kind of ["schema", "grounding", "precondition", "safety"] as const) {
      assert.ok(kinds.includes(kind));
    }
    for (const call of task.oracle_plans[0]!) {
      agree(env, mask);
      env.step(call);
    }
    const total = Object.values(task.latency_trace).reduce(
      (sum, seconds) => sum + millisecondsOf(seconds),
      0,
    );
    assert.deepEqual(
      [env.state.status, env.state.version, env.state.audit_log.length, env.totalLatencyMs, env.done],
      ["completed", task.optimal_steps, task.optimal_steps, total, true],
    );
  }
});

Deno.test("mask and dry run agree along random walks through any task", () => {
  const walk = fc.array(fc.nat(), { minLength: 19, maxLength: 19 });
  fc.assert(
    fc.property(fc.nat({ max: TASKS.length - 1 }), walk, (index, choices) => {
      const task = TASKS[index]!;
      const env = new WorkflowEnvironment(task);
      const mask = new ActionMask(task.tool_schemas);
      for (const choice of choices) {
        if (env.done) break;
        const calls = agree(env, mask);
        const valid = calls.filter((call) => env.dryRun(call).valid);
        const call = (choice % 4 === 0 ? calls : valid)[choice % (choice % 4 === 0 ? calls : valid).length]!;
        const { state, steps } = env;
        const label = env.dryRun(call);
        const outcome = env.step(call);
        assert.equal(outcome.accepted, label.valid);
        assert.equal(env.steps, steps + 1);
        if (!label.valid) assert.equal(env.state, state);
      }
    }),
    { numRuns: 200 },
  );
});

Deno.test("the precondition negative is a blocked step at the right version, except in the last two states", () => {
  const seen: Record<string, { blocked: number; stale: number }> = {};
  for (const task of TASKS) {
    const env = new WorkflowEnvironment(task);
    const counts = seen[task.topology] ??= { blocked: 0, stale: 0 };
    task.oracle_plans[0]!.forEach((call, position) => {
      const [negative] = env.candidates().filter((one) => kindOf(one) === "precondition-negative");
      const { code } = env.dryRun(negative!);
      assert.equal(code, position >= task.optimal_steps - 2 ? "stale_version" : "missing_predecessor");
      counts[code === "stale_version" ? "stale" : "blocked"] += 1;
      env.step(call);
    });
  }
  assert.equal(Object.keys(seen).length, 4);
  for (const { blocked, stale } of Object.values(seen)) assert.ok(blocked > stale);
});

Deno.test("queries and replays among the candidates are accepted and change nothing but the count of steps", () => {
  for (const task of TASKS.slice(0, 20)) {
    const env = new WorkflowEnvironment(task);
    const mask = new ActionMask(task.tool_schemas);
    env.step(task.oracle_plans[0]![0]!);
    const { state } = env;
    for (const [kind, cost] of [["status", 902], ["context", 902], ["replay", 140]] as const) {
      const [call] = env.candidates().filter((one) => kindOf(one) === kind);
      assert.deepEqual(mask.mask(env.observe(), [call!]), [true]);
      const outcome = env.step(call!);
      assert.deepEqual([outcome.accepted, outcome.simulated_latency_ms, outcome.done], [true, cost, false]);
      assert.equal(env.state, state);
    }
  }
});

/** The task with everything hidden replaced, as far as the world still runs. */
function disguised(task: WorkflowTask): WorkflowTask {
  return {
    ...task,
    entity_id: "another-entity",
    workflow_nodes: task.workflow_nodes.map((node) => ({
      ...node,
      safety_token: "other",
      side_effect: "other",
    })),
    forbidden_side_effects: ["other"],
    oracle_plans: [],
    hidden_goal_predicates: [],
    latency_trace: {},
  };
}

Deno.test("candidates and mask do not change with the hidden half of a task", () => {
  for (const task of TASKS) {
    const env = new WorkflowEnvironment(task);
    for (const call of task.oracle_plans[0]!) {
      const other = new WorkflowEnvironment({ ...disguised(task), initial_state: env.state });
      const calls = other.candidates();
      assert.deepEqual(calls, env.candidates());
      const seen = { ...other.observe(), available_entities: [task.entity_id] };
      assert.deepEqual(
        new ActionMask(disguised(task).tool_schemas).evaluate(seen, calls),
        new ActionMask(task.tool_schemas).evaluate(env.observe(), calls),
      );
      env.step(call);
    }
  }
});

Deno.test("policy inputs hold no entity, case or call id, at any step of any task", () => {
  const digests = new Set<string>();
  let decisions = 0;
  for (const task of TASKS) {
    const env = new WorkflowEnvironment(task);
    for (const call of task.oracle_plans[0]!) {
      const observation = env.observe();
      const candidates = env.candidates();
      const mask = new ActionMask(task.tool_schemas).mask(observation, candidates);
      const input = policyInputFromDecision({ observation, candidates, mask, schemas: task.tool_schemas });
      const text = JSON.stringify(input);
      for (const hidden of [task.entity_id, task.case_id, "call_id", "-negative"]) {
        assert.equal(text.includes(hidden), false);
      }
      digests.add(policyInputDigest(input));
      decisions += 1;
      env.step(call);
    }
  }
  assert.equal(digests.size, decisions);
});

Deno.test("candidate order varies from state to state and does not always begin with a ready operation", () => {
  const orders = new Set<string>();
  let readyFirst = 0;
  let states = 0;
  for (const task of TASKS) {
    const env = new WorkflowEnvironment(task);
    for (const call of task.oracle_plans[0]!) {
      const kinds = env.candidates().map(kindOf);
      orders.add(kinds.join());
      if (kinds[0] === "ready") readyFirst += 1;
      states += 1;
      env.step(call);
    }
  }
  assert.ok(orders.size > states / 2);
  assert.ok(readyFirst > 0 && readyFirst < states / 2);
});
