import { RandomStream } from "../core/random_stream.ts";
import { evaluateError } from "./_error.ts";
import type { BootstrapSettings } from "./case_cluster_bootstrap.ts";
import { PAIRED_METHOD } from "./paired_comparison.ts";
import type { PairedTable } from "./paired_table.ts";
import { type Interval, percentileInterval } from "./quantile.ts";
import { QUANTILE_ERROR_METHOD, quantileError } from "./quantile_error.ts";

/**
 * What a paired difference is meant to hold for. `cases`: new cases, these trained seeds. `seeds`: newly trained seeds, these
 * cases. `seeds_and_cases`: both new.
 */
export const POPULATIONS = ["cases", "seeds", "seeds_and_cases"] as const;
/** One of {@link POPULATIONS}. */
export type Population = (typeof POPULATIONS)[number];

/** How each resampling is called in records; also the name of its stream below the bootstrap root. */
export const RESAMPLING_METHODS = {
  cases: "paired_case_cluster_percentile",
  seeds: "paired_seed_percentile",
  seeds_and_cases: PAIRED_METHOD,
} as const satisfies Record<Population, string>;

/** One resampling of a paired difference. */
export interface PairedResampling {
  readonly population: Population;
  readonly interval: Interval;
  /** Standard deviation of the replicates. */
  readonly standard_error: number;
  /** How far another stream of draws would move each end: one standard error. */
  readonly monte_carlo_error: {
    readonly method: typeof QUANTILE_ERROR_METHOD;
    readonly low: number;
    readonly high: number;
  };
}

/** The resamplings of one paired difference; null where there is but one unit to draw from. */
export type PairedResamplings = Readonly<Record<Population, PairedResampling | null>>;

/** Draws the totals of every replicate, for all tables from the same draws. Shape: one array of `samples` a table. */
type Draw = (tables: readonly PairedTable[], settings: BootstrapSettings) => Float64Array[];

const drawCases: Draw = (tables, { samples, seed }) => {
  const stream = new RandomStream(seed, RESAMPLING_METHODS.cases);
  const count = tables[0]!.cases.length;
  const totals = tables.map(() => new Float64Array(samples));
  const drawn = new Int32Array(count);
  for (let replicate = 0; replicate < samples; replicate++) {
    for (let i = 0; i < count; i++) drawn[i] = stream.integer(count);
    for (let t = 0; t < tables.length; t++) totals[t]![replicate] = sumAt(tables[t]!.caseSums, drawn);
  }
  return totals;
};

const drawSeeds: Draw = (tables, { samples, seed }) => {
  const stream = new RandomStream(seed, RESAMPLING_METHODS.seeds);
  const count = tables[0]!.seeds.length;
  const totals = tables.map(() => new Float64Array(samples));
  const drawn = new Int32Array(count);
  for (let replicate = 0; replicate < samples; replicate++) {
    for (let i = 0; i < count; i++) drawn[i] = stream.integer(count);
    for (let t = 0; t < tables.length; t++) totals[t]![replicate] = sumAt(tables[t]!.seedSums, drawn);
  }
  return totals;
};

/** Seeds first, then cases, as the protocol's comparison draws them: the same stream gives the same interval. */
const drawBoth: Draw = (tables, { samples, seed }) => {
  const stream = new RandomStream(seed, RESAMPLING_METHODS.seeds_and_cases);
  const [seeds, cases] = [tables[0]!.seeds.length, tables[0]!.cases.length];
  const totals = tables.map(() => new Float64Array(samples));
  const drawnSeeds = new Int32Array(seeds);
  const drawnCases = new Int32Array(cases);
  const column = new Int32Array(cases);
  for (let replicate = 0; replicate < samples; replicate++) {
    for (let i = 0; i < seeds; i++) drawnSeeds[i] = stream.integer(seeds);
    for (let i = 0; i < cases; i++) drawnCases[i] = stream.integer(cases);
    for (let t = 0; t < tables.length; t++) {
      column.fill(0);
      for (let s = 0; s < seeds; s++) addInto(column, tables[t]!.rows[drawnSeeds[s]!]!);
      totals[t]![replicate] = sumAt(column, drawnCases);
    }
  }
  return totals;
};

const DRAWS: Readonly<Record<Population, Draw>> = {
  cases: drawCases,
  seeds: drawSeeds,
  seeds_and_cases: drawBoth,
};

function sumAt(values: Int32Array, places: Int32Array): number {
  let sum = 0;
  for (let i = 0; i < places.length; i++) sum += values[places[i]!]!;
  return sum;
}

function addInto(column: Int32Array, row: Int8Array): void {
  for (let c = 0; c < column.length; c++) column[c]! += row[c]!;
}

/** Standard deviation of whole numbers, exact up to one division and one root. */
function standardDeviation(totals: Float64Array): number {
  let sum = 0;
  let squares = 0n;
  let partial = 0;
  for (const total of totals) {
    sum += total;
    partial += total * total;
    if (partial > 2 ** 52) { // emptied before it could leave the safe integers
      squares += BigInt(partial);
      partial = 0;
    }
  }
  squares += BigInt(partial);
  const count = BigInt(totals.length);
  return Math.sqrt(Number(count * squares - BigInt(sum) * BigInt(sum)) / Number(count * (count - 1n)));
}

function summary(
  totals: Float64Array,
  { population, observations, confidence }: {
    readonly population: Population;
    readonly observations: number;
    readonly confidence: number;
  },
): PairedResampling {
  const standard_error = standardDeviation(totals) / observations;
  const replicates = totals.map((total) => total / observations + 0);
  const interval = percentileInterval(replicates, { confidence, method: RESAMPLING_METHODS[population] });
  const tail = (1 - confidence) / 2;
  return {
    population,
    interval,
    standard_error,
    monte_carlo_error: {
      method: QUANTILE_ERROR_METHOD,
      low: quantileError(replicates, tail),
      high: quantileError(replicates, 1 - tail),
    },
  };
}

/** The resamplings of one population, for several comparisons of the same seeds and cases from the same draws. */
function resample(
  tables: readonly PairedTable[],
  { population, settings }: { readonly population: Population; readonly settings: BootstrapSettings },
): (PairedResampling | null)[] {
  const { seeds, cases } = tables[0]!;
  if (population !== "cases" && seeds.length < 2) return tables.map(() => null);
  if (population !== "seeds" && cases.length < 2) return tables.map(() => null);
  const observations = seeds.length * cases.length;
  return DRAWS[population](tables, settings).map((totals) =>
    summary(totals, { population, observations, confidence: settings.confidence })
  );
}

/**
 * Resamples paired differences three ways, one a population. The streams name neither variant, so all comparisons see the
 * same draws, and they are drawn once for all of them.
 *
 * What the three are worth with five seeds, measured by `null_control.ts`: over cases, 95 % where seeds do not differ, and
 * far too sure of new seeds where they do; over seeds always too narrow; over both too wide unless seeds differ much, and
 * then too narrow. `crossed_t.ts` holds in each case.
 * Source: protocol/evaluation-and-evidence.md section 4; Owen 2007, "The pigeonhole bootstrap", for both at once.
 *
 * @param tables of the same seeds and cases, at least one
 * @returns one entry a table, in order
 * @throws TracewrightError "bad_settings" for fewer than two samples; "unpaired_outcomes" where tables differ in seeds or cases
 */
export function pairedResamplings(
  tables: readonly PairedTable[],
  settings: BootstrapSettings,
): PairedResamplings[] {
  const [first] = tables;
  if (first === undefined) return [];
  if (!Number.isSafeInteger(settings.samples) || settings.samples < 2) {
    throw evaluateError("bad_settings", {
      field: "samples",
      expected: "at least 2 draws",
      actual: settings.samples,
    });
  }
  for (const { seeds, cases } of tables) {
    if (seeds.join() !== first.seeds.join() || cases.join("\n") !== first.cases.join("\n")) {
      throw evaluateError("unpaired_outcomes", {
        message: "comparisons that share draws must share seeds and cases",
        expected: [first.seeds.length, first.cases.length],
        actual: [seeds.length, cases.length],
      });
    }
  }
  const [cases, seeds, both] = POPULATIONS.map((population) => resample(tables, { population, settings }));
  return tables.map((_, t) => ({
    cases: cases![t]!,
    seeds: seeds![t]!,
    seeds_and_cases: both![t]!,
  }));
}
