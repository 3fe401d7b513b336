import { z } from "zod";
import { INTERVAL_METRICS } from "../evaluate/case_cluster_bootstrap.ts";
import { EXCLUSION_REASONS, METRICS_SCHEMA, type MetricsReport } from "../evaluate/metrics_report.ts";
import { parseRecord } from "./_parse_record.ts";

const count = z.int().min(0);
const positive = z.int().min(1);

/** The point value must be the one division that its two whole numbers ask for. */
const rational = z.strictObject({ numerator: z.int(), denominator: positive, value: z.number() })
  .refine(({ numerator, denominator, value }) => numerator / denominator === value, {
    message: "the value is not numerator / denominator",
    path: ["value"],
  });

const interval = z.strictObject({
  low: z.number(),
  high: z.number(),
  confidence: z.number().gt(0).lt(1),
  method: z.string(),
  samples: z.int().min(2),
});

const metrics = z.strictObject({
  cases: positive,
  successful_cases: count,
  executed_actions: count,
  tsr: rational,
  macro_tsr: rational,
  invalid_action_rate: rational,
  forbidden_side_effect_rate: rational,
  steps_efficiency: rational,
  mean_steps: rational,
  successful_conditional_simulated_service_time_s: rational.nullable(),
  timeout_penalized_simulated_cost_s: rational,
  families: z.record(z.string(), z.strictObject({ cases: positive, successful_cases: count, tsr: rational })),
  confidence_intervals: z.partialRecord(z.enum(INTERVAL_METRICS), interval),
});

/** One replicate would give an interval without a width. */
const samples = count.refine((value) => value !== 1, { message: "0 or at least 2" });

const report = z.strictObject({
  schema: z.literal(METRICS_SCHEMA),
  timeout_s: z.number().gt(0),
  bootstrap: z.strictObject({ samples, confidence: z.number().gt(0).lt(1), seed: count }),
  runs: z.array(z.strictObject({
    variant: z.string(),
    seed: count,
    denominators: z.strictObject({
      planned: count,
      run: count,
      excluded: z.record(z.enum(EXCLUSION_REASONS), count),
      scored: count,
    }),
    metrics,
  })),
  variants: z.array(z.strictObject({ variant: z.string(), seeds: z.array(count), metrics })),
  comparisons: z.array(z.strictObject({
    treatment: z.string(),
    baseline: z.string(),
    difference: rational,
    interval: interval.nullable(),
    seed_count: positive,
    case_count: positive,
    paired_observations: positive,
  })),
});

/**
 * Reads a metrics record strictly. Every number that a report prints has then been checked for form, and every point value
 * against its own numerator and denominator; whether they follow from the traces is for `verify` to say.
 *
 * @throws TracewrightError "not_canonical" or "bad_record"
 */
export function parseMetricsReport(bytes: Uint8Array): MetricsReport {
  return parseRecord<MetricsReport>(report, bytes, "metrics");
}
