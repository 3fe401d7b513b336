import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { ACTION_SCHEMA, type ActionRecord, keyOf } from "../store/action_record.ts";
import type { RecordedAction } from "../store/action_cache.ts";
import { DAG_SCHEMA, type DagManifest } from "../store/manifest.ts";
import { explain, renderExplanation } from "./explain.ts";

function action(
  change: { stage?: string; code?: string; params?: ActionRecord["params"]; train?: string } = {},
): ActionRecord {
  const { stage = "bc", code = "code", params = { rate: 0.5, seed: 17 }, train = "train" } = change;
  return {
    schema: ACTION_SCHEMA,
    stage: { name: stage, version: 1, code: digestOf(code) },
    numerics: ["n"],
    params,
    inputs: { train: digestOf(train) },
  };
}

function recorded(record: ActionRecord, at: number, output = `output ${keyOf(record)}`): RecordedAction {
  const outputs = {
    checkpoint: { digest: digestOf(output), size: 7, media_type: "application/octet-stream" },
  };
  return { key: keyOf(record), action: record, outputs, recorded: at };
}

function dagOf(...nodes: [id: string, record: ActionRecord][]): DagManifest {
  return {
    schema: DAG_SCHEMA,
    config: digestOf("{}"),
    numerics: ["n"],
    nodes: nodes.map(([id, record]) => ({
      id,
      key: keyOf(record),
      stage: record.stage,
      params: record.params,
      inputs: { train: { digest: record.inputs["train"]!, producer: "source" } },
      outputs: {},
    })),
    roots: [],
    views: {},
  };
}

Deno.test("explain() says that nothing was recorded before", () => {
  const one = recorded(action(), 5);
  const explanation = explain("bc", { actions: [one, recorded(action({ stage: "ppo" }), 1)] });
  equal(explanation.key, one.key);
  equal(explanation.nearest, undefined);
  ok(renderExplanation(explanation).includes("nothing of this stage had been recorded before"));
});

Deno.test("explain() compares with the earlier action that differs in the fewest fields", () => {
  const far = recorded(action({ code: "old", params: { rate: 0.1, seed: 1 } }), 1);
  const near = recorded(action({ params: { rate: 0.1, seed: 17 } }), 2);
  const later = recorded(action({ params: { rate: 0.5, seed: 17 }, train: "train", code: "newer" }), 9);
  const here = recorded(action(), 5);
  const explanation = explain(here.key, { actions: [far, near, later, here] });
  deepEqual(explanation.nearest, {
    key: near.key,
    differences: [{ field: "params.rate", earlier: "0.1", here: "0.5" }],
  });
  const text = renderExplanation(explanation);
  ok(text.includes("1 field differs"));
  ok(text.includes("params.rate: 0.1 -> 0.5"));
});

Deno.test("explain() shows fields that only one of the two has, and changed code and inputs", () => {
  const before = recorded(
    action({ params: { seed: 17, old: [1, { x: 2 }] }, code: "old", train: "other" }),
    1,
  );
  const here = recorded(action(), 2);
  deepEqual(explain(here.key, { actions: [before, here] }).nearest?.differences, [
    { field: "inputs.train", earlier: `"${digestOf("other")}"`, here: `"${digestOf("train")}"` },
    { field: "params.old.0", earlier: "1", here: undefined },
    { field: "params.old.1.x", earlier: "2", here: undefined },
    { field: "params.rate", earlier: undefined, here: "0.5" },
    { field: "stage.code", earlier: `"${digestOf("old")}"`, here: `"${digestOf("code")}"` },
  ]);
});

Deno.test("explain() understands node ids, stage names, keys and outputs, in this order", () => {
  const seventeen = recorded(action(), 1);
  const eighteen = recorded(action({ params: { rate: 0.5, seed: 18 } }), 2);
  const old = recorded(action({ code: "old" }), 0);
  const actions = [old, seventeen, eighteen];
  const dag = dagOf(["bc/17", seventeen.action], ["bc/18", eighteen.action]);
  equal(explain("bc/18", { actions, dag }).key, eighteen.key);
  deepEqual(explain("bc/18", { actions, dag }).nodes, ["bc/18"]);
  equal(explain("bc", { actions, dag: dagOf(["bc/17", seventeen.action]) }).key, seventeen.key);
  equal(explain(old.key.slice(7, 20), { actions, dag }).key, old.key);
  equal(explain(old.outputs["checkpoint"]!.digest, { actions, dag }).key, old.key);
  throws(() => explain("bc", { actions, dag }), (error) => {
    ok(hasCode(error, "ambiguous_reference"));
    deepEqual(error.details.actual, ["bc/17", "bc/18"]);
    return true;
  });
});

Deno.test("explain() prefers the run at hand where an output was made by several actions", () => {
  const old = recorded(action({ code: "old" }), 1, "same bytes");
  const here = recorded(action(), 2, "same bytes");
  const actions = [old, here];
  const reference = digestOf("same bytes");
  equal(explain(reference, { actions, dag: dagOf(["bc/17", here.action]) }).key, here.key);
  throws(() => explain(reference, { actions }), (error) => hasCode(error, "ambiguous_reference"));
});

Deno.test("explain() explains a node that this store has not run", () => {
  const before = recorded(action({ code: "old" }), 7);
  const explanation = explain("bc/17", { actions: [before], dag: dagOf(["bc/17", action()]) });
  equal(explanation.outputs, undefined);
  equal(explanation.nearest?.key, before.key);
  ok(renderExplanation(explanation).includes("It has to run because its key was new"));
});

Deno.test("explain() refuses what it cannot find", () => {
  for (const reference of ["ppo", "0000", "", "abc"]) {
    throws(
      () => explain(reference, { actions: [recorded(action(), 1)] }),
      (error) => hasCode(error, "reference_not_found"),
    );
  }
});

Deno.test("renderExplanation() prints every field of the key", () => {
  const here = recorded(action(), 1);
  const text = renderExplanation(explain("bc", { actions: [here], dag: dagOf(["bc/17", here.action]) }));
  for (
    const part of ["bc, version 1", "bc/17", here.key, digestOf("code"), "0.5", digestOf("train"), "7 bytes"]
  ) {
    ok(text.includes(part), part);
  }
});
