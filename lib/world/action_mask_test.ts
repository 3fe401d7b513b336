import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import type { JsonObject } from "../core/canonical_json.ts";
import {
  callOf,
  EXAMPLE_ENTITY,
  EXAMPLE_TOKEN,
  exampleTask,
  operationOf,
  queryOf,
  shortcutCall,
} from "./_example_task.ts";
import { ActionMask, type MaskCode } from "./action_mask.ts";
import type { Observation, ToolCall, ToolSchema } from "./contracts.ts";
import { WorkflowEnvironment } from "./environment.ts";

const task = exampleTask();
const mask = new ActionMask(task.tool_schemas);

/** The observation after the first `steps` calls of plan 0. */
function after(steps: number): Observation {
  const env = new WorkflowEnvironment(task);
  for (const call of task.oracle_plans[0]!.slice(0, steps)) env.step(call);
  return env.observe();
}

function judge(steps: number, call: ToolCall, judged: ActionMask = mask) {
  const [result] = judged.evaluate(after(steps), [call]);
  return [result!.code, result!.invalid_kind];
}

const REJECTED: readonly (readonly [MaskCode, string, number, ToolCall])[] = [
  ["tool_not_known", "schema", 0, { ...callOf("take_in", 0), tool_name: "toString" }],
  ["argument_absent", "schema", 0, { ...callOf("take_in", 0), arguments: { entity_id: EXAMPLE_ENTITY } }],
  ["argument_undeclared", "schema", 0, callOf("take_in", 0, { note: 1, expected_version: "x" })],
  ["argument_of_wrong_type", "schema", 0, callOf("take_in", 0, { expected_version: true })],
  ["argument_of_wrong_type", "schema", 0, callOf("take_in", 0.5)],
  ["tool_not_allowed", "safety", 0, {
    ...shortcutCall(0),
    arguments: { ...shortcutCall(0).arguments, entity_id: "x" },
  }],
  ["entity_not_available", "grounding", 0, callOf("take_in", 9, { entity_id: "missing", operation_id: "x" })],
  ["operation_not_of_tool", "grounding", 0, callOf("take_in", 9, { operation_id: operationOf("check_fee") })],
  ["operation_not_of_tool", "grounding", 0, {
    ...queryOf(0),
    arguments: { ...queryOf(0).arguments, operation_id: "x" },
  }],
  ["version_not_current", "precondition", 1, callOf("choose_path", 2)],
  ["prerequisite_open", "precondition", 1, callOf("choose_path", 1)],
  [
    "approval_differs",
    "safety",
    5,
    callOf("finish_case", 5, { approval_token: "approved-other", idempotency_key: "" }),
  ],
  ["key_blank", "safety", 5, callOf("finish_case", 5, { idempotency_key: " \n" })],
];

for (const [code, kind, steps, call] of REJECTED) {
  Deno.test(`ActionMask.evaluate() rejects ${JSON.stringify(call.arguments).slice(0, 60)} of ${call.tool_name} as ${code}`, () => {
    assert.deepEqual(judge(steps, call), [code, kind]);
  });
}

Deno.test("ActionMask.evaluate() asks for the tool among the available ones before anything it knows of it", () => {
  const observation = { ...after(0), available_tools: ["desk.take_in"] };
  const [result] = mask.evaluate(observation, [shortcutCall(0)]);
  assert.deepEqual([result!.code, result!.invalid_kind], ["tool_not_available", "grounding"]);
});

Deno.test("ActionMask.evaluate() finds no approval where none is visible", () => {
  const state = { ...after(5).visible_state, approval_token: null };
  const [result] = mask.evaluate({ ...after(5), visible_state: state }, [callOf("finish_case", 5)]);
  assert.deepEqual([result!.code, result!.invalid_kind], ["approval_not_visible", "precondition"]);
});

Deno.test("ActionMask.evaluate() allows replays at any version, unless the tool is not idempotent", () => {
  assert.deepEqual(judge(1, callOf("take_in", 77)), ["allowed_replay", null]);
  const once = new ActionMask(task.tool_schemas.map((schema) => ({ ...schema, idempotent: false })));
  assert.deepEqual(judge(1, callOf("take_in", 77), once), ["operation_repeated", "safety"]);
});

Deno.test("ActionMask.evaluate() lets only a query do without an operation of its own", () => {
  const nameless = new ActionMask(task.tool_schemas.map((schema) => ({ ...schema, operation_id: null })));
  assert.deepEqual(judge(0, queryOf(0), nameless), ["allowed", null]);
  assert.deepEqual(judge(0, callOf("take_in", 0), nameless), ["operation_not_of_tool", "grounding"]);
});

Deno.test("ActionMask.evaluate() reads an observation, a map with a visible state, and the state alone", () => {
  const observation = after(5);
  const calls = [
    callOf("finish_case", 5),
    callOf("take_in", 0),
    queryOf(4),
    callOf("check_fee", 5, { entity_id: "x" }),
  ];
  const expected = mask.evaluate(observation, calls);
  assert.deepEqual(mask.evaluate({ visible_state: observation.visible_state }, calls), expected);
  assert.deepEqual(mask.evaluate(observation.visible_state, calls), expected);
  assert.deepEqual(mask.mask(observation, calls), [true, true, false, false]);
  assert.deepEqual(mask.mask({} as JsonObject, calls), [false, false, false, false]);
});

Deno.test("ActionMask accepts an entity that is available, or the state's own", () => {
  const other = { ...after(0), available_entities: ["desk-0002"] };
  assert.deepEqual(
    mask.mask(other, [
      callOf("take_in", 0, { entity_id: "desk-0002" }),
      callOf("take_in", 0),
      callOf("take_in", 0, { entity_id: "desk-0003" }),
    ]),
    [true, true, false],
  );
});

Deno.test("ActionMask has types of its own, and unknown ones accept nothing", () => {
  const optional_arguments = { n: "number", b: "boolean", a: "array", o: "object", z: "null", u: "date" };
  const wide = new ActionMask([{ ...task.tool_schemas[0]!, optional_arguments }]);
  const valid = (args: JsonObject) => wide.mask(after(0), [callOf("take_in", 0, args)])[0];
  for (const good of [{ n: 0.5 }, { b: false }, { a: [1] }, { o: {} }, { z: null }]) {
    assert.equal(valid(good), true);
  }
  for (
    const bad of [{ n: "1" }, { b: 0 }, { a: {} }, { o: [] }, { o: null }, { z: false }, { u: "x" }, {
      n: true,
    }]
  ) {
    assert.equal(valid(bad), false, JSON.stringify(bad));
  }
});

Deno.test("new ActionMask() refuses two schemas of one name", () => {
  const [schema] = task.tool_schemas;
  assert.throws(() => new ActionMask([schema!, schema!]), (error) => hasCode(error, "duplicate_tool"));
});

Deno.test("ActionMask keeps a copy of the schemas: later changes to them do not reach it", () => {
  const schemas = structuredClone(task.tool_schemas) as ToolSchema[];
  const own = new ActionMask(schemas);
  (schemas[3]!.required_completed_operations as string[]).length = 0;
  Object.assign(schemas[0]!, { policy_allowed: false, name: "renamed" });
  assert.deepEqual(judge(1, callOf("choose_path", 1), own), ["prerequisite_open", "precondition"]);
  assert.deepEqual(judge(0, callOf("take_in", 0), own), ["allowed", null]);
});

Deno.test("ActionMask and WorkflowEnvironment.dryRun() agree in validity and kind along plan 0 and random walks", () => {
  const agree = (env: WorkflowEnvironment) => {
    const calls = env.candidates();
    const results = mask.evaluate(env.observe(), calls);
    calls.forEach((call, i) => {
      const label = env.dryRun(call);
      assert.deepEqual(
        [results[i]!.valid, results[i]!.invalid_kind],
        [label.valid, label.invalid_kind],
        call.call_id,
      );
    });
    assert.ok(results.some((result) => result.valid));
    return { calls, results };
  };
  const plan = new WorkflowEnvironment(task);
  const first = agree(plan).results.map((result) => result.invalid_kind);
  for (const kind of ["schema", "grounding", "precondition", "safety"] as const) {
    assert.ok(first.includes(kind));
  }
  for (const call of task.oracle_plans[0]!) {
    agree(plan);
    plan.step(call);
  }
  fc.assert(fc.property(fc.array(fc.nat(), { maxLength: 10 }), (choices) => {
    const env = new WorkflowEnvironment(task);
    for (const choice of choices) {
      if (env.done) break;
      const { calls } = agree(env);
      env.step(calls[choice % calls.length]!);
    }
  }));
});

Deno.test("ActionMask cannot see a token or ledger that is hidden, and says valid where the registry refuses", () => {
  const hiddenToken = exampleTask({
    workflow_nodes: task.workflow_nodes.map((node) =>
      node.safety_token === null ? node : { ...node, safety_token: "another" }
    ),
  });
  const env = new WorkflowEnvironment(hiddenToken);
  for (const call of task.oracle_plans[0]!.slice(0, 5)) env.step(call);
  const closing = callOf("finish_case", 5);
  assert.equal(env.dryRun(closing).code, "approval_forged");
  assert.deepEqual(mask.mask(env.observe(), [closing]), [true]);
  assert.equal(closing.arguments.approval_token, EXAMPLE_TOKEN);
});

/** The files that a module's own imports reach, types left out. */
async function reachedFrom(start: URL): Promise<Set<string>> {
  const seen = new Set<string>();
  const todo = [start];
  for (let url = todo.pop(); url !== undefined; url = todo.pop()) {
    if (seen.has(url.pathname)) continue;
    seen.add(url.pathname);
    const source = await Deno.readTextFile(url);
    for (const [, types, target] of source.matchAll(/^import (type )?[^"']*?from "(\.[^"]+)";/gms)) {
      if (types === undefined) todo.push(new URL(target!, url));
    }
  }
  return seen;
}

Deno.test("ActionMask and ToolRegistry share no code but the error class", async () => {
  const policySide = await reachedFrom(new URL("./action_mask.ts", import.meta.url));
  const worldSide = await reachedFrom(new URL("./tool_registry.ts", import.meta.url));
  const shared = [...policySide].filter((path) => worldSide.has(path)).map((path) => path.split("/lib/")[1]);
  assert.deepEqual(shared, ["core/error.ts"]);
  assert.equal(
    [...await reachedFrom(new URL("./environment.ts", import.meta.url))].join().includes("action_mask"),
    false,
  );
});
