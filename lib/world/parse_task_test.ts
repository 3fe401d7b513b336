import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import { exampleTask } from "./_example_task.ts";
import { parseTask } from "./parse_task.ts";

type Editable = Record<string, unknown> & {
  tool_schemas: Record<string, unknown>[];
  workflow_nodes: Record<string, unknown>[];
  initial_state: Record<string, unknown>;
  visible_observation: Record<string, unknown>;
  latency_trace: Record<string, unknown>;
};

/** The example task as it would come from a file, edited. */
function edited(edit: (task: Editable) => void): unknown {
  const task = JSON.parse(canonicalJson(exampleTask())) as Editable;
  edit(task);
  return task;
}

Deno.test("parseTask() reads a task back without loss, and frozen", () => {
  const text = canonicalJson(exampleTask());
  const task = parseTask(JSON.parse(text));
  assert.equal(canonicalJson(task), text);
  assert.equal(Object.isFrozen(task.oracle_plans[0]![0]!.arguments), true);
});

Deno.test("parseTask() keeps effects in the state", () => {
  const value = edited((task) => {
    task.initial_state.route_signature = null;
    task.visible_observation.route_signature = null;
  });
  assert.equal(parseTask(value).initial_state.route_signature, null);
});

const REFUSED: Readonly<Record<string, (task: Editable) => void>> = {
  "an unknown field": (task) => task.extra = 1,
  "a field of v1.4": (task) => task.group_id = "g",
  "a missing field": (task) => delete task.user_goal,
  "a text for a number": (task) => task.seed = "1",
  "a fraction for a count": (task) => task.max_steps = 10.5,
  "an unknown split": (task) => task.split = "final",
  "an unknown topology": (task) => task.topology = "ring",
  "an unknown field of a schema": (task) => task.tool_schemas[0]!.oracle = true,
  "an unknown field of a node": (task) => task.workflow_nodes[0]!.note = "",
  "a number that is not finite": (task) => task.workflow_nodes[0]!.simulated_latency_s = NaN,
  "an infinite number in a map": (task) => task.latency_trace.op = Infinity,
  "a negative time": (task) => task.workflow_nodes[0]!.simulated_latency_s = -1,
  "a hidden value that is not JSON": (task) => task.workflow_nodes[0]!.effects = { a: undefined },
  "a number without a canonical form": (task) => task.workflow_nodes[0]!.effects = { a: -0 },
  "a key that names a prototype": (task) =>
    task.workflow_nodes[0]!.effects = JSON.parse('{"__proto__":{"a":1}}'),
  "a budget below the optimum": (task) => task.max_steps = 5,
  "a node too few": (task) => task.workflow_nodes.pop(),
  "a v1.4 task with fewer nodes than steps": (task) => {
    task.generator_version = "benchmark-v1.4.0";
    task.workflow_nodes.pop();
  },
  "a state of another entity": (task) => task.initial_state.entity_id = "other",
  "a visible part that differs from the state": (task) => task.visible_observation.region = "na",
  "an internal field in the visible part": (task) => task.visible_observation.audit_log = [],
  "an argument both required and optional": (task) =>
    task.tool_schemas[0]!.optional_arguments = { entity_id: "string" },
  "a latency that differs from its node": (task) => task.workflow_nodes[0]!.simulated_latency_s = 1.633,
  "a latency of no node": (task) => task.latency_trace.op_none = 1,
};

for (const [what, edit] of Object.entries(REFUSED)) {
  Deno.test(`parseTask() refuses ${what}`, () => {
    assert.throws(() => parseTask(edited(edit)), (error) => hasCode(error, "bad_task"));
  });
}

Deno.test("parseTask() refuses service times that are not whole milliseconds", () => {
  const value = edited((task) => {
    const [node] = task.workflow_nodes;
    node!.simulated_latency_s = 1.5921;
    task.latency_trace[node!.node_id as string] = 1.5921;
  });
  assert.throws(() => parseTask(value), (error) => hasCode(error, "bad_service_time"));
});

Deno.test("parseTask() accepts more nodes than steps from v1.4 on", () => {
  const value = edited((task) => {
    task.generator_version = "benchmark-v1.4.0";
    task.optimal_steps = 4;
  });
  assert.equal(parseTask(value).optimal_steps, 4);
});

Deno.test("parseTask() names the field that is wrong, and survives values that are no objects", () => {
  assert.throws(
    () => parseTask(edited((task) => task.tool_schemas[2]!.mutating = "yes")),
    /bad_task.*test-desk-0001.*tool_schemas\.2\.mutating/,
  );
  for (const value of [null, 1, "text", [], undefined]) {
    assert.throws(() => parseTask(value), (error) => hasCode(error, "bad_task"));
  }
});
