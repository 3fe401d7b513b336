import type { TraceRecord } from "../episode/trace.ts";
import { evaluateError } from "./_error.ts";

/**
 * lcm(1..19): every step efficiency optimal / steps with at most 19 steps is a whole number of this many parts. Every v1.3
 * budget is at most 19.
 */
export const EFFICIENCY_PARTS = 232_792_560;

/** The longest budget for which step efficiency stays exact. */
export const MAX_EXACT_STEPS = 19;

/** The whole numbers that one trace contributes to the metrics. Sums of these are all that metrics are made of. */
export interface CaseCounts {
  readonly case_id: string;
  readonly family: string;
  readonly success: 0 | 1;
  readonly forbidden: 0 | 1;
  readonly steps: number;
  readonly executed: number;
  readonly executedInvalid: number;
  /** Step efficiency in parts of {@link EFFICIENCY_PARTS}. */
  readonly efficiency: number;
  /** Simulated service time of a success in ms; 0 for a failure. */
  readonly successMs: number;
  /** min(time, timeout) of a success, the timeout of a failure; ms. */
  readonly costMs: number;
}

function bad(
  record: { readonly case_id?: unknown },
  field: string,
  expected: string,
  actual: unknown,
): never {
  throw evaluateError("trace_schema", {
    case: record.case_id,
    field,
    expected,
    actual,
  });
}

function milliseconds(record: TraceRecord): number {
  const seconds = record.simulated_latency_s;
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds < 0) {
    bad(record, "simulated_latency_s", "finite seconds, not negative", seconds);
  }
  const ms = Math.floor(seconds * 1000 + 0.5);
  if (ms / 1000 !== seconds) bad(record, "simulated_latency_s", "a whole number of milliseconds", seconds);
  return ms;
}

/**
 * Reads off a trace what the metrics need, strictly.
 *
 * @param timeoutMs what a failure costs
 * @throws TracewrightError "trace_schema" where a field is missing, of the wrong type, or contradicts the steps
 */
export function caseCounts(record: TraceRecord, timeoutMs: number): CaseCounts {
  if (typeof record !== "object" || record === null) bad({}, "", "an object", record);
  const { case_id, family, success, optimal_steps, step_count, executed_actions, steps } = record;
  if (typeof case_id !== "string" || case_id === "") bad(record, "case_id", "a name", case_id);
  if (typeof family !== "string" || family === "") bad(record, "family", "a name", family);
  if (typeof success !== "boolean") bad(record, "success", "a boolean", success);
  if (!Number.isSafeInteger(optimal_steps) || optimal_steps < 1) {
    bad(record, "optimal_steps", "a positive integer", optimal_steps);
  }
  if (!Array.isArray(steps) || step_count !== steps.length) {
    bad(record, "step_count", `${steps?.length} as there are steps`, step_count);
  }
  if (!Array.isArray(executed_actions) || executed_actions.length !== step_count) {
    bad(record, "executed_actions", `${step_count} entries`, executed_actions?.length);
  }
  const forbidden = record.forbidden_side_effect_count;
  if (!Number.isSafeInteger(forbidden) || forbidden < 0) {
    bad(record, "forbidden_side_effect_count", "a count", forbidden);
  }
  const length = Math.max(step_count, optimal_steps);
  if (length > MAX_EXACT_STEPS) bad(record, "step_count", `at most ${MAX_EXACT_STEPS} steps`, length);
  let executedInvalid = 0;
  for (const action of executed_actions) {
    if (typeof action?.executed_valid !== "boolean") {
      bad(record, "executed_valid", "a boolean", action?.executed_valid);
    }
    if (!action.executed_valid) executedInvalid++;
  }
  const ms = milliseconds(record);
  return {
    case_id,
    family,
    success: success ? 1 : 0,
    forbidden: forbidden > 0 ? 1 : 0,
    steps: step_count,
    executed: executed_actions.length,
    executedInvalid,
    efficiency: success ? (EFFICIENCY_PARTS / length) * optimal_steps : 0,
    successMs: success ? ms : 0,
    costMs: success ? Math.min(ms, timeoutMs) : timeoutMs,
  };
}
