import { z } from "zod";
import { caseNames } from "../../benchmark/case_names.ts";
import { canonicalBytes } from "../../core/canonical_json.ts";
import { TracewrightError } from "../../core/error.ts";
import { claimCheck, type ClaimEvidence } from "../../evaluate/claim_check.ts";
import type { MaskMetrics } from "../../evaluate/mask_metrics.ts";
import type { MetricsReport } from "../../evaluate/metrics_report.ts";
import type { Rational } from "../../evaluate/rational.ts";
import { statisticsReport } from "../../evaluate/statistics_report.ts";
import { parseMaskMetrics } from "../../report/mask_record.ts";
import { parseMetricsReport } from "../../report/metrics_record.ts";
import { defineStage } from "../../stage/define_stage.ts";
import { MEDIA } from "../media_types.ts";
import { SharedNames } from "../shared_names.ts";

const pair = z.strictObject({ treatment: z.string(), baseline: z.string() });

const params = z.strictObject({
  seeds: z.array(z.int()).readonly(),
  variants: z.array(z.strictObject({
    name: z.string(),
    algorithm: z.string(),
    progress_reward: z.boolean(),
    action_mask: z.boolean(),
  })).readonly(),
  runs: z.array(z.strictObject({ variant: z.string(), seed: z.int(), traces: z.string() })),
  statistics: z.strictObject({
    bootstrap: z.strictObject({ samples: z.int(), confidence: z.number(), seed: z.int() }),
    alpha: z.number(),
    power: z.number(),
    effects: z.array(z.number()).readonly(),
    primary: pair,
    total_system: pair,
    secondary: z.array(pair).readonly(),
  }),
});

/** Parameters of the statistics stage; a verifier computes with the same ones. */
export type StatisticsParams = z.infer<typeof params>;

/** What statistics and claim are computed from. */
export interface StatisticsInputs {
  /** Case ids of the test split with their families. */
  readonly families: ReadonlyMap<string, string>;
  /** Lines of a trace blob, by the name of the input. */
  readonly traces: (name: string) => Iterable<string>;
  readonly metrics: MetricsReport;
  readonly mask: MaskMetrics;
}

interface Cell {
  readonly variant: string;
  readonly seed: number;
  readonly case_ids: string[];
  readonly success: Map<string, boolean>;
}

function badTrace(
  name: string,
  { field, actual }: { readonly field: string; readonly actual: unknown },
): never {
  throw new TracewrightError<"pipeline", "bad_trace">("bad_trace", {
    message: "a trace does not say which case it is of or whether it succeeded",
    input: name,
    field,
    actual,
  });
}

/** Which cases a cell ran and which succeeded; one line at a time, and nothing else of it is kept. */
function readCell(
  { variant, seed, traces: name }: StatisticsParams["runs"][number],
  lines: Iterable<string>,
  names: SharedNames,
): Cell {
  const cell: Cell = { variant, seed, case_ids: [], success: new Map() };
  for (const line of lines) {
    // That the line is canonical is for the metrics to check, which read all of it.
    const { case_id, success } = JSON.parse(line) as {
      readonly case_id?: unknown;
      readonly success?: unknown;
    };
    if (typeof case_id !== "string") badTrace(name, { field: "case_id", actual: case_id });
    if (typeof success !== "boolean") badTrace(name, { field: "success", actual: success });
    const shared = names.of(case_id);
    cell.case_ids.push(shared);
    cell.success.set(shared, success);
  }
  return cell;
}

function balancedAccuracy({ balanced_accuracy: value, valid_count, invalid_count }: MaskMetrics): Rational {
  if (value !== null) return value;
  throw new TracewrightError<"pipeline", "one_class_only">("one_class_only", {
    message: "the mask was measured on calls of one class only",
    expected: "valid and invalid calls",
    actual: `${valid_count} valid, ${invalid_count} invalid`,
  });
}

function evidence(
  { seeds, variants, statistics }: StatisticsParams,
  { cells, families, metrics, mask }: Omit<StatisticsInputs, "traces"> & { readonly cells: readonly Cell[] },
): ClaimEvidence {
  return {
    seeds,
    variants,
    test_case_ids: [...families.keys()],
    traces: cells,
    outcomes: cells,
    aggregates: metrics.variants.map(({ variant, metrics: numbers }) => ({
      variant,
      tsr: numbers.tsr,
      successful_conditional_simulated_service_time_s:
        numbers.successful_conditional_simulated_service_time_s,
      timeout_penalized_simulated_cost_s: numbers.timeout_penalized_simulated_cost_s,
    })),
    action_validity: {
      rows: mask.count,
      valid_rows: mask.valid_count,
      invalid_rows: mask.invalid_count,
      balanced_accuracy: balancedAccuracy(mask),
    },
    bootstrap: statistics.bootstrap,
  };
}

/**
 * The statistics and the claim of a run, from its outcomes. The interval of the claim is drawn from the stream of the
 * comparison of the same name in the statistics, so the two are equal.
 *
 * @throws TracewrightError "bad_trace", "one_class_only"; whatever `statisticsReport` refuses
 */
export function statisticsBytes(
  params: StatisticsParams,
  inputs: StatisticsInputs,
): { readonly statistics: Uint8Array<ArrayBuffer>; readonly claim: Uint8Array<ArrayBuffer> } {
  const names = new SharedNames();
  for (const id of inputs.families.keys()) names.of(id);
  const cells = params.runs.map((run) => readCell(run, inputs.traces(run.traces), names));
  const outcomes = new Map(
    params.variants.map(({ name }) => [
      name,
      new Map(cells.filter(({ variant }) => variant === name).map(({ seed, success }) => [seed, success])),
    ]),
  );
  return {
    statistics: canonicalBytes(statisticsReport({ outcomes, families: inputs.families }, params.statistics)),
    claim: canonicalBytes(claimCheck(evidence(params, { ...inputs, cells }))),
  };
}

/** Says what the differences between variants are worth, and whether the run carries the registered claim. */
export const statisticsStage = defineStage({
  name: "statistics",
  version: 1,
  params,
  inputs: {
    test: { media_type: MEDIA.tasks },
    "traces/*": { media_type: MEDIA.traces },
    metrics: { media_type: MEDIA.metrics },
    mask: { media_type: MEDIA.maskMetrics },
  },
  outputs: { "statistics.json": { media_type: MEDIA.statistics }, "claim.json": { media_type: MEDIA.claim } },
  run({ params, input, output }) {
    const families = new Map<string, string>();
    for (const { case_id, family } of caseNames(input("test").lines())) families.set(case_id, family);
    const { statistics, claim } = statisticsBytes(params, {
      families,
      traces: (name) => input(name as `traces/${string}`).lines(),
      metrics: parseMetricsReport(input("metrics").bytes()),
      mask: parseMaskMetrics(input("mask").bytes()),
    });
    output("statistics.json").write(statistics);
    output("claim.json").write(claim);
  },
});
