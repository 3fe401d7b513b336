import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import type { TraceRecord } from "../episode/trace.ts";
import { exampleTrace, LOST, WON } from "./_example_trace.ts";
import { caseCounts, EFFICIENCY_PARTS } from "./case_counts.ts";

Deno.test("caseCounts() keeps step efficiency exact for every length up to 19", () => {
  for (let steps = 1; steps <= 19; steps++) {
    assert.equal(EFFICIENCY_PARTS % steps, 0);
    for (let optimal = 1; optimal <= 19; optimal++) {
      const record = exampleTrace({
        case_id: "c",
        family: "f",
        success: true,
        valid: Array(steps).fill(true),
        seconds: 1,
        forbidden: 0,
        optimal,
      });
      const parts = caseCounts(record, 1000).efficiency;
      assert.equal(parts * Math.max(steps, optimal), optimal * EFFICIENCY_PARTS);
    }
  }
});

Deno.test("caseCounts() refuses missing, mistyped and contradictory evidence", () => {
  const broken: [Partial<Record<keyof TraceRecord, unknown>>, string][] = [
    [{ simulated_latency_s: undefined }, "simulated_latency_s"],
    [{ simulated_latency_s: Infinity }, "simulated_latency_s"],
    [{ simulated_latency_s: -1 }, "simulated_latency_s"],
    [{ simulated_latency_s: 0.0005 }, "simulated_latency_s"],
    [{ success: 1 }, "success"],
    [{ step_count: 3 }, "step_count"],
    [{ step_count: true }, "step_count"],
    [{ optimal_steps: 0 }, "optimal_steps"],
    [{ optimal_steps: 20 }, "step_count"],
    [{ executed_actions: [] }, "executed_actions"],
    [{ forbidden_side_effect_count: -1 }, "forbidden_side_effect_count"],
    [{ case_id: "" }, "case_id"],
    [{ family: 3 }, "family"],
    [{ executed_actions: [{ executed_valid: 1 }, { executed_valid: true }] }, "executed_valid"],
  ];
  for (const [change, field] of broken) {
    assert.throws(
      () => caseCounts({ ...WON, ...change } as TraceRecord, 30_000),
      (error) => hasCode(error, "trace_schema") && error.details["field"] === field,
      JSON.stringify(change),
    );
  }
});

Deno.test("caseCounts() refuses what is no record at all", () => {
  for (const value of [null, 3, "trace", [], {}]) {
    assert.throws(
      () => caseCounts(value as unknown as TraceRecord, 30_000),
      (error) => hasCode(error, "trace_schema"),
    );
  }
  const hollow = { ...WON, executed_actions: [null, { executed_valid: true }] } as unknown as TraceRecord;
  assert.throws(() => caseCounts(hollow, 30_000), (error) => hasCode(error, "trace_schema"));
});

Deno.test("caseCounts() counts a success by its time, at most the timeout, and a failure by the timeout", () => {
  const { successMs, costMs, efficiency, executedInvalid } = caseCounts(WON, 30_000);
  assert.deepEqual([successMs, costMs, efficiency, executedInvalid], [10_000, 10_000, EFFICIENCY_PARTS, 0]);
  assert.equal(caseCounts(WON, 8_000).costMs, 8_000);
  const lost = caseCounts(LOST, 30_000);
  assert.deepEqual([lost.successMs, lost.costMs, lost.efficiency, lost.forbidden], [0, 30_000, 0, 1]);
  assert.deepEqual([lost.steps, lost.executed, lost.executedInvalid], [4, 4, 1]);
});
