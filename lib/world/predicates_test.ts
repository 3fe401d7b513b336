import assert from "node:assert/strict";
import type { Json } from "../core/canonical_json.ts";
import type { StatePredicate } from "./contracts.ts";
import { exampleTask } from "./_example_task.ts";
import { predicateHolds } from "./predicates.ts";

const state = {
  ...exampleTask().initial_state,
  completed_nodes: ["a", "b"],
  note: "urgent case",
  box: { depth: { count: 3 }, list: [{ x: 1 }, [2]] },
};

function holds(path: string, operator: StatePredicate["operator"], value: Json): boolean {
  return predicateHolds({ path, operator, value }, state);
}

Deno.test("predicateHolds() compares deeply for eq and ne", () => {
  assert.equal(holds("status", "eq", "pending"), true);
  assert.equal(holds("box", "eq", { list: [{ x: 1 }, [2]], depth: { count: 3 } }), true);
  assert.equal(holds("box.list", "eq", [{ x: 1 }, [3]]), false);
  assert.equal(holds("box.list", "eq", [{ x: 1 }]), false);
  assert.equal(holds("box.depth", "eq", { count: 3, more: 1 }), false);
  assert.equal(holds("box.depth", "eq", [3]), false);
  assert.equal(holds("version", "eq", "0"), false);
  assert.equal(holds("status", "ne", "completed"), true);
});

Deno.test("predicateHolds() takes a missing part of a path for null", () => {
  assert.equal(holds("none", "eq", null), true);
  assert.equal(holds("status.length", "eq", null), true);
  assert.equal(holds("box.toString", "eq", null), true);
  assert.equal(holds("box.depth.none.more", "ne", null), false);
});

Deno.test("predicateHolds() looks into lists, texts and maps for contains, into lists for contains_all", () => {
  assert.equal(holds("completed_nodes", "contains", "b"), true);
  assert.equal(holds("box.list", "contains", [2]), true);
  assert.equal(holds("note", "contains", "gent"), true);
  assert.equal(holds("note", "contains", 3), false);
  assert.equal(holds("box", "contains", "depth"), true);
  assert.equal(holds("box", "contains", "toString"), false);
  assert.equal(holds("version", "contains", 0), false);
  assert.equal(holds("completed_nodes", "contains_all", ["b", "a"]), true);
  assert.equal(holds("completed_nodes", "contains_all", ["a", "c"]), false);
  assert.equal(holds("completed_nodes", "contains_all", []), true);
  assert.equal(holds("completed_nodes", "contains_all", "a"), false);
  assert.equal(holds("note", "contains_all", ["u"]), false);
});

Deno.test("predicateHolds() orders numbers only", () => {
  assert.equal(holds("box.depth.count", "gte", 3), true);
  assert.equal(holds("box.depth.count", "gte", 4), false);
  assert.equal(holds("box.depth.count", "lte", 3), true);
  assert.equal(holds("box.depth.count", "lte", 2), false);
  assert.equal(holds("status", "gte", 0), false);
  assert.equal(holds("box.depth.count", "lte", "9"), false);
});
