import { z } from "zod";
import published from "../fixtures/published-v1.3.json" with { type: "json" };
import { INTERVAL_METRICS, type IntervalMetric } from "../lib/evaluate/case_cluster_bootstrap.ts";
import { CASE_CLUSTER_METHOD } from "../lib/evaluate/case_draws.ts";
import type { MetricsReport } from "../lib/evaluate/metrics_report.ts";

/** The metrics that were published, in the order of the tables. */
const METRICS = [
  "tsr",
  "macro_tsr",
  "invalid_action_rate",
  "forbidden_side_effect_rate",
  "steps_efficiency",
  "mean_steps",
  "successful_conditional_simulated_service_time_s",
  "timeout_penalized_simulated_cost_s",
] as const;
type PublishedMetric = (typeof METRICS)[number];

const figure = z.strictObject({
  value: z.number(),
  /** Both ends; null where none was published. */
  interval: z.tuple([z.number(), z.number()]).nullable(),
});
const share = z.number().min(0).max(1);
const count = z.int().min(0);

const schema = z.strictObject({
  schema: z.literal("tracewright.published-results.v1"),
  source: z.strictObject({
    run_id: z.string(),
    release: z.string(),
    generator: z.string(),
    benchmark_seed: count,
    run_seeds: z.array(count),
    cases_per_seed: count,
    intervals: z.string(),
  }),
  comparison: z.strictObject({
    treatment: z.string(),
    baseline: z.string(),
    tsr_difference: figure,
    paired_observations: count,
  }),
  variants: z.array(z.strictObject({
    variant: z.string(),
    cases: count,
    successful_cases: count,
    executed_actions: count,
    metrics: z.record(z.enum(METRICS), figure),
    tsr_by_seed: z.record(z.string(), share),
    tsr_by_family: z.record(z.string(), share),
  })),
  /** The stopped pilot of an easier generation, one cell. */
  pilot: z.strictObject({
    run_id: z.string(),
    generator: z.string(),
    variant: z.string(),
    seed: count,
    benchmark_seed: count,
    tsr: share,
    macro_tsr: share,
    mean_steps: z.number(),
    timeout_penalized_simulated_cost_s: z.number(),
    mask_balanced_accuracy: share,
  }),
});

/** Figures that somebody published, as facts to compare with. */
export type PublishedResults = z.infer<typeof schema>;

/** The published figures of benchmark v1.3 (protocol, numbers, sections 1, 2 and 6). @throws ZodError */
export function publishedResults(): PublishedResults {
  return schema.parse(published);
}

/** A value with the ends of its interval; null where there is none. */
export type Figure = z.infer<typeof figure>;

/** One published figure beside ours. */
export interface ReplicationRow {
  readonly metric: string;
  /** A variant, or for a difference `treatment - baseline`. */
  readonly of: string;
  readonly ours: Figure | null;
  readonly published: Figure;
  /** Ours minus the published one; null where one is missing. */
  readonly difference: number | null;
  /** Whether the intervals have a point in common; null where one is missing. */
  readonly overlap: boolean | null;
}

function row(
  place: { readonly metric: string; readonly of: string },
  { ours, published }: { readonly ours: Figure | null; readonly published: Figure },
): ReplicationRow {
  const [a, b] = [ours?.interval ?? null, published.interval];
  return {
    ...place,
    ours,
    published,
    difference: ours === null ? null : ours.value - published.value + 0,
    overlap: a === null || b === null ? null : a[0] <= b[1] && b[0] <= a[1],
  };
}

type Numbers = MetricsReport["variants"][number]["metrics"];

function ourFigure(metrics: Numbers, metric: PublishedMetric): Figure | null {
  const value = metrics[metric]?.value;
  if (value === undefined) return null;
  const interval = (INTERVAL_METRICS as readonly string[]).includes(metric)
    ? metrics.confidence_intervals[metric as IntervalMetric]
    : undefined;
  return { value, interval: interval === undefined ? null : [interval.low, interval.high] };
}

/** What a replication says: each published figure beside ours. Which of them agree is for a reader to weigh. */
export interface Replication {
  /** By metric, then variant. */
  readonly metrics: readonly ReplicationRow[];
  /** The difference that carried the published claim. */
  readonly comparison: ReplicationRow;
  /** Success rates by variant and seed; nothing was published about how sure they are. */
  readonly seeds: readonly ReplicationRow[];
  readonly families: readonly ReplicationRow[];
  /** The pilot beside the same cell of ours, which is of a harder generation. */
  readonly pilot: readonly ReplicationRow[];
}

/**
 * Sets a run beside what was published. Variants, seeds and families that the run does not have stay empty.
 *
 * @param balancedAccuracy of the action mask on our labelled calls; null where it was not measured
 */
export function replicate(
  report: MetricsReport,
  { published, balancedAccuracy }: {
    readonly published: PublishedResults;
    readonly balancedAccuracy: number | null;
  },
): Replication {
  const ours = (variant: string) => report.variants.find((one) => one.variant === variant)?.metrics;
  const cell = (variant: string, seed: number) =>
    report.runs.find((one) => one.variant === variant && one.seed === seed)?.metrics;
  const bare = (value: number | undefined): Figure | null =>
    value === undefined ? null : { value, interval: null };
  const { comparison, variants, pilot } = published;
  const difference = report.comparisons.find(({ treatment, baseline }) =>
    treatment === comparison.treatment && baseline === comparison.baseline
  );
  const single = cell(pilot.variant, pilot.seed);
  return {
    metrics: METRICS.flatMap((metric) =>
      variants.map(({ variant, metrics }) => {
        const own = ours(variant);
        return row({ metric, of: variant }, {
          ours: own === undefined ? null : ourFigure(own, metric),
          published: metrics[metric],
        });
      })
    ),
    comparison: row({ metric: "tsr", of: `${comparison.treatment} - ${comparison.baseline}` }, {
      ours: difference === undefined ? null : {
        value: difference.difference.value,
        interval: difference.interval === null ? null : [difference.interval.low, difference.interval.high],
      },
      published: comparison.tsr_difference,
    }),
    seeds: variants.flatMap(({ variant, tsr_by_seed }) =>
      published.source.run_seeds.map((seed) =>
        row({ metric: "tsr", of: `${variant} ${seed}` }, {
          ours: bare(cell(variant, seed)?.tsr.value),
          published: { value: tsr_by_seed[String(seed)] ?? NaN, interval: null },
        })
      )
    ),
    families: variants.flatMap(({ variant, tsr_by_family }) =>
      Object.entries(tsr_by_family).map(([family, value]) =>
        row({ metric: "tsr", of: `${variant} ${family}` }, {
          ours: bare(ours(variant)?.families[family]?.tsr.value),
          published: { value, interval: null },
        })
      )
    ),
    pilot: ([
      ["tsr", single?.tsr.value],
      ["macro_tsr", single?.macro_tsr.value],
      ["mean_steps", single?.mean_steps.value],
      ["timeout_penalized_simulated_cost_s", single?.timeout_penalized_simulated_cost_s.value],
      ["mask_balanced_accuracy", balancedAccuracy ?? undefined],
    ] as const).map(([metric, value]) =>
      row({ metric, of: metric }, {
        ours: bare(value),
        published: { value: pilot[metric], interval: null },
      })
    ),
  };
}

const UNITS: Readonly<Record<string, { readonly factor: number; readonly unit: string }>> = {
  mean_steps: { factor: 1, unit: "steps" },
  successful_conditional_simulated_service_time_s: { factor: 1, unit: "simulated s" },
  timeout_penalized_simulated_cost_s: { factor: 1, unit: "simulated s" },
};
const PERCENT = { factor: 100, unit: "%" };

function table(rows: readonly ReplicationRow[]): string[] {
  const shown = (value: number, metric: string) => {
    const { factor } = UNITS[metric] ?? PERCENT;
    return (factor * value).toFixed(factor === 1 ? 3 : 2);
  };
  const figureText = (one: Figure | null, metric: string) =>
    one === null ? "-" : shown(one.value, metric) +
      (one.interval === null ? "" : ` [${one.interval.map((end) => shown(end, metric)).join(", ")}]`);
  const cells = [
    ["", "ours", "published", "difference", "intervals overlap"],
    ...rows.map(({ metric, of, ours, published, difference, overlap }) => [
      of,
      figureText(ours, metric),
      figureText(published, metric),
      difference === null ? "-" : `${difference < 0 ? "" : "+"}${shown(difference, metric)}`,
      overlap === null ? "-" : overlap ? "yes" : "no",
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  return cells.map((line) => line.map((text, column) => text.padEnd(widths[column]!)).join("  ").trimEnd());
}

/** What stands on our side: how many seeds and cases, and what the intervals are. */
function oursText({ runs, bootstrap }: MetricsReport): string {
  const seeds = new Set(runs.map(({ seed }) => seed)).size;
  const cases = Math.max(0, ...runs.map(({ denominators }) => denominators.scored));
  const intervals = bootstrap.samples === 0
    ? "none"
    : `${CASE_CLUSTER_METHOD}, ${100 * bootstrap.confidence} %, ${bootstrap.samples} replicates`;
  return `${seeds} seeds of ${cases} cases; intervals: ${intervals}`;
}

/** In how many figures the intervals have a point in common, of those that have both. */
function overlapText(rows: readonly ReplicationRow[]): string {
  const both = rows.filter(({ overlap }) => overlap !== null);
  return `${both.filter(({ overlap }) => overlap).length} of ${both.length}`;
}

/** A replication for a person. */
export function replicationLines(
  found: Replication,
  { report, published }: { readonly report: MetricsReport; readonly published: PublishedResults },
): readonly string[] {
  const titled = (title: string, rows: readonly ReplicationRow[]) => ["", title, ...table(rows)];
  const { source, pilot } = published;
  const { comparison } = found;
  return [
    `ours       ${oursText(report)}`,
    `published  run ${source.run_id} (release ${source.release}, ${source.generator}): ` +
    `${source.run_seeds.length} seeds of ${source.cases_per_seed} cases; intervals: ${source.intervals}`,
    `overlap    ${
      overlapText(found.metrics)
    } intervals of metrics have a point in common; of ${comparison.of}: ` +
    (comparison.overlap === null ? "not known" : comparison.overlap ? "yes" : "no"),
    "why        docs/learning.md names the differences in design and measures those that matter most",
    ...METRICS.flatMap((metric) =>
      titled(
        `${metric}, ${(UNITS[metric] ?? PERCENT).unit}`,
        found.metrics.filter((one) => one.metric === metric),
      )
    ),
    ...titled("difference of tsr, points", [found.comparison]),
    ...titled("tsr by seed, %", found.seeds),
    ...titled(
      `${pilot.variant}, seed ${pilot.seed}, beside pilot ${pilot.run_id} (${pilot.generator}; ours is of the harder ` +
        "generation that replaced it)",
      found.pilot,
    ),
  ];
}
