import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import type { TraceRecord } from "../episode/trace.ts";
import { exampleTrace, LOST, WON } from "./_example_trace.ts";
import { type CaseCounts, caseCounts, EFFICIENCY_PARTS } from "./case_counts.ts";
import { addCase, emptyTotals, metricsOf } from "./metrics.ts";

// With WON, five actions of which one is rejected: an invalid action rate of 1/5.
const LOST_IN_THREE = exampleTrace({
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
  const slow = exampleTrace({
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
