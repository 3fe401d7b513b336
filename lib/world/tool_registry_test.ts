import assert from "node:assert/strict";
import type { RefusalCode, ToolCall, WorkflowState, WorkflowTask } from "./contracts.ts";
import { REFUSAL_CODES } from "./contracts.ts";
import { hasCode } from "../core/error.ts";
import { callOf, EXAMPLE_ENTITY, exampleTask, operationOf, queryOf, shortcutCall } from "./_example_task.ts";
import { ToolRegistry } from "./tool_registry.ts";

const task = exampleTask();
const registry = new ToolRegistry(task);
const PLAN = task.oracle_plans[0]!;

/** The state after the first `steps` calls of plan 0, each with the call id `call-<i>`. */
function stateAfter(steps: number): WorkflowState {
  return PLAN.slice(0, steps).reduce(
    (state, call, i) => registry.execute(state, { ...call, call_id: `call-${i}` }).state,
    task.initial_state,
  );
}

function withCallId(call: ToolCall, callId: string): ToolCall {
  return { ...call, call_id: callId };
}

/** Breaks a task so that a code can be reached that no well-formed task reaches. */
function nonIdempotent(): WorkflowTask {
  return exampleTask({
    tool_schemas: task.tool_schemas.map((schema) =>
      schema.name === "desk.take_in" ? { ...schema, idempotent: false } : schema
    ),
  });
}

/** One call for every refusal code, with the state it is made in. Kinds are those of protocol section 4.1. */
const REFUSALS: Readonly<Record<RefusalCode, readonly [string, WorkflowState, ToolCall, WorkflowTask?]>> = {
  unknown_tool: ["schema", stateAfter(0), { ...callOf("take_in", 0), tool_name: "desk.no_such" }],
  missing_argument: [
    "schema",
    stateAfter(0),
    { ...callOf("take_in", 0), arguments: { entity_id: EXAMPLE_ENTITY, expected_version: 0 } },
  ],
  unexpected_argument: ["schema", stateAfter(0), callOf("take_in", 0, { note: "x" })],
  argument_type: ["schema", stateAfter(0), callOf("take_in", 0, { expected_version: "0" })],
  request_not_json: ["schema", stateAfter(0), callOf("take_in", 0, { expected_version: -0 })],
  call_id_reuse: ["safety", stateAfter(1), withCallId(callOf("check_form", 1), "call-0")],
  forbidden_side_effect: ["safety", stateAfter(0), shortcutCall(0)],
  unknown_entity: ["grounding", stateAfter(0), callOf("take_in", 0, { entity_id: "desk-0002" })],
  readonly_operation: [
    "grounding",
    stateAfter(0),
    { ...queryOf(0), arguments: { ...queryOf(0).arguments, operation_id: operationOf("take_in") } },
  ],
  operation_tool_mismatch: [
    "grounding",
    stateAfter(0),
    callOf("take_in", 0, { operation_id: operationOf("check_fee") }),
  ],
  repeat_non_idempotent: ["safety", stateAfter(1), callOf("take_in", 1), nonIdempotent()],
  stale_version: ["precondition", stateAfter(1), callOf("check_form", 0)],
  missing_predecessor: ["precondition", stateAfter(1), callOf("choose_path", 1)],
  approval_forged: ["safety", stateAfter(5), callOf("finish_case", 5, { approval_token: "approved-other" })],
  approval_not_recorded: [
    "precondition",
    { ...stateAfter(5), approval_token: null },
    callOf("finish_case", 5),
  ],
  idempotency_key_blank: ["safety", stateAfter(5), callOf("finish_case", 5, { idempotency_key: " \t" })],
  idempotency_key_conflict: [
    "safety",
    {
      ...stateAfter(5),
      idempotency_results: {
        [`idem-${EXAMPLE_ENTITY}-${operationOf("finish_case")}`]: operationOf("take_in"),
      },
    },
    callOf("finish_case", 5),
  ],
};

for (const code of REFUSAL_CODES) {
  Deno.test(`ToolRegistry.validate() refuses with ${code} and execute() gives back the same state`, () => {
    const [kind, state, call, other] = REFUSALS[code];
    const judge = other === undefined ? registry : new ToolRegistry(other);
    const result = judge.validate(state, call);
    assert.equal(result.code, code);
    assert.equal(result.invalid_kind, kind);
    assert.equal(result.valid, false);
    assert.equal(result.node_id, null);
    const before = structuredClone(state);
    const executed = judge.execute(state, call);
    assert.equal(executed.state, state);
    assert.deepEqual(state, before);
    assert.equal(executed.latencyMs, 334);
  });
}

Deno.test("ToolRegistry.validate() judges the rows of section 4.1 in their order", () => {
  // each call breaks several rows; the earliest must win
  const cases: readonly (readonly [RefusalCode, WorkflowState, ToolCall])[] = [
    ["unknown_tool", stateAfter(1), { tool_name: "x", arguments: {}, call_id: "call-0" }],
    ["missing_argument", stateAfter(1), {
      tool_name: "desk.take_in",
      arguments: { extra: 1 },
      call_id: "call-0",
    }],
    ["unexpected_argument", stateAfter(1), callOf("take_in", 1, { expected_version: "x", extra: 1 })],
    ["argument_type", stateAfter(1), callOf("take_in", NaN, { entity_id: 3 })],
    ["call_id_reuse", stateAfter(1), withCallId(shortcutCall(1), "call-0")],
    ["forbidden_side_effect", stateAfter(1), {
      ...shortcutCall(1),
      arguments: { ...shortcutCall(1).arguments, entity_id: "other" },
    }],
    ["unknown_entity", stateAfter(1), callOf("check_form", 9, { entity_id: "other", operation_id: "none" })],
    ["operation_tool_mismatch", stateAfter(1), callOf("choose_path", 9, { operation_id: "none" })],
    ["stale_version", stateAfter(1), callOf("choose_path", 9)],
    ["missing_predecessor", stateAfter(1), callOf("finish_case", 1, { approval_token: "forged" })],
    [
      "approval_forged",
      { ...stateAfter(5), approval_token: null },
      callOf("finish_case", 5, {
        approval_token: "forged",
        idempotency_key: "",
      }),
    ],
    [
      "approval_not_recorded",
      { ...stateAfter(5), approval_token: null },
      callOf("finish_case", 5, {
        idempotency_key: "",
      }),
    ],
  ];
  for (const [code, state, call] of cases) assert.equal(registry.validate(state, call).code, code);
});

Deno.test("ToolRegistry.validate() judges a read-only operation before its version, and never asks for a node", () => {
  const wrongBoth = { ...queryOf(7), arguments: { ...queryOf(7).arguments, operation_id: "other" } };
  assert.equal(registry.validate(stateAfter(0), wrongBoth).code, "readonly_operation");
  assert.equal(registry.validate(stateAfter(0), queryOf(7)).code, "stale_version");
  const valid = registry.validate(stateAfter(3), queryOf(3, "look_up_region"));
  assert.deepEqual([valid.code, valid.node_id, valid.idempotent_replay], ["ok_readonly", null, false]);
});

Deno.test("ToolRegistry.validate() requires the entity of the state and of the task", () => {
  const moved = { ...stateAfter(0), entity_id: "desk-0002" };
  assert.equal(
    registry.validate(moved, callOf("take_in", 0, { entity_id: "desk-0002" })).code,
    "unknown_entity",
  );
  assert.equal(registry.validate(moved, callOf("take_in", 0)).code, "unknown_entity");
});

Deno.test("ToolRegistry.validate() accepts argument types as the protocol defines them", () => {
  const schema = {
    ...task.tool_schemas[0]!,
    optional_arguments: {
      n: "number",
      b: "boolean",
      a: "array",
      o: "object",
      z: "null",
      i: "integer",
      u: "date",
    },
  };
  const judge = new ToolRegistry({ ...task, tool_schemas: [schema] });
  const codeWith = (args: Record<string, unknown>) =>
    judge.validate(task.initial_state, callOf("take_in", 0, args)).code;
  for (
    const good of [{ n: 1.5 }, { n: 2 }, { b: false }, { a: [] }, { o: {} }, { z: null }, { i: 3 }, { i: -4 }]
  ) {
    assert.equal(codeWith(good), "ok", JSON.stringify(good));
  }
  const bad = [
    { n: true },
    { b: 1 },
    { a: {} },
    { o: [] },
    { o: null },
    { z: 0 },
    { i: true },
    { i: 1.5 },
    {
      i: 2 ** 53,
    },
    { n: "1" },
    { u: "2026" },
  ];
  for (const value of bad) assert.equal(codeWith(value), "argument_type", JSON.stringify(value));
});

Deno.test("ToolRegistry.validate() refuses requests that are not JSON, and does not crash on them", () => {
  const open = new ToolRegistry({
    ...task,
    tool_schemas: task.tool_schemas.map((schema) => ({ ...schema, additional_properties: true })),
  });
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  let deep: unknown = 0;
  for (let i = 0; i < 2000; i++) deep = [deep];
  const payloads: Record<string, unknown> = {
    set: new Set([1]),
    map: new Map([[1, 2]]),
    cycle,
    nan: NaN,
    infinite: [Infinity],
    undefined: { a: undefined },
    symbolKey: { [Symbol("x")]: 1 },
    date: new Date(0),
    bigint: 1n,
    surrogate: "\ud800",
    surrogateKey: { "\ud800": 1 },
    deep,
  };
  for (const [name, payload] of Object.entries(payloads)) {
    const result = open.validate(task.initial_state, callOf("take_in", 0, { payload }));
    assert.equal(result.code, "request_not_json", name);
    assert.equal(result.invalid_kind, "schema");
  }
  for (const args of [null, undefined, "text", 7]) {
    const call = { ...callOf("take_in", 0), arguments: args } as unknown as ToolCall;
    assert.equal(open.validate(task.initial_state, call).code, "request_not_json");
  }
  const badId = { ...callOf("take_in", 0), call_id: 5 } as unknown as ToolCall;
  assert.equal(registry.validate(task.initial_state, badId).code, "request_not_json");
});

Deno.test("ToolRegistry.validate() takes the names of Object's own members for what they are: unknown", () => {
  for (const name of ["constructor", "toString", "__proto__"]) {
    assert.equal(
      registry.validate(task.initial_state, { ...callOf("take_in", 0), tool_name: name }).code,
      "unknown_tool",
    );
    const args = JSON.parse(
      `{"entity_id":"${EXAMPLE_ENTITY}","operation_id":"o","expected_version":0,"${name}":1}`,
    );
    assert.equal(
      registry.validate(task.initial_state, { ...callOf("take_in", 0), arguments: args }).code,
      "unexpected_argument",
    );
    assert.equal(
      registry.validate(task.initial_state, callOf("take_in", 0, { operation_id: name })).code,
      "operation_tool_mismatch",
    );
  }
  const key = callOf("finish_case", 5, { idempotency_key: "__proto__" });
  const { state, result } = registry.execute(stateAfter(5), key);
  assert.equal(result.code, "ok");
  assert.deepEqual(Object.entries(state.idempotency_results), [["__proto__", operationOf("finish_case")]]);
});

Deno.test("ToolRegistry.execute() commits all parts of a mutation and shares the rest", () => {
  const before = stateAfter(5);
  const { state, result, latencyMs } = registry.execute(before, withCallId(callOf("finish_case", 5), "last"));
  const id = operationOf("finish_case");
  assert.deepEqual([result.code, result.node_id, result.idempotent_replay], ["ok", id, false]);
  assert.equal(latencyMs, 1592);
  assert.deepEqual(state.completed_nodes, [...before.completed_nodes, id]);
  assert.equal(state.version, 6);
  assert.equal(state.status, "completed");
  assert.equal(state.finish_case_done, true);
  assert.deepEqual(state.side_effects, ["desk.completed"]);
  assert.deepEqual(state.processed_call_ids, ["call-0", "call-1", "call-2", "call-3", "call-4", "last"]);
  assert.deepEqual(state.idempotency_results, { [`idem-${EXAMPLE_ENTITY}-${id}`]: id });
  const entry = state.audit_log[5]!;
  assert.deepEqual(Object.keys(entry).sort(), [
    "call_id",
    "node_id",
    "request_sha256",
    "tool_name",
    "version",
  ]);
  assert.deepEqual([entry.call_id, entry.tool_name, entry.node_id, entry.version], [
    "last",
    "desk.finish_case",
    id,
    6,
  ]);
  assert.match(entry.request_sha256, /^[0-9a-f]{64}$/);
  assert.equal(state.audit_log[0], before.audit_log[0]);
  assert.equal(before.version, 5);
  assert.throws(() => (state.completed_nodes as string[]).push("x"), TypeError);
  assert.throws(() => (state as { version: number }).version = 0, TypeError);
});

Deno.test("ToolRegistry.execute() records nothing for a call without a call id but its audit entry", () => {
  const { state } = registry.execute(task.initial_state, callOf("take_in", 0));
  assert.deepEqual(state.processed_call_ids, []);
  assert.equal(state.audit_log.length, 1);
  assert.deepEqual(state.idempotency_results, {});
});

Deno.test("ToolRegistry.execute() answers queries and replays from the same state, at their own cost", () => {
  const state = stateAfter(2);
  const query = registry.execute(state, withCallId(queryOf(2), "query-1"));
  assert.deepEqual([query.state === state, query.latencyMs], [true, 902]);
  // a completed operation: the version is not checked
  const replay = registry.execute(state, callOf("take_in", 99));
  assert.deepEqual([replay.state === state, replay.latencyMs, replay.result.code], [
    true,
    140,
    "ok_replay_completed",
  ]);
  const exact = registry.execute(state, withCallId(PLAN[1]!, "call-1"));
  assert.deepEqual([exact.state === state, exact.latencyMs, exact.result.code], [
    true,
    140,
    "ok_replay_exact",
  ]);
  assert.deepEqual([exact.result.idempotent_replay, exact.result.node_id], [true, operationOf("check_form")]);
});

Deno.test("ToolRegistry.validate() takes an exact replay in any argument order", () => {
  const [first] = PLAN;
  const reversed = Object.fromEntries(Object.entries(first!.arguments).reverse());
  const result = registry.validate(stateAfter(2), { ...first!, arguments: reversed, call_id: "call-0" });
  assert.equal(result.code, "ok_replay_exact");
});

Deno.test("ToolRegistry.validate() refuses a call id that returns with another request", () => {
  const state = stateAfter(2);
  const reused: ToolCall[] = [
    callOf("check_fee", 2), // another operation
    { ...PLAN[0]!, arguments: { ...PLAN[0]!.arguments, expected_version: 1 } }, // other arguments
    queryOf(2), // a read-only request
  ];
  for (const call of reused) {
    const result = registry.validate(state, withCallId(call, "call-0"));
    assert.deepEqual([result.code, result.invalid_kind], ["call_id_reuse", "safety"]);
    assert.match(result.reason, /call_id/);
  }
});

Deno.test("ToolRegistry.validate() tells true from 1 when a call id returns", () => {
  const open = new ToolRegistry({
    ...task,
    tool_schemas: task.tool_schemas.map((schema) => ({ ...schema, additional_properties: true })),
  });
  const call = withCallId(callOf("take_in", 0, { options: { strict: true } }), "c");
  const { state } = open.execute(task.initial_state, call);
  assert.equal(open.validate(state, call).code, "ok_replay_exact");
  const other = withCallId(callOf("take_in", 0, { options: { strict: 1 } }), "c");
  assert.equal(open.validate(state, other).code, "call_id_reuse");
});

Deno.test("ToolRegistry.validate() refuses a processed call id without exactly one audit entry", () => {
  const state = stateAfter(2);
  const call = withCallId(PLAN[0]!, "call-0");
  assert.equal(registry.validate({ ...state, audit_log: [] }, call).code, "call_id_reuse");
  const doubled = { ...state, audit_log: [...state.audit_log, state.audit_log[0]!] };
  assert.equal(registry.validate(doubled, call).code, "call_id_reuse");
});

Deno.test("ToolRegistry reasons name no operation, entity or token", () => {
  for (const [, state, call] of Object.values(REFUSALS)) {
    const { reason } = registry.validate(state, call);
    assert.doesNotMatch(reason, /op_|desk|approved-/);
  }
});

Deno.test("new ToolRegistry() refuses a task that contradicts itself", () => {
  const [schema] = task.tool_schemas;
  const [node] = task.workflow_nodes;
  const broken: readonly (readonly [string, Partial<WorkflowTask>])[] = [
    ["duplicate_tool", { tool_schemas: [schema!, schema!] }],
    ["duplicate_node", { workflow_nodes: [node!, node!] }],
    ["reserved_effect", { workflow_nodes: [{ ...node!, effects: { version: 7 } }] }],
    ["bad_service_time", { workflow_nodes: [{ ...node!, simulated_latency_s: 0.0001 }] }],
  ];
  for (const [code, change] of broken) {
    assert.throws(() => new ToolRegistry({ ...task, ...change }), (error) => hasCode(error, code));
  }
});
