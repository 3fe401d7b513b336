import assert from "node:assert/strict";
import { z } from "zod";
import { digestOf } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { type Codes, CODES_SCHEMA } from "../stage/codes.ts";
import { defineStage } from "../stage/define_stage.ts";
import { type ExperimentPlan, planNode } from "../stage/plan.ts";
import { type ActionKey, keyOf } from "../store/action_record.ts";
import { actionOf, DAG_SCHEMA, type DagManifest, type DagNode } from "../store/manifest.ts";
import { checkKeys, checkSizes, compareWithPlan } from "./check_plan.ts";

const TEXT = { media_type: "text/plain" };
const NUMERICS = ["exact-f64-v1", "f32-wasm-v1"];
const CONFIG = digestOf("config");

const make = defineStage({
  name: "make",
  version: 1,
  params: z.strictObject({ seed: z.int() }),
  inputs: {},
  outputs: { "a.txt": TEXT, "b.txt": TEXT },
  run() {},
});
const join = defineStage({
  name: "join",
  version: 3,
  params: z.strictObject({}),
  inputs: { config: TEXT, left: TEXT, right: TEXT },
  outputs: { "c.txt": TEXT },
  run() {},
});

const PLAN: ExperimentPlan = {
  config: CONFIG,
  nodes: [
    planNode(make, { id: "make/1", params: { seed: 1 }, inputs: {} }),
    planNode(make, { id: "make/2", params: { seed: 2 }, inputs: {} }),
    planNode(join, {
      id: "join",
      params: {},
      inputs: {
        config: { source: CONFIG },
        left: { node: "make/1", output: "a.txt" },
        right: { node: "make/2", output: "b.txt" },
      },
    }),
  ],
  views: [{ path: "c.txt", node: "join", output: "c.txt" }],
  uncoveredViews: ["page.html"],
};
const CODES: Codes = {
  schema: CODES_SCHEMA,
  stages: {
    make: { code: digestOf("make 1"), files: [], packages: [] },
    join: { code: digestOf("join 1"), files: [], packages: [] },
  },
};

type Draft<T> = T extends string | number | null ? T : { -readonly [K in keyof T]: Draft<T[K]> };
type DraftNode = Draft<Omit<DagNode, "params">> & { params: Record<string, number> };
type DraftDag = Draft<Omit<DagManifest, "nodes">> & { nodes: DraftNode[] };

/** What running the plan would have recorded, changed before its keys are computed. */
function recorded(change: (dag: DraftDag) => void = () => {}): DagManifest {
  const output = (title: string) => ({ digest: digestOf(title), size: title.length, ...TEXT });
  const from = (producer: string, name: string) => ({ digest: digestOf(`${producer}/${name}`), producer });
  const made = (seed: number): DraftNode => ({
    id: `make/${seed}`,
    key: "" as ActionKey,
    stage: { name: "make", version: 1, code: digestOf("make 1") },
    params: { seed },
    inputs: {},
    outputs: { "a.txt": output(`make/${seed}/a.txt`), "b.txt": output(`make/${seed}/b.txt`) },
  });
  const dag: DraftDag = {
    schema: DAG_SCHEMA,
    config: CONFIG,
    numerics: [...NUMERICS],
    nodes: [made(1), made(2), {
      id: "join",
      key: "" as ActionKey,
      stage: { name: "join", version: 3, code: digestOf("join 1") },
      params: {},
      inputs: {
        config: { digest: CONFIG, producer: "config" },
        left: from("make/1", "a.txt"),
        right: from("make/2", "b.txt"),
      },
      outputs: { "c.txt": output("join/c.txt") },
    }],
    roots: ["join"],
    views: { "c.txt": digestOf("join/c.txt"), "page.html": null },
  };
  change(dag);
  for (const node of dag.nodes) node.key = keyOf(actionOf(node as DagNode, dag.numerics));
  return dag as DagManifest;
}

function refused(work: () => unknown, code: string, place: { readonly [detail: string]: unknown }): void {
  assert.throws(work, (error) => {
    assert.ok(error instanceof TracewrightError, String(error));
    assert.equal(error.code, code);
    for (const [name, value] of Object.entries(place)) assert.deepEqual(error.details[name], value, name);
    return true;
  });
}

Deno.test("compareWithPlan() accepts what running the plan would have recorded", () => {
  compareWithPlan(recorded(), PLAN);
});

Deno.test("compareWithPlan() names the node and the first field that differs, names before digests", () => {
  const differs = (change: (dag: DraftDag) => void, place: { readonly [detail: string]: unknown }) =>
    refused(() => compareWithPlan(recorded(change), PLAN), "plan_mismatch", place);
  differs(({ nodes: [first] }) => first!.params["seed"] = 3, {
    node: "make/1",
    field: "params.seed",
    expected: 1,
    actual: 3,
  });
  differs(({ nodes: [, , last] }) => last!.stage.version = 4, {
    node: "join",
    field: "stage.version",
    expected: 3,
    actual: 4,
  });
  differs(
    ({ nodes: [, , last] }) =>
      last!.inputs["left"] = { digest: digestOf("make/2/a.txt"), producer: "make/2" },
    {
      node: "join",
      field: "inputs.left.producer",
      expected: "make/1",
      actual: "make/2",
    },
  );
  differs(({ nodes: [, , last] }) => last!.inputs["left"]!.digest = digestOf("make/1/b.txt"), {
    node: "join",
    field: "inputs.left.digest",
    expected: digestOf("make/1/a.txt"),
    actual: digestOf("make/1/b.txt"),
  });
  differs(({ nodes: [, , last] }) => last!.outputs["c.txt"]!.media_type = "text/html", {
    node: "join",
    field: "outputs.c.txt.media_type",
  });
  differs(({ nodes: [, , last] }) => delete last!.inputs["right"], {
    node: "join",
    field: "inputs.right",
    actual: undefined,
  });
});

Deno.test("compareWithPlan() finds nodes missing, added and moved, and other roots and views", () => {
  const differs = (change: (dag: DraftDag) => void, place: { readonly [detail: string]: unknown }) =>
    refused(() => compareWithPlan(recorded(change), PLAN), "plan_mismatch", place);
  differs(({ nodes }) => nodes.splice(1, 1), { node: "make/2", expected: "make/2", actual: null });
  differs(({ nodes }) => nodes.push({ ...structuredClone(nodes[0]!), id: "make/3" }), {
    node: "make/3",
    expected: null,
    actual: "make/3",
  });
  differs(({ nodes }) => nodes.unshift(...nodes.splice(1, 1)), { field: "order.0" });
  differs((dag) => dag.roots = ["join", "make/1"], { field: "roots.1", expected: undefined });
  differs(({ views }) => views["c.txt"] = digestOf("make/1/a.txt"), { field: "views.c.txt" });
  differs(({ views }) => delete views["page.html"], { field: "views.page.html", expected: null });
});

Deno.test("checkSizes() finds an output whose size is not that of its content", () => {
  const layers = [...new Map(
    recorded().nodes.flatMap(({ outputs }) => Object.values(outputs)).map((each) => [each.digest, each]),
  ).values()].map(({ digest, size }) => ({ digest, size, mediaType: "text/plain", title: "t" }));
  checkSizes({ dag: recorded(), layers });
  const dag = recorded(({ nodes: [, second] }) => second!.outputs["b.txt"]!.size = 1);
  refused(() => checkSizes({ dag, layers }), "size_mismatch", {
    node: "make/2",
    output: "b.txt",
    expected: "make/2/b.txt".length,
    actual: 1,
  });
});

const keys = (dag: DagManifest, onOtherCode: "refuse" | "report" = "refuse") =>
  checkKeys(dag, { codes: CODES, numerics: NUMERICS.toReversed(), onOtherCode });

Deno.test("checkKeys() accepts keys that recompute, by the code and arithmetic at hand", () => {
  assert.deepEqual(keys(recorded()), { otherCode: [] });
});

Deno.test("checkKeys() refuses a forged key and other arithmetic, even where names read alike", () => {
  const forged = recorded();
  refused(
    () => keys({ ...forged, nodes: forged.nodes.map((node) => ({ ...node, key: forged.nodes[0]!.key })) }),
    "action_key_mismatch",
    { node: "make/2", expected: forged.nodes[1]!.key, actual: forged.nodes[0]!.key },
  );
  for (const numerics of [["exact-f64-v1"], ["exact-f64-v1,f32-wasm-v1"], [...NUMERICS, "z"]]) {
    refused(() => keys(recorded((dag) => dag.numerics = numerics)), "numerics_mismatch", {
      actual: numerics,
    });
  }
});

Deno.test("checkKeys() refuses other code, or names it where it may go on", () => {
  const dag = recorded(({ nodes: [first] }) => first!.stage.code = digestOf("make 0"));
  refused(() => keys(dag), "code_version_mismatch", {
    node: "make/1",
    stage: "make",
    expected: digestOf("make 1"),
    actual: digestOf("make 0"),
  });
  assert.deepEqual(keys(dag, "report"), { otherCode: ["make"] });
});
