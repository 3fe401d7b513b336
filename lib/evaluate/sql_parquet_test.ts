import assert from "node:assert/strict";
import { DuckDBInstance } from "@duckdb/node-api";
import { canonicalJson, type Json } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import { sha256Hex } from "../core/digest.ts";
import { exportParquet } from "./sql_parquet.ts";

const folder = Deno.makeTempDirSync();
Deno.test.afterAll(() => Deno.removeSync(folder, { recursive: true }));

/** A compact trace of one step, canonical. */
function trace(caseId: string, change: { readonly [field: string]: unknown } = {}): string {
  const record = {
    action_evaluations: [],
    case_id: caseId,
    credit_assignment: "action",
    difficulty: "short",
    executed_actions: [{
      accepted: true,
      candidate_index: 5,
      executed_valid: true,
      policy_input_sha256: "0".repeat(64),
      step_index: 0,
    }],
    family: "one",
    final_state: { status: "pending", version: 2 },
    forbidden_side_effect_count: 0,
    goal_predicates_satisfied: true,
    max_steps: 10,
    optimal_steps: 1,
    schema: "tracewright.trace.v1",
    simulated_latency_s: 4.464,
    step_count: 1,
    steps: [{
      action: { arguments: { entity_id: "e", note: "it's" }, call_id: "v0", tool_name: "pay" },
      action_index: 5,
      action_mask: [false, true],
      candidate_count: 2,
      candidates_sha256: "1".repeat(64),
      done: true,
      info: {
        case_id: caseId,
        idempotent_replay: false,
        node_id: null,
        policy_input_sha256: "0".repeat(64),
        progress_potential: null,
        state_version: 1,
        timed_out: false,
        total_simulated_latency_s: 4.464,
      },
      invalid_kind: null,
      log_prob: -0.30000000000000004,
      predicted_valid: true,
      reward: 0.99,
      reward_components: { forbidden: 0, invalid: 0, progress: 0, step: -0.01, task: 1 },
      step_index: 0,
      trajectory_id: caseId,
      valid_label: true,
      value: 5e-324,
    }],
    success: true,
    trace_mode: "compact",
    ...change,
  };
  return canonicalJson(record as unknown as Json);
}

const RUNS = [
  { variant: "B", seed: 17, lines: [trace("b"), trace("a")] },
  { variant: "E", seed: 4_294_967_295, lines: [trace("b", { success: false })] },
];

async function rowsOf(path: string, select: string) {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  try {
    const reader = await connection.runAndReadAll(`SELECT ${select} FROM '${path}'`);
    return reader.getRowObjectsJS();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

Deno.test("exportParquet() writes a row a case, in the given order, with numbers to the last bit", async () => {
  const output = `${folder}/traces.parquet`;
  assert.deepEqual(await exportParquet({ runs: RUNS, output }), { rows: 3 });
  assert.deepEqual(await rowsOf(output, "variant, seed, case_id, success, simulated_latency_s"), [
    { variant: "B", seed: 17n, case_id: "b", success: true, simulated_latency_s: 4.464 },
    { variant: "B", seed: 17n, case_id: "a", success: true, simulated_latency_s: 4.464 },
    { variant: "E", seed: 4_294_967_295n, case_id: "b", success: false, simulated_latency_s: 4.464 },
  ]);
  const step = `steps[1].action.tool_name AS tool, steps[1].action.arguments AS arguments,
    steps[1].action_mask AS mask, steps[1].log_prob AS log_prob, steps[1].value AS value,
    steps[1].info.node_id AS node, executed_actions[1].candidate_index AS chosen, final_state`;
  assert.deepEqual((await rowsOf(output, step))[0], {
    tool: "pay",
    arguments: `{"entity_id":"e","note":"it's"}`,
    mask: [false, true],
    log_prob: -0.30000000000000004,
    value: 5e-324,
    node: null,
    chosen: 5,
    final_state: '{"status":"pending","version":2}',
  });
});

Deno.test("exportParquet() gives the same bytes twice and leaves nothing else behind", async () => {
  const inside = `${folder}/it's a folder`;
  Deno.mkdirSync(inside);
  const [one, two] = [`${inside}/one.parquet`, `${inside}/two.parquet`];
  await exportParquet({ runs: RUNS, output: one });
  Deno.writeTextFileSync(two, "an older file");
  await exportParquet({ runs: RUNS, output: two });
  assert.equal(sha256Hex(Deno.readFileSync(one)), sha256Hex(Deno.readFileSync(two)));
  assert.deepEqual([...Deno.readDirSync(inside)].map(({ name }) => name).sort(), [
    "one.parquet",
    "two.parquet",
  ]);
});

Deno.test("exportParquet() names a line that is no compact trace, and keeps the older file", async () => {
  const output = `${folder}/kept.parquet`;
  Deno.writeTextFileSync(output, "an older file");
  for (const line of ["{}", "[", trace("c", { steps: 3 }), trace("c", { success: "perhaps" })]) {
    await assert.rejects(
      exportParquet({ runs: [{ variant: "E", seed: 17, lines: [trace("a"), line] }], output }),
      (error) => {
        assert.ok(hasCode(error, "sql_trace_schema"), String(error));
        assert.deepEqual([error.details["variant"], error.details["line"]], ["E", 2]);
        return true;
      },
    );
  }
  assert.equal(Deno.readTextFileSync(output), "an older file");
  assert.equal([...Deno.readDirSync(folder)].some(({ name }) => name.endsWith(".partial")), false);
});

Deno.test({
  name: "exportParquet() asks Deno, which cannot stop a native library, whether it may write",
  permissions: { read: true, ffi: true, write: [`${folder}/elsewhere`] },
  fn: async () => {
    const output = `${folder}/forbidden.parquet`;
    await assert.rejects(
      exportParquet({ runs: RUNS, output }),
      (error) => hasCode(error, "sql_not_writable"),
    );
    assert.throws(() => Deno.statSync(output), Deno.errors.NotFound);
  },
});
