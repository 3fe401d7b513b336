import { z } from "zod";
import { INTERVAL_METRICS } from "../evaluate/case_cluster_bootstrap.ts";
import { EXCLUSION_REASONS, METRICS_SCHEMA, type MetricsReport } from "../evaluate/metrics_report.ts";
import { parseRecord } from "./_parse_record.ts";
import { bootstrap, count, interval, pair, positive, rational } from "./_record_fields.ts";

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

const report = z.strictObject({
  schema: z.literal(METRICS_SCHEMA),
  timeout_s: z.number().gt(0),
  bootstrap,
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
    ...pair.shape,
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
