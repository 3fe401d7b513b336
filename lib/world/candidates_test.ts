import assert from "node:assert/strict";
import type { ToolCall, WorkflowState, WorkflowTask } from "./contracts.ts";
import { callOf, EXAMPLE_ENTITY, EXAMPLE_TOKEN, exampleTask, operationOf } from "./_example_task.ts";
import { CandidateBuilder } from "./candidates.ts";
import { WorkflowEnvironment } from "./environment.ts";

const task = exampleTask();
const builder = new CandidateBuilder(task.tool_schemas);

/** The states on the way of plan 0, the first one included, the last one not. */
function statesOfPlan(): WorkflowState[] {
  const env = new WorkflowEnvironment(task);
  return task.oracle_plans[0]!.map((call) => {
    const { state } = env;
    env.step(call);
    return state;
  });
}
const STATES = statesOfPlan();

function kindOf(call: ToolCall): string {
  return call.call_id.replace(/-\d+:.*$/, "");
}

function build(state: WorkflowState): readonly ToolCall[] {
  return builder.build({ caseId: task.case_id, state });
}

function ofKind(state: WorkflowState, kind: string): ToolCall[] {
  return build(state).filter((call) => kindOf(call) === kind);
}

Deno.test("CandidateBuilder.build() lists every kind of section 10, in the numbers it gives", () => {
  // ready operations at the six states of the plan: 1, 2, 1, 1, 1, 1; a replay as soon as something is completed
  const ready = [1, 2, 1, 1, 1, 1];
  STATES.forEach((state, i) => {
    const kinds = build(state).map(kindOf);
    const expected = [
      ...Array(ready[i]).fill("ready"),
      "status",
      "context",
      ...(i === 0 ? [] : ["replay"]),
      "schema-negative",
      "grounding-negative",
      "precondition-negative",
      "safety-negative",
    ];
    assert.deepEqual([...kinds].sort(), expected.sort());
    assert.ok(kinds.length >= 7 && kinds.length <= 10);
  });
});

Deno.test("CandidateBuilder.build() leaves the negatives out when asked", () => {
  for (const state of STATES) {
    const calls = builder.build({ caseId: "c", state }, { includeInvalid: false });
    assert.equal(calls.some((call) => call.call_id.includes("negative")), false);
    assert.ok(calls.length >= 3);
  }
});

Deno.test("CandidateBuilder.build() gives ready operations grounded arguments", () => {
  const atSecond = ofKind(STATES[1]!, "ready").map((call) => [call.tool_name, call.arguments] as const);
  assert.deepEqual(
    new Map(atSecond),
    new Map([
      ["desk.check_fee", callOf("check_fee", 1).arguments],
      ["desk.check_form", callOf("check_form", 1).arguments],
    ]),
  );
  assert.deepEqual(ofKind(STATES[5]!, "ready")[0]!.arguments, callOf("finish_case", 5).arguments);
});

Deno.test("CandidateBuilder.build() derives the schema and grounding negatives from one anchor", () => {
  for (const state of STATES) {
    const [schema] = ofKind(state, "schema-negative");
    const [grounding] = ofKind(state, "grounding-negative");
    assert.equal(schema!.tool_name, grounding!.tool_name);
    assert.equal(Object.hasOwn(schema!.arguments, "operation_id"), false);
    assert.equal(grounding!.arguments.entity_id, `missing-${EXAMPLE_ENTITY}`);
    const readyNames = ofKind(state, "ready").map((call) => call.tool_name);
    assert.ok(readyNames.includes(schema!.tool_name));
  }
});

Deno.test("CandidateBuilder.build() blocks a future step at the right version, and falls back only at the end", () => {
  STATES.forEach((state, i) => {
    const [negative] = ofKind(state, "precondition-negative");
    const stale = negative!.arguments.expected_version !== state.version;
    assert.equal(stale, i >= 4, `state ${i}`);
    if (stale) assert.equal(negative!.arguments.expected_version, state.version + 1);
  });
});

Deno.test("CandidateBuilder.build() carries a token only once it is visible", () => {
  STATES.forEach((state, i) => {
    const withToken = build(state).filter((call) => Object.hasOwn(call.arguments, "approval_token"));
    if (i < 5) assert.deepEqual(withToken, []);
    else {
      assert.ok(withToken.length > 0);
      for (const call of withToken) assert.equal(call.arguments.approval_token, EXAMPLE_TOKEN);
    }
  });
  assert.equal(JSON.stringify(STATES.slice(0, 5).map(build)).includes(EXAMPLE_TOKEN), false);
});

Deno.test("CandidateBuilder.build() replays a completed operation with the current version", () => {
  for (const state of STATES.slice(1)) {
    const [replay] = ofKind(state, "replay");
    assert.ok(state.completed_nodes.includes(replay!.arguments.operation_id as string));
    assert.equal(replay!.arguments.expected_version, state.version);
  }
});

Deno.test("CandidateBuilder.build() is a function of the public state, in any order of completion", () => {
  const twice = [build(STATES[3]!), build(STATES[3]!)];
  assert.deepEqual(twice[0], twice[1]);
  assert.notEqual(twice[0]![0], twice[1]![0]);
  const swapped = { ...STATES[3]!, completed_nodes: [...STATES[3]!.completed_nodes].reverse() };
  assert.deepEqual(build(swapped), build(STATES[3]!));
});

Deno.test("CandidateBuilder.build() does not see hidden parts of the state or the task", () => {
  const hidden: Partial<WorkflowTask> = {
    workflow_nodes: [],
    oracle_plans: [],
    hidden_goal_predicates: [],
    forbidden_side_effects: ["other"],
    entity_id: "other",
    latency_trace: {},
  };
  STATES.forEach((state, i) => {
    const disguised = {
      ...state,
      processed_call_ids: ["x"],
      idempotency_results: { key: operationOf("take_in") },
      audit_log: [],
    };
    const env = new WorkflowEnvironment({ ...task, ...hidden, initial_state: disguised });
    assert.deepEqual(env.candidates(), build(state), `state ${i}`);
  });
});

Deno.test("CandidateBuilder.build() does not depend on the order of the schemas", () => {
  const reversed = new CandidateBuilder([...task.tool_schemas].reverse());
  for (const state of STATES) {
    assert.deepEqual(reversed.build({ caseId: task.case_id, state }), build(state));
  }
});

Deno.test("CandidateBuilder.build() varies its order with what is public", () => {
  const orders = new Set<string>();
  let readyFirst = 0;
  for (let i = 0; i < 100; i++) {
    const kinds = build({ ...STATES[0]!, entity_id: `desk-${i}` }).map(kindOf);
    orders.add(kinds.join());
    if (kinds[0] === "ready") readyFirst += 1;
  }
  assert.ok(orders.size > 80);
  assert.ok(readyFirst > 0 && readyFirst < 50);
});

Deno.test("CandidateBuilder.build() names the kind in call ids that are unique within a list", () => {
  for (const state of STATES) {
    const ids = build(state).map((call) => call.call_id);
    assert.equal(new Set(ids).size, ids.length);
    for (const id of ids) assert.match(id, new RegExp(`^[a-z-]+-\\d+:${task.case_id}:v${state.version}$`));
  }
});

Deno.test("CandidateBuilder.build() copes with a task without tools to make progress with", () => {
  const queries = task.tool_schemas.filter((schema) => !schema.mutating);
  const calls = new CandidateBuilder(queries).build({ caseId: "c", state: STATES[0]! });
  assert.deepEqual(calls.map(kindOf).sort(), ["context", "status"]);
  assert.deepEqual(new CandidateBuilder([]).build({ caseId: "c", state: STATES[0]! }), []);
});
