import type { ClaimCheck } from "../evaluate/claim_check.ts";
import type { MaskMetrics } from "../evaluate/mask_metrics.ts";
import { POPULATIONS } from "../evaluate/paired_resampling.ts";
import type { Interval } from "../evaluate/quantile.ts";
import type { Rational } from "../evaluate/rational.ts";
import type { ComparisonStatistics, StatisticsReport } from "../evaluate/statistics_report.ts";
import { fraction, NONE, percent, percentOr, span, table } from "./_table.ts";

/** What a run with a hypothesis adds to its report. */
export interface ClaimParts {
  readonly claim: ClaimCheck;
  readonly statistics: StatisticsReport;
  readonly mask: MaskMetrics;
}

/** How the populations of the resamplings are called. */
const POPULATION_WORDS = {
  cases: "new cases, these seeds",
  seeds: "new seeds, these cases",
  seeds_and_cases: "new seeds and new cases",
} as const;

function name({ treatment, baseline }: { readonly treatment: string; readonly baseline: string }): string {
  return `${treatment} − ${baseline}`;
}

function claimSection({ claim }: ClaimParts): string {
  const { primary_comparison: primary, checks } = claim;
  const failed = checks.filter(({ passed }) => !passed);
  const structural = failed.filter(({ name }) => name !== checks.at(-1)!.name);
  return [
    "## Claim",
    "",
    `Registered hypothesis: \`${claim.preregistered_hypothesis}\`, treatment ${primary.treatment}, baseline ${primary.baseline}.`,
    "",
    table(["fact", "value"], [
      ["canonical (the run is the announced experiment)", claim.canonical ? "yes" : "no"],
      ["hypothesis passed (the interval lies above zero)", claim.hypothesis_passed ? "yes" : "no"],
      ["difference in TSR, points", percentOr(primary.tsr_difference)],
      ["interval, points", primary.interval === null ? NONE : span(primary.interval)],
      ["structural checks passed", `${checks.length - 1 - structural.length}/${checks.length - 1}`],
    ], "---"),
    ...(structural.length === 0
      ? []
      : ["", `Failed: ${structural.map(({ name }) => `\`${name}\``).join(", ")}.`]),
    "",
    "The two facts are separate: a canonical run whose hypothesis did not pass is a result, and is published.",
  ].join("\n");
}

function primarySection({ statistics }: ClaimParts): string {
  const primary = statistics.comparisons.find(({ role }) => role === "primary");
  if (primary === undefined) return "";
  const rows = POPULATIONS.map((population) => {
    const drawn = primary.resamplings[population];
    return drawn === null ? [POPULATION_WORDS[population], NONE, NONE, NONE] : [
      POPULATION_WORDS[population],
      span(drawn.interval),
      percent(drawn.standard_error, 3),
      `± ${percent(drawn.monte_carlo_error.low, 3)}, ± ${percent(drawn.monte_carlo_error.high, 3)}`,
    ];
  });
  const { crossed_t: t } = primary;
  if (t !== null) {
    rows.push([
      `new seeds and new cases, Student's t with ${t.degrees_of_freedom.toFixed(2)} degrees of freedom`,
      span(t),
      percent(t.standard_error, 3),
      NONE,
    ]);
  }
  return [
    `## ${name(primary)}`,
    "",
    `Difference ${percent(primary.difference.value)} points (${
      fraction(primary.difference)
    }), for which population? ` +
    `${statistics.settings.bootstrap.samples} draws each.`,
    "",
    table([
      "population",
      "interval, points",
      "standard error, points",
      "Monte-Carlo error of the ends, points",
    ], rows),
    "",
    table(["test", "value"], testRows(primary), "---"),
    "",
    ...detectableLines(primary, statistics),
    "",
    table(["seed", ...primary.per_seed.map(({ seed }) => String(seed))], [
      ["points", ...primary.per_seed.map(({ difference }) => percent(difference.value))],
      ["points without it", ...primary.leave_one_seed_out.map(({ difference }) => percentOr(difference))],
    ]),
    "",
    table(
      ["without family", "points"],
      primary.leave_one_family_out.map(({ family, difference }) => [family, percentOr(difference)]),
    ),
  ].join("\n");
}

function testRows(primary: ComparisonStatistics): string[][] {
  const { seed_sign_flip: flip, seed_sign_test: signs, case_sign_flip: cases, crossed_t: t } = primary;
  return [
    [
      "sign-flip over seeds, exact, two-sided p (smallest attainable)",
      flip === null ? NONE : `${flip.p_value.value} (${flip.smallest_attainable_p.value})`,
    ],
    [
      "sign test over seeds, two-sided p (smallest attainable)",
      `${signs.p_value.value} (${signs.smallest_attainable_p.value}); ${signs.positive} up, ${signs.negative} down, ${signs.zero} equal`,
    ],
    [
      `sign-flip over cases, ${cases.method === "exact" ? "exact" : `${cases.samples} draws`}, two-sided p`,
      cases.p_value.toFixed(5),
    ],
    ["Student's t over seeds and cases, two-sided p", t === null ? NONE : t.p_value.toFixed(5)],
  ];
}

/** What the experiment could have found, by each standard error that was stated above. */
function detectableLines({ detectable }: ComparisonStatistics, { settings }: StatisticsReport): string[] {
  const { alpha, power, effects } = settings;
  return [
    `What could have been found, two-sided at ${alpha}: the effect with power ${power}, and the power at effects named beforehand.`,
    "",
    table(
      [
        "by the standard error of",
        "minimum detectable effect, points",
        ...effects.map((effect) => `power at ${percent(effect)} points`),
      ],
      detectable.map(({ method, minimum_detectable_effect: effect, power: at }) => [
        `\`${method}\``,
        percent(effect),
        ...at.map(({ power }) => power.toFixed(3)),
      ]),
    ),
  ];
}

function secondarySection({ statistics }: ClaimParts): string {
  const { holm } = statistics;
  const rows = statistics.comparisons.filter(({ role }) => role === "secondary").map((comparison) => {
    const test = holm?.tests.find((one) =>
      one.treatment === comparison.treatment && one.baseline === comparison.baseline
    );
    const { crossed_t: t } = comparison;
    return [
      name(comparison),
      percent(comparison.difference.value),
      t === null ? NONE : span(t),
      test === undefined ? NONE : test.p_value.toFixed(5),
      test === undefined ? NONE : test.adjusted_p.toFixed(5),
      test === undefined ? NONE : test.rejected ? "yes" : "no",
    ];
  });
  if (rows.length === 0) return "";
  return [
    "## Secondary comparisons",
    "",
    `Declared beforehand as one family, corrected by Holm's step-down at ${statistics.settings.alpha}. Intervals are Student's t over seeds and cases, uncorrected.`,
    "",
    table(["difference", "points", "interval, points", "p", "p, corrected", "rejected"], rows),
  ].join("\n");
}

function stabilitySection({ statistics }: ClaimParts): string {
  return [
    "## Seeds within a case",
    "",
    "Flip rate: share of cases that succeed with some seeds and fail with others. Correlation 1 means that the case decides alone, 0 that cases do not matter.",
    "",
    table(
      [
        "variant",
        "flip rate %",
        "two seeds disagree %",
        "intra-class correlation",
        "cases by number of succeeding seeds",
      ],
      statistics.variants.map(({ variant, stability: s }) => [
        variant,
        percent(s.flip_rate.value),
        percentOr(s.disagreement),
        s.icc === null ? NONE : s.icc.value.toFixed(4),
        s.histogram.join(" / "),
      ]),
    ),
  ].join("\n");
}

/** A share with its interval, where it has one. */
function bracketed(value: Rational | null, interval: Interval | null): string {
  return interval === null ? percentOr(value) : `${percentOr(value)} ${span(interval)}`;
}

function maskSection({ mask }: ClaimParts): string {
  const { confusion_matrix: m } = mask;
  const kinds = Object.entries(mask.invalid_kind_recall);
  const intervals = mask.bootstrap.invalid_kind_recall;
  return [
    "## Rule mask on the synthetic constraint set",
    "",
    `One measurement per benchmark; no variant changes it. Labels come from dry runs of the environment, which shares no code with the mask. ${
      mask.bootstrap.balanced_accuracy === null
        ? "No intervals were asked for."
        : `In brackets: ${
          percent(mask.bootstrap.balanced_accuracy.confidence, 0)
        } % case-cluster percentile intervals.`
    }`,
    "",
    table(
      [
        "rows",
        "TP",
        "FN",
        "TN",
        "FP",
        "balanced accuracy %",
        "macro F1 %",
        ...kinds.map(([kind]) => `${kind} recall %`),
      ],
      [[
        String(mask.count),
        String(m.true_positive),
        String(m.false_negative),
        String(m.true_negative),
        String(m.false_positive),
        bracketed(mask.balanced_accuracy, mask.bootstrap.balanced_accuracy),
        bracketed(mask.macro_f1, mask.bootstrap.macro_f1),
        ...kinds.map(([kind, recall]) => bracketed(recall, intervals[kind as keyof typeof intervals])),
      ]],
    ),
  ].join("\n");
}

/** The sections of a run that tests a hypothesis, in the order of the report. */
export function claimSections(parts: ClaimParts): string[] {
  return [
    claimSection(parts),
    primarySection(parts),
    secondarySection(parts),
    stabilitySection(parts),
    maskSection(parts),
  ].filter((section) => section !== "");
}
