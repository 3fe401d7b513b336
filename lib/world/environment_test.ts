import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import { callOf, EXAMPLE_ENTITY, exampleTask, operationOf, queryOf, shortcutCall } from "./_example_task.ts";
import { ActionMask } from "./action_mask.ts";
import type { ToolCall } from "./contracts.ts";
import { WorkflowEnvironment } from "./environment.ts";
import { ToolRegistry } from "./tool_registry.ts";

Deno.test("WorkflowEnvironment completes both oracle plans in the optimal steps, at the sum of their service times", () => {
  const task = exampleTask();
  for (const plan of task.oracle_plans) {
    const env = new WorkflowEnvironment(task);
    const outcomes = plan.map((call) => env.step(call));
    assert.deepEqual(outcomes.map((outcome) => outcome.done), [false, false, false, false, false, true]);
    assert.deepEqual(outcomes.map((outcome) => outcome.reward), [-0.01, -0.01, -0.01, -0.01, -0.01, 1]);
    assert.equal(env.state.status, "completed");
    assert.equal(env.state.version, 6);
    assert.equal(env.state.audit_log.length, 6);
    assert.equal(env.totalLatencyMs, 1592 + 1633 + 1658 + 1686 + 1734 + 1592);
    assert.equal(outcomes[5]!.info.total_simulated_latency_ms, env.totalLatencyMs);
    assert.deepEqual(env.evaluate(), {
      case_id: "test-desk-0001",
      success: true,
      goal_predicates_satisfied: true,
      forbidden_side_effect_count: 0,
      completed_steps: 6,
      optimal_steps: 6,
      max_steps: 10,
    });
  }
});

Deno.test("WorkflowEnvironment.step() rejects each invalid kind, keeps the state object and uses one step", () => {
  const forced = {
    schema: { ...callOf("take_in", 0), arguments: { entity_id: EXAMPLE_ENTITY } },
    grounding: callOf("take_in", 0, { entity_id: "missing-desk" }),
    precondition: callOf("choose_path", 0),
    safety: shortcutCall(0),
  };
  for (const [kind, call] of Object.entries(forced)) {
    const env = new WorkflowEnvironment(exampleTask());
    const before = env.state;
    const outcome = env.step(call);
    assert.deepEqual([outcome.accepted, outcome.invalid_kind, outcome.reward], [false, kind, -0.15]);
    assert.equal(env.state, before);
    assert.deepEqual([env.steps, env.totalLatencyMs], [1, 334]);
    assert.deepEqual([outcome.observation.step_index, outcome.observation.remaining_steps], [1, 9]);
    assert.equal(outcome.observation.message, outcome.reason);
    assert.equal(env.evaluate().forbidden_side_effect_count, 0);
  }
});

Deno.test("WorkflowEnvironment.step() accepts queries and replays without a change of state", () => {
  const env = new WorkflowEnvironment(exampleTask());
  env.step(callOf("take_in", 0));
  const before = env.state;
  const query = env.step(queryOf(1, "look_up_channel"));
  assert.deepEqual([query.accepted, query.simulated_latency_ms, query.done, query.info.node_id], [
    true,
    902,
    false,
    null,
  ]);
  const replay = env.step(callOf("take_in", 1));
  assert.deepEqual([replay.accepted, replay.simulated_latency_ms, replay.info.idempotent_replay], [
    true,
    140,
    true,
  ]);
  assert.equal(env.state, before);
  assert.deepEqual([env.steps, env.totalLatencyMs, replay.info.state_version], [3, 1592 + 902 + 140, 1]);
});

Deno.test("WorkflowEnvironment.step() ends at the budget, and a success on the last step is a success", () => {
  const plan = exampleTask().oracle_plans[0]!;
  const late = new WorkflowEnvironment(exampleTask());
  for (let i = 0; i < 4; i++) late.step(queryOf(0));
  const last = plan.map((call) => late.step(call)).at(-1)!;
  assert.deepEqual([last.success, last.done, last.info.timed_out, last.reward, late.steps], [
    true,
    true,
    false,
    1,
    10,
  ]);

  const env = new WorkflowEnvironment(exampleTask());
  for (let i = 0; i < 9; i++) assert.equal(env.step(queryOf(0)).done, false);
  const end = env.step(queryOf(0));
  assert.deepEqual([end.success, end.done, end.info.timed_out, end.reward], [false, true, true, -1]);
  assert.deepEqual([end.observation.remaining_steps, end.observation.done], [0, true]);
});

Deno.test("WorkflowEnvironment.step() refuses to go on after the end; reset() starts over", () => {
  const task = exampleTask();
  const env = new WorkflowEnvironment(task);
  for (const call of task.oracle_plans[0]!) env.step(call);
  assert.throws(() => env.step(queryOf(6)), (error) => hasCode(error, "episode_over"));
  const observation = env.reset();
  assert.deepEqual([env.done, env.steps, env.totalLatencyMs], [false, 0, 0]);
  assert.equal(env.state.status, "pending");
  assert.deepEqual(env.state, task.initial_state);
  assert.deepEqual(observation, env.observe());
});

Deno.test("WorkflowEnvironment.step() raises if a rejected call comes back with another state", () => {
  const task = exampleTask();
  const registry = new ToolRegistry(task);
  const env = new WorkflowEnvironment(task, {
    validate: (state, call) => registry.validate(state, call),
    execute: (state, call) => ({ ...registry.execute(state, call), state: { ...state } }),
  });
  assert.throws(() => env.step(shortcutCall(0)), (error) => hasCode(error, "transaction_breach"));
});

Deno.test("WorkflowEnvironment.observe() shows the public part only and nothing that can be written to", () => {
  const task = exampleTask();
  const env = new WorkflowEnvironment(task);
  env.step({ ...callOf("take_in", 0), call_id: "secret-call" });
  const observation = env.observe();
  assert.deepEqual(Object.keys(observation.visible_state).sort(), [
    "approval_token",
    "channel",
    "completed_nodes",
    "entity_id",
    "priority",
    "region",
    "side_effects",
    "status",
    "take_in_done",
    "version",
  ]);
  assert.deepEqual(observation.available_entities, [EXAMPLE_ENTITY]);
  assert.deepEqual(observation.available_tools, task.tool_schemas.map((schema) => schema.name));
  assert.equal(observation.step_index + observation.remaining_steps, observation.max_steps);
  assert.doesNotMatch(JSON.stringify(observation), /secret-call|approved-/);
  assert.throws(() => (observation.visible_state as Record<string, unknown>).version = 9, TypeError);
  assert.throws(() => (observation.visible_state.completed_nodes as string[]).push("x"), TypeError);
  assert.throws(() => (observation.available_tools as string[]).pop(), TypeError);
  assert.throws(() => (env.state.audit_log as unknown[]).pop(), TypeError);
});

Deno.test("WorkflowEnvironment is not moved by later changes to the task's state, and its candidates cannot change", () => {
  const task = exampleTask();
  const env = new WorkflowEnvironment(task);
  (task.initial_state.completed_nodes as string[]).push("x");
  assert.deepEqual(env.state.completed_nodes, []);
  const candidates = env.candidates();
  assert.notEqual(env.candidates(), candidates);
  assert.throws(() => (candidates as ToolCall[]).pop(), TypeError);
  assert.throws(() => (candidates[0] as { call_id: string }).call_id = "changed", TypeError);
  assert.throws(
    () => (candidates[0]!.arguments as Record<string, unknown>).entity_id = "changed",
    TypeError,
  );
});

Deno.test("WorkflowEnvironment.dryRun() labels as step() acts, and changes nothing", () => {
  const walk = fc.array(fc.nat(), { minLength: 1, maxLength: 10 });
  fc.assert(fc.property(walk, (choices) => {
    const env = new WorkflowEnvironment(exampleTask());
    for (const choice of choices) {
      if (env.done) break;
      const calls = env.candidates();
      const call = calls[choice % calls.length]!;
      const { state, steps } = env;
      const label = env.dryRun(call);
      assert.equal(env.state, state);
      assert.equal(env.steps, steps);
      const outcome = env.step(call);
      assert.equal(outcome.accepted, label.valid);
      assert.equal(outcome.invalid_kind, label.invalid_kind);
      assert.equal(env.state.version, env.state.audit_log.length);
      assert.equal(env.state.version, env.state.completed_nodes.length);
      if (!label.valid || label.idempotent_replay || label.node_id === null) assert.equal(env.state, state);
    }
  }));
});

Deno.test("WorkflowEnvironment labels and steps without ever asking the mask", () => {
  const task = exampleTask();
  const { evaluate, mask } = ActionMask.prototype;
  const explode = () => {
    throw new Error("the mask was asked");
  };
  try {
    ActionMask.prototype.evaluate = explode;
    ActionMask.prototype.mask = explode;
    const env = new WorkflowEnvironment(task);
    for (const call of task.oracle_plans[1]!) {
      for (const candidate of env.candidates()) env.dryRun(candidate);
      env.step(call);
    }
    assert.equal(env.evaluate().success, true);
  } finally {
    Object.assign(ActionMask.prototype, { evaluate, mask });
  }
});

Deno.test("WorkflowEnvironment.evaluate() counts a recorded forbidden side effect against the success", () => {
  const task = exampleTask({ forbidden_side_effects: ["desk.completed"] });
  const env = new WorkflowEnvironment({
    ...task,
    forbidden_side_effects: ["effect-of-take-in"],
    workflow_nodes: task.workflow_nodes.map((node) =>
      node.node_id === operationOf("take_in") ? { ...node, side_effect: "effect-of-take-in" } : node
    ),
  });
  for (const call of task.oracle_plans[0]!) env.step(call);
  const evaluation = env.evaluate();
  assert.deepEqual(
    [evaluation.success, evaluation.goal_predicates_satisfied, evaluation.forbidden_side_effect_count],
    [false, true, 1],
  );
});
