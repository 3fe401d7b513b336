import { z } from "zod";
import { CROSSED_T_METHOD } from "../evaluate/crossed_t.ts";
import { QUANTILE_ERROR_METHOD } from "../evaluate/quantile_error.ts";
import type { Population } from "../evaluate/paired_resampling.ts";
import { STATISTICS_SCHEMA, type StatisticsReport } from "../evaluate/statistics_report.ts";
import { parseRecord } from "./_parse_record.ts";
import { bootstrap, count, interval, level, magnitude, pair, positive, rational } from "./_record_fields.ts";

function resampling<P extends Population>(population: P) {
  return z.strictObject({
    population: z.literal(population),
    interval,
    standard_error: magnitude,
    monte_carlo_error: z.strictObject({
      method: z.literal(QUANTILE_ERROR_METHOD),
      low: magnitude,
      high: magnitude,
    }),
  }).nullable();
}

const crossedT = z.strictObject({
  method: z.literal(CROSSED_T_METHOD),
  confidence: level,
  low: z.number(),
  high: z.number(),
  p_value: magnitude,
  standard_error: magnitude,
  degrees_of_freedom: magnitude,
  mean_square: z.strictObject({ seeds: rational, cases: rational, residual: rational }),
});

const exactTest = { p_value: rational, smallest_attainable_p: rational };

const comparison = z.strictObject({
  ...pair.shape,
  role: z.enum(["primary", "total_system", "secondary"]),
  difference: rational,
  per_seed: z.array(z.strictObject({ seed: count, difference: rational })),
  resamplings: z.strictObject({
    cases: resampling("cases"),
    seeds: resampling("seeds"),
    seeds_and_cases: resampling("seeds_and_cases"),
  }),
  crossed_t: crossedT.nullable(),
  seed_sign_flip: z.strictObject(exactTest).nullable(),
  seed_sign_test: z.strictObject({ ...exactTest, positive: count, negative: count, zero: count }),
  case_sign_flip: z.strictObject({
    method: z.enum(["exact", "monte_carlo"]),
    p_value: magnitude,
    flipped_cases: count,
    samples: positive.nullable(),
  }),
  detectable: z.array(z.strictObject({
    method: z.string(),
    standard_error: magnitude,
    degrees_of_freedom: magnitude.nullable(),
    minimum_detectable_effect: magnitude,
    power: z.array(z.strictObject({ effect: z.number(), power: magnitude })),
  })),
  leave_one_seed_out: z.array(z.strictObject({ seed: count, difference: rational.nullable() })),
  leave_one_family_out: z.array(
    z.strictObject({ family: z.string(), cases: count, difference: rational.nullable() }),
  ),
});

const variant = z.strictObject({
  variant: z.string(),
  tsr: rational,
  per_seed: z.array(z.strictObject({ seed: count, tsr: rational })),
  stability: z.strictObject({
    seeds: positive,
    cases: positive,
    histogram: z.array(count),
    flip_rate: rational,
    disagreement: rational.nullable(),
    icc: rational.nullable(),
  }),
});

const statistics = z.strictObject({
  schema: z.literal(STATISTICS_SCHEMA),
  settings: z.strictObject({
    bootstrap,
    alpha: level,
    power: level,
    effects: z.array(z.number()),
    primary: pair,
    total_system: pair,
    secondary: z.array(pair),
  }),
  seeds: z.array(count),
  cases: positive,
  families: z.array(z.strictObject({ family: z.string(), cases: positive })),
  variants: z.array(variant),
  comparisons: z.array(comparison),
  holm: z.strictObject({
    p_value_source: z.literal(CROSSED_T_METHOD),
    alpha: level,
    tests: z.array(z.strictObject({
      ...pair.shape,
      p_value: magnitude,
      adjusted_p: magnitude,
      rejected: z.boolean(),
    })),
  }).nullable(),
});

/**
 * Reads a statistics record strictly.
 *
 * @throws TracewrightError "not_canonical" or "bad_record"
 */
export function parseStatisticsReport(bytes: Uint8Array): StatisticsReport {
  return parseRecord<StatisticsReport>(statistics, bytes, "statistics");
}
