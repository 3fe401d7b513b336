import { RandomStream } from "../core/random_stream.ts";
import { evaluateError } from "./_error.ts";
import type { BootstrapSettings } from "./case_cluster_bootstrap.ts";
import { CROSSED_T_METHOD, crossedT } from "./crossed_t.ts";
import { powerAt, type TestDesign } from "./detectable_effect.ts";
import { pairedResamplings, POPULATIONS, RESAMPLING_METHODS } from "./paired_resampling.ts";
import { type PairedTable, sumTable } from "./paired_table.ts";

/**
 * A world in which the truth is known. A variant succeeds on a case with chance base_rate + case + case of the variant + seed
 * of the variant (+ the planted effect, for the treatment), each term uniform around zero and drawn independently.
 * Every spread is a standard deviation. Without an effect the two variants are exchangeable.
 */
export interface GeneratingModel {
  readonly name: string;
  readonly seeds: number;
  readonly cases: number;
  readonly base_rate: number;
  /** Difficulty that both variants share; it cancels in the difference. */
  readonly case_spread: number;
  /** What one variant finds harder than the other. */
  readonly case_by_variant_spread: number;
  /** What training with another seed changes, for all cases alike. */
  readonly seed_spread: number;
}

/** Everything a control needs. `bootstrap.samples` 0 leaves the percentile intervals out. */
export interface NullControlSettings {
  readonly model: GeneratingModel;
  /** Planted difference of success rates, at least 0. */
  readonly effect: number;
  readonly experiments: number;
  readonly bootstrap: BootstrapSettings;
}

/** How one kind of interval did. Shares are of all simulated experiments. */
export interface IntervalRecord {
  readonly method: string;
  /** Contains the planted effect; without an effect, zero. */
  readonly covers: number;
  /** Lies above zero. */
  readonly above: number;
  /** Lies below zero. */
  readonly below: number;
  /** Mean of the power that each experiment would have stated for the planted effect from its own standard error. */
  readonly mean_stated_power: number;
}

/** Half-width of the uniform distribution with standard deviation 1. */
const HALF_WIDTH = Math.sqrt(3);

/** Centred uniform with this standard deviation. */
function around(stream: RandomStream, spread: number): number {
  return (2 * stream.uniform() - 1) * HALF_WIDTH * spread;
}

/**
 * Draws the outcomes of one experiment and pairs them.
 *
 * @throws TracewrightError "bad_settings" where a chance could leave [0, 1], for then the planted effect would be another
 */
export function simulateExperiment(
  model: GeneratingModel,
  { effect, stream }: { readonly effect: number; readonly stream: RandomStream },
): PairedTable {
  const reach = HALF_WIDTH * (model.case_spread + model.case_by_variant_spread + model.seed_spread);
  if (!(model.base_rate - reach >= 0 && model.base_rate + reach + effect <= 1 && effect >= 0)) {
    throw evaluateError("bad_settings", {
      message: "the chances of the model leave [0, 1]",
      expected: "base_rate -+ 1.733 (sum of spreads), + effect, within [0, 1]",
      actual: [model.base_rate - reach, model.base_rate + reach + effect],
    });
  }
  const draw = (count: number, spread: number) =>
    Float64Array.from({ length: count }, () => around(stream, spread));
  const difficulty = draw(model.cases, model.case_spread);
  const treatmentCase = draw(model.cases, model.case_by_variant_spread);
  const baselineCase = draw(model.cases, model.case_by_variant_spread);
  const rows = Array.from({ length: model.seeds }, () => {
    const treatmentSeed = model.base_rate + effect + around(stream, model.seed_spread);
    const baselineSeed = model.base_rate + around(stream, model.seed_spread);
    return Int8Array.from(difficulty, (shared, c) => {
      const treatment = stream.uniform() < treatmentSeed + shared + treatmentCase[c]!;
      const baseline = stream.uniform() < baselineSeed + shared + baselineCase[c]!;
      return Number(treatment) - Number(baseline);
    });
  });
  return sumTable({
    seeds: rows.map((_, s) => s),
    cases: Array.from(difficulty, (_, c) => String(c).padStart(6, "0")),
    rows,
  });
}

/**
 * The true standard error of the mean difference over new seeds and new cases, and Satterthwaite's degrees of freedom at the
 * true mean squares, both from the model alone. With success chances P (treatment) and p, and spreads c (cases), v (case of
 * the variant), s (seeds), a single difference has variance P (1 - P) + p (1 - p) - 2 c^2, two of one seed share 2 s^2, two of
 * one case 2 v^2.
 */
export function trueDesign(
  model: GeneratingModel,
  { effect, alpha }: { readonly effect: number; readonly alpha: number },
): TestDesign & { readonly degreesOfFreedom: number } {
  const [S, C] = [model.seeds, model.cases];
  const [P, p] = [model.base_rate + effect, model.base_rate];
  const single = P * (1 - P) + p * (1 - p) - 2 * model.case_spread * model.case_spread;
  const seed = 2 * model.seed_spread * model.seed_spread;
  const case_ = 2 * model.case_by_variant_spread * model.case_by_variant_spread;
  const residual = single - seed - case_;
  const [bySeed, byCase] = [residual + C * seed, residual + S * case_];
  const sum = bySeed + byCase - residual;
  const excessPart = case_ === 0 ? 0 : (byCase * byCase + residual * residual / (S - 1)) / (C - 1);
  return {
    standardError: Math.sqrt(sum / (S * C)),
    degreesOfFreedom: sum * sum / (bySeed * bySeed / (S - 1) + excessPart),
    alpha,
  };
}

interface Stated {
  readonly method: string;
  readonly low: number;
  readonly high: number;
  readonly standard_error: number;
  readonly degrees_of_freedom: number | null;
}

/** Every interval that a report would state for this table. */
function statedIntervals(table: PairedTable, bootstrap: BootstrapSettings): Stated[] {
  const stated: Stated[] = [];
  if (bootstrap.samples > 0) {
    const resamplings = pairedResamplings([table], bootstrap)[0]!;
    for (const population of POPULATIONS) {
      const resampling = resamplings[population];
      if (resampling === null) continue;
      stated.push({
        method: RESAMPLING_METHODS[population],
        low: resampling.interval.low,
        high: resampling.interval.high,
        standard_error: resampling.standard_error,
        degrees_of_freedom: null,
      });
    }
  }
  const crossed = crossedT(table, bootstrap.confidence);
  if (crossed !== null) stated.push({ ...crossed, method: CROSSED_T_METHOD });
  return stated;
}

/**
 * Simulates experiments whose truth is known and counts what their intervals say. With `effect` 0 an honest 95 % interval
 * covers zero in 95 % of them; with an effect, the share above zero is the power. Everything derives from the bootstrap root,
 * the model's name and the number of the experiment.
 *
 * @returns one record a kind of interval, percentile intervals first
 */
export function nullControl(
  { model, effect, experiments, bootstrap }: NullControlSettings,
): IntervalRecord[] {
  const counts = new Map<string, { covers: number; above: number; below: number; power: number }>();
  const alpha = 1 - bootstrap.confidence;
  for (let experiment = 0; experiment < experiments; experiment++) {
    const stream = new RandomStream(bootstrap.seed, "null_control", model.name, experiment);
    const table = simulateExperiment(model, { effect, stream });
    const own = { ...bootstrap, seed: stream.integer(2 ** 31) };
    for (const { method, low, high, standard_error, degrees_of_freedom } of statedIntervals(table, own)) {
      const count = counts.get(method) ?? { covers: 0, above: 0, below: 0, power: 0 };
      if (low <= effect && effect <= high) count.covers++;
      if (low > 0) count.above++;
      if (high < 0) count.below++;
      if (effect > 0) {
        count.power += powerAt(effect, {
          standardError: standard_error,
          degreesOfFreedom: degrees_of_freedom,
          alpha,
        });
      }
      counts.set(method, count);
    }
  }
  return [...counts].map(([method, { covers, above, below, power }]) => ({
    method,
    covers: covers / experiments,
    above: above / experiments,
    below: below / experiments,
    mean_stated_power: power / experiments,
  }));
}
