import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import type { TraceRecord } from "../episode/trace.ts";
import { type CaseCounts, caseCounts, EFFICIENCY_PARTS } from "./case_counts.ts";
import { addCase, emptyTotals, metricsOf } from "./metrics.ts";

function trace(fields: {
  readonly case_id: string;
  readonly family: string;
  readonly success: boolean;
  readonly valid: readonly boolean[];
  readonly seconds: number;
  readonly forbidden: number;
  readonly optimal: number;
}): TraceRecord {
  const executed_actions = fields.valid.map((executed_valid, step_index) => ({
    step_index,
    candidate_index: 0,
    policy_input_sha256: "0".repeat(64),
    executed_valid,
    accepted: executed_valid,
  }));
  return {
    case_id: fields.case_id,
    family: fields.family,
    success: fields.success,
    optimal_steps: fields.optimal,
    step_count: fields.valid.length,
    steps: executed_actions,
    executed_actions,
    forbidden_side_effect_count: fields.forbidden,
    simulated_latency_s: fields.seconds,
  } as unknown as TraceRecord;
}

const WON = trace({
  case_id: "a",
  family: "one",
  success: true,
  valid: [true, true],
  seconds: 10,
  forbidden: 0,
  optimal: 2,
});
const LOST = trace({
  case_id: "b",
  family: "two",
  success: false,
  valid: [true, true, true, false],
  seconds: 5,
  forbidden: 1,
  optimal: 2,
});

// With WON, five actions of which one is rejected: an invalid action rate of 1/5.
const LOST_IN_THREE = trace({
  case_id: "b",
  family: "two",
  success: false,
  valid: [true, true, false],
  seconds: 5,
  forbidden: 1,
  optimal: 2,
});

function measure(traces: readonly TraceRecord[], timeoutMs: number) {
  const totals = emptyTotals();
  for (const record of traces) addCase(totals, caseCounts(record, timeoutMs));
  return metricsOf(totals);
}

Deno.test("metricsOf() gives the hand-computed values of a success and a failure", () => {
  const metrics = measure([WON, LOST_IN_THREE], 30_000);
  assert.equal(metrics.tsr.value, 0.5);
  assert.equal(metrics.macro_tsr.value, 0.5);
  assert.equal(metrics.invalid_action_rate.value, 0.2);
  assert.equal(metrics.forbidden_side_effect_rate.value, 0.5);
  assert.equal(metrics.steps_efficiency.value, 0.5);
  assert.equal(metrics.mean_steps.value, 2.5);
  assert.equal(metrics.successful_conditional_simulated_service_time_s?.value, 10);
  assert.equal(metrics.timeout_penalized_simulated_cost_s.value, 20); // (10 + 30) / 2
  assert.equal(measure([WON, LOST], 30_000).mean_steps.value, 3);
});

Deno.test("metricsOf() caps the cost of a slow success at the timeout but not its conditional time", () => {
  const slow = trace({
    case_id: "c",
    family: "one",
    success: true,
    valid: [true],
    seconds: 50.5,
    forbidden: 0,
    optimal: 1,
  });
  const metrics = measure([slow], 30_000);
  assert.equal(metrics.timeout_penalized_simulated_cost_s.value, 30);
  assert.equal(metrics.successful_conditional_simulated_service_time_s?.value, 50.5);
});

Deno.test("metricsOf() has no conditional time without a success, and refuses an empty set", () => {
  assert.equal(measure([LOST], 30_000).successful_conditional_simulated_service_time_s, null);
  assert.throws(() => metricsOf(emptyTotals()), (error) => hasCode(error, "no_cases"));
});

Deno.test("caseCounts() keeps step efficiency exact for every length up to 19", () => {
  for (let steps = 1; steps <= 19; steps++) {
    assert.equal(EFFICIENCY_PARTS % steps, 0);
    for (let optimal = 1; optimal <= 19; optimal++) {
      const record = trace({
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

Deno.test("metricsOf() does not depend on the order of traces", () => {
  const counts = fc.record({
    case_id: fc.string({ minLength: 1 }),
    family: fc.constantFrom("one", "two", "three"),
    success: fc.constantFrom<0 | 1>(0, 1),
    forbidden: fc.constantFrom<0 | 1>(0, 1),
    steps: fc.integer({ min: 1, max: 19 }),
    executed: fc.integer({ min: 1, max: 19 }),
    executedInvalid: fc.constant(0),
    efficiency: fc.integer({ min: 0, max: EFFICIENCY_PARTS }),
    successMs: fc.integer({ min: 0, max: 30_000 }),
    costMs: fc.integer({ min: 0, max: 30_000 }),
  });
  fc.assert(fc.property(fc.array(counts, { minLength: 1, maxLength: 30 }), (rows: CaseCounts[]) => {
    const [forward, backward] = [emptyTotals(), emptyTotals()];
    for (const row of rows) addCase(forward, row);
    for (const row of rows.toReversed()) addCase(backward, row);
    assert.deepEqual(metricsOf(forward), metricsOf(backward));
  }));
});
