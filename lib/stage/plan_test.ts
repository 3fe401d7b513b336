import { deepEqual, equal, throws } from "node:assert/strict";
import fc from "fast-check";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import type { StoreCode } from "../store/store_error.ts";
import { count, double, fixturePlan, total } from "./_fixture_stages.ts";
import { buildAction } from "./action_key.ts";
import { checkPlan, type ExperimentPlan, type PlanNode, planNode } from "./plan.ts";
import type { StageCode } from "./stage_error.ts";

const PLAN = fixturePlan();

function refuses(plan: ExperimentPlan, code: StageCode | StoreCode): void {
  throws(() => checkPlan(plan), (error) => hasCode(error, code));
}

/** The fixture with one node changed. */
function edited(id: string, change: Partial<PlanNode>): ExperimentPlan {
  return { ...PLAN, nodes: PLAN.nodes.map((node) => node.id === id ? { ...node, ...change } : node) };
}

Deno.test("checkPlan() puts nodes in one topological order, however the plan was written down", () => {
  const order = ["count", "double/0", "double/1", "double/2", "total"];
  fc.assert(fc.property(fc.shuffledSubarray([...PLAN.nodes], { minLength: 5 }), (nodes) => {
    deepEqual(checkPlan({ ...PLAN, nodes }).nodes.map(({ id }) => id), order);
  }));
});

Deno.test("checkPlan() takes the smallest id of the nodes that are ready", () => {
  const source = { source: PLAN.config };
  const node = (id: string) => planNode(count, { id, params: { upTo: 1 }, inputs: { config: source } });
  const follow = (id: string, of: string) =>
    planNode(double, { id, params: {}, inputs: { numbers: { node: of, output: "numbers" } } });
  const nodes = [follow("a", "z"), node("z"), node("m"), follow("b", "m"), follow("c", "b")];
  deepEqual(checkPlan({ config: PLAN.config, nodes }).nodes.map(({ id }) => id), ["m", "b", "c", "z", "a"]);
});

Deno.test("checkPlan() takes the nodes that nobody reads for roots", () => {
  deepEqual(checkPlan(PLAN).roots, ["total"]);
  deepEqual(checkPlan({ ...PLAN, roots: ["total", "count", "total"] }).roots, ["count", "total"]);
  refuses({ ...PLAN, roots: ["nobody"] }, "unknown_node");
});

Deno.test("checkPlan() fills in the parameters' defaults", () => {
  const plan = checkPlan(edited("double/0", { params: {} }));
  deepEqual(plan.nodes.find(({ id }) => id === "double/0")?.params, { add: 0 });
});

Deno.test("checkPlan() refuses plans that do not hold together", () => {
  const numbers = (node: string, output: string) => ({ inputs: { numbers: { node, output } } });
  refuses({ ...PLAN, nodes: [...PLAN.nodes, PLAN.nodes[0]!] }, "duplicate_node");
  refuses(edited("double/0", numbers("nobody", "numbers")), "unknown_node");
  refuses(edited("double/0", numbers("count", "letters")), "unknown_output");
  refuses(edited("double/0", numbers("count", "toString")), "unknown_output");
  refuses(edited("double/0", { inputs: {} }), "missing_input");
  refuses(edited("total", { inputs: {} }), "missing_input");
  refuses(edited("double/0", { inputs: { letters: { source: PLAN.config } } }), "unknown_input");
  refuses(edited("double/0", numbers("total", "sum")), "media_type_mismatch");
  refuses(edited("double/0", numbers("double/0", "numbers")), "cycle");
  refuses(edited("double/0", { params: { add: 0.5 } }), "bad_params");
  refuses(edited("count", { id: "../count" }), "path_not_allowed");
  refuses(edited("count", { id: "config" }), "bad_plan");
  refuses(edited("count", { id: "source/x" }), "bad_plan");
  refuses(edited("double/0", { stage: { ...double } }), "bad_plan");
});

Deno.test("checkPlan() names the nodes of a cycle", () => {
  const loop = (id: string, of: string) =>
    planNode(double, { id, params: {}, inputs: { numbers: { node: of, output: "numbers" } } });
  throws(
    () => checkPlan({ ...PLAN, nodes: [...PLAN.nodes, loop("x", "y"), loop("y", "x")] }),
    (error) => {
      equal(hasCode(error, "cycle"), true);
      deepEqual((error as { details: { actual: unknown } }).details.actual, ["x", "y"]);
      return true;
    },
  );
});

Deno.test("checkPlan() refuses views of nothing, of one path, and below each other", () => {
  const view = (path: string, node = "total", output = "sum") => ({ path, node, output });
  refuses({ ...PLAN, views: [view("a", "nobody")] }, "unknown_node");
  refuses({ ...PLAN, views: [view("a", "total", "other")] }, "unknown_output");
  refuses({ ...PLAN, views: [view("a"), view("a")] }, "bad_plan");
  refuses({ ...PLAN, views: [view("a"), view("a/b")] }, "bad_plan");
  refuses({ ...PLAN, views: [view("sum.html")] }, "bad_plan");
  refuses({ ...PLAN, views: [view("/etc/x")] }, "path_not_allowed");
});

Deno.test("planNode() checks parameters, and its input names and types are checked by the compiler", () => {
  throws(
    () => planNode(count, { id: "c", params: { upTo: 0 }, inputs: { config: { source: PLAN.config } } }),
    (error) => hasCode(error, "bad_params"),
  );
  // @ts-expect-error a parameter is missing
  throws(() => planNode(count, { id: "c", params: {}, inputs: { config: { source: PLAN.config } } }));
  // @ts-expect-error an input is missing
  planNode(count, { id: "c", params: { upTo: 1 }, inputs: {} });
  // @ts-expect-error an input has another name
  planNode(total, { id: "t", params: {}, inputs: { pieces: { source: PLAN.config } } });
});

Deno.test("buildAction() holds everything that decides the outputs, with numerics sorted and unique", () => {
  const inputs = { numbers: digestOf("in") };
  const action = buildAction({
    stage: double,
    code: digestOf("code"),
    numerics: ["b", "a", "b"],
    params: { add: 1 },
    inputs,
  });
  deepEqual(action, {
    schema: "tracewright.action.v1",
    stage: { name: "double", version: 3, code: digestOf("code") },
    numerics: ["a", "b"],
    params: { add: 1 },
    inputs,
  });
});
