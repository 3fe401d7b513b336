/** Traces for the tests of this room. */
import type { TraceRecord } from "../episode/trace.ts";

/** The fields of a trace that metrics read. */
export function exampleTrace(fields: {
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

/** Solved in the optimal two steps. */
export const WON = exampleTrace({
  case_id: "a",
  family: "one",
  success: true,
  valid: [true, true],
  seconds: 10,
  forbidden: 0,
  optimal: 2,
});
/** Failed in four steps, the last of them rejected. */
export const LOST = exampleTrace({
  case_id: "b",
  family: "two",
  success: false,
  valid: [true, true, true, false],
  seconds: 5,
  forbidden: 1,
  optimal: 2,
});
