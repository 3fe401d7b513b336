import { evaluateError } from "./_error.ts";
import type { BootstrapSettings } from "./case_cluster_bootstrap.ts";
import { type CaseSignFlip, caseSignFlip } from "./case_sign_flip.ts";
import { type CaseStability, caseStability } from "./case_stability.ts";
import { CROSSED_T_METHOD, type CrossedT, crossedT } from "./crossed_t.ts";
import { minimumDetectableEffect, powerAt } from "./detectable_effect.ts";
import { holm, type HolmResult } from "./holm.ts";
import { leaveOneFamilyOut, leaveOneSeedOut, type WithoutFamily, type WithoutSeed } from "./leave_one_out.ts";
import type { ComparisonPlan } from "./metrics_report.ts";
import type { Outcomes } from "./paired_comparison.ts";
import {
  type PairedResamplings,
  pairedResamplings,
  POPULATIONS,
  RESAMPLING_METHODS,
} from "./paired_resampling.ts";
import { pairedDifference, type PairedTable, pairedTable } from "./paired_table.ts";
import { type Rational, rational } from "./rational.ts";
import { type ExactTest, MAX_FLIPPED_SEEDS, seedSignFlip } from "./seed_sign_flip.ts";
import { type SeedSigns, seedSigns } from "./seed_signs.ts";

/** Schema of the statistics record. */
export const STATISTICS_SCHEMA = "tracewright.statistics.v1";

/** What a comparison is for. Only the primary one carries the hypothesis; the secondary ones are corrected together. */
export type ComparisonRole = "primary" | "total_system" | "secondary";

/** Everything that is decided before the outcomes are looked at. */
export interface StatisticsSettings {
  /** Draws, confidence and root of the resamplings. */
  readonly bootstrap: BootstrapSettings;
  /** Two-sided error rate of the detectable effects and of the family of secondary comparisons. */
  readonly alpha: number;
  /** Power at which the detectable effect is stated. */
  readonly power: number;
  /** Differences of success rates for which the power is stated. */
  readonly effects: readonly number[];
  readonly primary: ComparisonPlan;
  readonly total_system: ComparisonPlan;
  /** The declared family of further comparisons, counted as it stands here. */
  readonly secondary: readonly ComparisonPlan[];
}

/** What the experiment could have found, by one standard error of the difference. */
export interface Detectable {
  /** The method whose standard error this is. */
  readonly method: string;
  readonly standard_error: number;
  /** Null: the normal distribution is the reference. */
  readonly degrees_of_freedom: number | null;
  readonly minimum_detectable_effect: number;
  readonly power: readonly { readonly effect: number; readonly power: number }[];
}

/** Everything said about the difference of two variants. */
export interface ComparisonStatistics extends ComparisonPlan {
  readonly role: ComparisonRole;
  readonly difference: Rational;
  readonly per_seed: readonly { readonly seed: number; readonly difference: Rational }[];
  readonly resamplings: PairedResamplings;
  /** Null with fewer than two seeds or cases. */
  readonly crossed_t: CrossedT | null;
  /** Null with more seeds than can be enumerated. */
  readonly seed_sign_flip: ExactTest | null;
  readonly seed_sign_test: SeedSigns;
  readonly case_sign_flip: CaseSignFlip;
  readonly detectable: readonly Detectable[];
  readonly leave_one_seed_out: readonly WithoutSeed[];
  readonly leave_one_family_out: readonly WithoutFamily[];
}

/** Everything said about one variant alone. */
export interface VariantStatistics {
  readonly variant: string;
  readonly tsr: Rational;
  readonly per_seed: readonly { readonly seed: number; readonly tsr: Rational }[];
  readonly stability: CaseStability;
}

/** The secondary comparisons, corrected as one family. */
export interface HolmFamily {
  readonly p_value_source: typeof CROSSED_T_METHOD;
  readonly alpha: number;
  readonly tests: readonly (ComparisonPlan & HolmResult & { readonly p_value: number })[];
}

/** The record that all statistics of a run are read from. */
export interface StatisticsReport {
  readonly schema: typeof STATISTICS_SCHEMA;
  readonly settings: StatisticsSettings;
  readonly seeds: readonly number[];
  readonly cases: number;
  readonly families: readonly { readonly family: string; readonly cases: number }[];
  readonly variants: readonly VariantStatistics[];
  readonly comparisons: readonly ComparisonStatistics[];
  /** Null with fewer than two seeds or cases: then no p value speaks for new seeds. */
  readonly holm: HolmFamily | null;
}

function checkSettings({ bootstrap, alpha, power }: StatisticsSettings): void {
  const inside = (field: string, value: number, { above, below }: { above: number; below: number }) => {
    if (value > above && value < below) return;
    throw evaluateError("bad_settings", {
      field,
      expected: `above ${above} and below ${below}`,
      actual: value,
    });
  };
  inside("confidence", bootstrap.confidence, { above: 0, below: 1 });
  inside("alpha", alpha, { above: 0, below: 1 });
  inside("power", power, { above: alpha / 2, below: 1 });
}

function variantStatistics(variant: string, outcomes: Outcomes): VariantStatistics {
  const stability = caseStability(outcomes);
  let all = 0;
  const per_seed = [...outcomes.keys()].sort((a, b) => a - b).map((seed) => {
    let successes = 0;
    for (const success of outcomes.get(seed)!.values()) if (success) successes++;
    all += successes;
    return { seed, tsr: rational(successes, stability.cases) };
  });
  return { variant, tsr: rational(all, stability.cases * stability.seeds), per_seed, stability };
}

function detectable(
  { resamplings, crossed_t }: Pick<ComparisonStatistics, "resamplings" | "crossed_t">,
  { alpha, power, effects }: StatisticsSettings,
): Detectable[] {
  const errors = POPULATIONS.flatMap((population) => {
    const resampling = resamplings[population];
    return resampling === null ? [] : [{
      method: RESAMPLING_METHODS[population] as string,
      standard_error: resampling.standard_error,
      degrees_of_freedom: null as number | null,
    }];
  });
  if (crossed_t !== null) {
    const { method, standard_error, degrees_of_freedom } = crossed_t;
    errors.push({ method, standard_error, degrees_of_freedom });
  }
  return errors.map((error) => {
    const design = {
      standardError: error.standard_error,
      degreesOfFreedom: error.degrees_of_freedom,
      alpha,
    };
    return {
      ...error,
      minimum_detectable_effect: minimumDetectableEffect({ ...design, power }),
      power: effects.map((effect) => ({ effect, power: powerAt(effect, design) })),
    };
  });
}

function comparisonStatistics(
  { treatment, baseline, role }: ComparisonPlan & { readonly role: ComparisonRole },
  { table, resamplings, families, settings }: {
    readonly table: PairedTable;
    readonly resamplings: PairedResamplings;
    readonly families: ReadonlyMap<string, string>;
    readonly settings: StatisticsSettings;
  },
): ComparisonStatistics {
  const crossed_t = crossedT(table, settings.bootstrap.confidence);
  return {
    treatment,
    baseline,
    role,
    difference: pairedDifference(table),
    per_seed: table.seeds.map((seed, s) => ({
      seed,
      difference: rational(table.seedSums[s]!, table.cases.length),
    })),
    resamplings,
    crossed_t,
    seed_sign_flip: table.seeds.length > MAX_FLIPPED_SEEDS ? null : seedSignFlip(table),
    seed_sign_test: seedSigns(table),
    case_sign_flip: caseSignFlip(table, settings.bootstrap),
    detectable: detectable({ resamplings, crossed_t }, settings),
    leave_one_seed_out: leaveOneSeedOut(table),
    leave_one_family_out: leaveOneFamilyOut(table, families),
  };
}

/**
 * Holm over the secondary comparisons with the p value of {@link crossedT}: of the p values at hand it is the only one that
 * speaks for new seeds and new cases and can become small with five seeds. Over cases alone a p value ignores that seeds
 * differ; over seeds alone it cannot fall below 2 / 2^5.
 */
function holmFamily(comparisons: readonly ComparisonStatistics[], alpha: number): HolmFamily | null {
  const family = comparisons.filter(({ role }) => role === "secondary");
  const pValues = family.flatMap(({ crossed_t }) => crossed_t === null ? [] : [crossed_t.p_value]);
  if (pValues.length < family.length) return null;
  const results = holm(pValues, alpha);
  return {
    p_value_source: CROSSED_T_METHOD,
    alpha,
    tests: family.map(({ treatment, baseline }, i) => ({
      treatment,
      baseline,
      p_value: pValues[i]!,
      ...results[i]!,
    })),
  };
}

function familySizes(cases: readonly string[], families: ReadonlyMap<string, string>) {
  const sizes = new Map<string, number>();
  for (const id of cases) {
    const family = families.get(id);
    if (family === undefined) throw evaluateError("unknown_family", { case: id, expected: "a family" });
    sizes.set(family, (sizes.get(family) ?? 0) + 1);
  }
  return [...sizes.keys()].sort().map((family) => ({ family, cases: sizes.get(family)! }));
}

/**
 * Every statistic of a run in one record, ready for canonical JSON. The same record for any order of variants, seeds and
 * cases.
 *
 * @param outcomes variant -> seed -> case -> success
 * @param families the family of every case
 * @throws TracewrightError "bad_settings" for settings out of range; "unpaired_outcomes" where variants that are compared differ
 * in seeds or cases, or a planned variant has no outcomes; "unknown_family"; "no_cases"
 */
export function statisticsReport(
  { outcomes, families }: {
    readonly outcomes: ReadonlyMap<string, Outcomes>;
    readonly families: ReadonlyMap<string, string>;
  },
  settings: StatisticsSettings,
): StatisticsReport {
  checkSettings(settings);
  const of = (variant: string): Outcomes => {
    const own = outcomes.get(variant);
    if (own !== undefined) return own;
    throw evaluateError("unpaired_outcomes", { variant, expected: "outcomes", actual: null });
  };
  const plans = [
    { ...settings.primary, role: "primary" as const },
    { ...settings.total_system, role: "total_system" as const },
    ...settings.secondary.map((plan) => ({ ...plan, role: "secondary" as const })),
  ];
  const tables = plans.map(({ treatment, baseline }) =>
    pairedTable({ treatment: of(treatment), baseline: of(baseline) })
  );
  const resamplings = pairedResamplings(tables, settings.bootstrap);
  const comparisons = plans.map((plan, i) =>
    comparisonStatistics(plan, { table: tables[i]!, resamplings: resamplings[i]!, families, settings })
  );
  const { seeds, cases } = tables[0]!;
  return {
    schema: STATISTICS_SCHEMA,
    settings,
    seeds,
    cases: cases.length,
    families: familySizes(cases, families),
    variants: [...outcomes.keys()].sort().map((variant) => variantStatistics(variant, of(variant))),
    comparisons,
    holm: holmFamily(comparisons, settings.alpha),
  };
}
