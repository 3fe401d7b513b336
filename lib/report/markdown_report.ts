import type { Interval } from "../evaluate/quantile.ts";
import {
  EXCLUSION_REASONS,
  type ExclusionReason,
  type MetricsReport,
  type MetricsWithIntervals,
} from "../evaluate/metrics_report.ts";
import type { IntervalMetric } from "../evaluate/case_cluster_bootstrap.ts";
import { fraction, NONE, percent, span, table } from "./_table.ts";
import { type ClaimParts, claimSections } from "./claim_sections.ts";

/** One training of the run, as the report names it. */
export interface TrainingRow {
  /** Node of the DAG, e.g. `ppo/E/17`. */
  readonly node: string;
  readonly updates: number;
  readonly rollout_steps: number;
  /** Euclidean distance that training moved the parameters. */
  readonly parameter_l2_delta: number;
  /** Share of sampled decisions in which the float network and the exact graph choose alike. */
  readonly argmax_agreement: { readonly agree: number; readonly sampled: number };
  /** Digest of the exact graph. */
  readonly policy: string;
}

/** Calibration of one seed's progress estimator on the non-terminal prefix rows of the dev split. */
export interface CalibrationRow {
  readonly node: string;
  readonly rows: number;
  readonly prevalence: number;
  readonly bce: number;
  readonly brier: number;
  readonly ece: number;
  /** Null where one class is missing. */
  readonly auroc: number | null;
  readonly quality_status: string;
  /** Digest of the exact graph that was measured. */
  readonly estimator: string;
}

/** What the report is made of; all of it comes from blobs of the run. */
export interface ReportInputs {
  readonly experiment: string;
  readonly identity: readonly { readonly name: string; readonly value: string }[];
  readonly metrics: MetricsReport;
  /** The untrained rows of the results table. */
  readonly rules?: MetricsReport;
  /** For a run that tests a hypothesis. */
  readonly claim?: ClaimParts;
  readonly calibration: readonly CalibrationRow[];
  readonly training: readonly TrainingRow[];
  readonly curves: readonly CurveRow[];
}

/** One iteration of one training. */
export interface CurveRow {
  readonly node: string;
  readonly iteration: number;
  readonly episodes: number;
  readonly successes: number;
  readonly entropy: number;
  readonly approx_kl: number;
  readonly value_loss: number;
}

const EXCLUSION_WORDS: Readonly<Record<ExclusionReason, string>> = { missing_trace: "no trace" };

function withInterval(value: string, interval: Interval | undefined, show: (x: number) => string): string {
  return interval === undefined ? value : `${value} [${show(interval.low)}, ${show(interval.high)}]`;
}

function variantRow(name: string, metrics: MetricsWithIntervals): string[] {
  const intervals = metrics.confidence_intervals;
  const share = (key: IntervalMetric) => withInterval(percent(metrics[key].value), intervals[key], percent);
  const seconds = (x: number) => x.toFixed(3);
  const conditional = metrics.successful_conditional_simulated_service_time_s;
  return [
    name,
    `${metrics.successful_cases}/${metrics.cases}`,
    share("tsr"),
    share("macro_tsr"),
    share("invalid_action_rate"),
    share("forbidden_side_effect_rate"),
    share("steps_efficiency"),
    withInterval(metrics.mean_steps.value.toFixed(3), intervals.mean_steps, seconds),
    conditional === null ? NONE : conditional.value.toFixed(3),
    withInterval(
      metrics.timeout_penalized_simulated_cost_s.value.toFixed(3),
      intervals.timeout_penalized_simulated_cost_s,
      seconds,
    ),
  ];
}

/** Successes in training rollouts, which sample; evaluation is greedy. */
function curvesSection({ curves }: ReportInputs): string {
  if (curves.length === 0) return "";
  const rows = curves.map((row) => [
    row.node,
    String(row.iteration + 1),
    `${row.successes}/${row.episodes}`,
    row.entropy.toFixed(4),
    row.approx_kl.toFixed(5),
    row.value_loss.toFixed(4),
  ]);
  return [
    "## Training curves",
    "",
    "Sampled rollouts on train tasks, before the update of the same row.",
    "",
    table(["training", "iteration", "successes", "entropy", "KL", "value loss"], rows),
  ].join("\n");
}

function variantsSection({ metrics, rules }: ReportInputs): string {
  const { bootstrap } = metrics;
  const head = [
    "variant",
    "successes",
    "TSR %",
    "macro TSR %",
    "invalid actions %",
    "forbidden side effects %",
    "step efficiency %",
    "steps",
    "service time of successes, s",
    `cost (failure = ${metrics.timeout_s} s), s`,
  ];
  const note = bootstrap.samples === 0
    ? "No intervals were asked for."
    : `In brackets: ${
      percent(bootstrap.confidence, 0)
    } % case-cluster percentile intervals, ${bootstrap.samples} replicates.`;
  return [
    "## Variants",
    "",
    `${note} Times are simulated, never wall-clock. Point values are exact fractions, rounded here for reading.`,
    "",
    table(
      head,
      [...metrics.variants, ...(rules?.variants ?? [])].map((v) => variantRow(v.variant, v.metrics)),
    ),
    ...(rules === undefined ? [] : [
      "",
      "Rules learn nothing and see what a policy sees, except the oracle, which reads the hidden plan and is a ceiling.",
    ]),
  ].join("\n");
}

function comparisonsSection({ metrics }: ReportInputs): string {
  if (metrics.comparisons.length === 0) return "";
  const rows = metrics.comparisons.map((c) => [
    `${c.treatment} − ${c.baseline}`,
    percent(c.difference.value),
    fraction(c.difference),
    c.interval === null ? NONE : span(c.interval),
    `${c.seed_count} × ${c.case_count}`,
  ]);
  return [
    "## Paired differences in TSR",
    "",
    "Same seeds, same cases. Replicates draw seeds and cases, both with replacement. With a single seed the interval speaks of cases only.",
    "",
    table(["difference", "points", "exact", "interval, points", "seeds × cases"], rows),
  ].join("\n");
}

function seedsSection({ metrics }: ReportInputs): string {
  const rows = metrics.runs.map(({ variant, seed, metrics: m }) => [
    variant,
    String(seed),
    `${m.successful_cases}/${m.cases}`,
    percent(m.tsr.value),
    String(m.executed_actions),
    percent(m.forbidden_side_effect_rate.value),
  ]);
  return [
    "## Every seed",
    "",
    table(["variant", "seed", "successes", "TSR %", "executed actions", "forbidden side effects %"], rows),
  ].join("\n");
}

function denominatorsSection({ metrics, rules }: ReportInputs): string {
  const rows = [...metrics.runs, ...(rules?.runs ?? [])].map(({ variant, seed, denominators: d }) => [
    variant,
    String(seed),
    String(d.planned),
    String(d.run),
    ...EXCLUSION_REASONS.map((reason) => String(d.excluded[reason])),
    String(d.scored),
  ]);
  const excluded = EXCLUSION_REASONS.map((reason) => `excluded: ${EXCLUSION_WORDS[reason]}`);
  return [
    "## Denominators",
    "",
    "Which cases stand behind each number, and why a planned one does not.",
    "",
    table(["variant", "seed", "planned", "run", ...excluded, "scored"], rows),
  ].join("\n");
}

function calibrationSection({ calibration }: ReportInputs): string {
  if (calibration.length === 0) return "";
  const rows = calibration.map((c) => [
    c.node,
    String(c.rows),
    percent(c.prevalence),
    c.auroc === null ? NONE : c.auroc.toFixed(4),
    c.ece.toFixed(4),
    c.brier.toFixed(4),
    c.bce.toFixed(4),
    c.quality_status,
  ]);
  return [
    "## Calibration of the progress estimator",
    "",
    "Measured on the exact graph, on non-terminal prefix states of the dev split. Confirmatory asks for AUROC ≥ 0.70, ECE ≤ 0.10 and a Brier score of at most 0.90 of the prevalence variance; anything else is exploratory, and training goes on.",
    "",
    table(["estimator", "rows", "prevalence %", "AUROC", "ECE", "Brier", "BCE", "status"], rows),
  ].join("\n");
}

function trainingSection({ training }: ReportInputs): string {
  const rows = training.map((t) => [
    t.node,
    String(t.updates),
    String(t.rollout_steps),
    t.parameter_l2_delta.toFixed(6),
    `${t.argmax_agreement.agree}/${t.argmax_agreement.sampled}`,
    `\`${t.policy.slice(0, "sha256:".length + 16)}\``,
  ]);
  return [
    "## Trainings",
    "",
    "The published policy is the exact graph; agreement counts decisions in which the float network that was trained would choose the same.",
    "",
    table(["training", "updates", "rollout steps", "L2 of the change", "same choice", "exact graph"], rows),
  ].join("\n");
}

/**
 * The report of a run as Markdown. A pure function of the run's blobs: `verify` builds it again and compares bytes.
 * No clock, host or path appears in it.
 */
export function markdownReport(inputs: ReportInputs): string {
  const identity = table(
    ["what", "value"],
    inputs.identity.map(({ name, value }) => [name, `\`${value}\``]),
    "---",
  );
  const sections = [
    `# ${inputs.experiment}`,
    identity,
    variantsSection(inputs),
    comparisonsSection(inputs),
    ...(inputs.claim === undefined ? [] : claimSections(inputs.claim)),
    seedsSection(inputs),
    calibrationSection(inputs),
    trainingSection(inputs),
    curvesSection(inputs),
    denominatorsSection(inputs),
    "Intervals exist in one implementation only; point values are whole-number fractions that anyone can count from the traces.",
  ];
  return sections.filter((section) => section !== "").join("\n\n") + "\n";
}
