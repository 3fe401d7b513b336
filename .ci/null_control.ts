/**
 * The null control at full length: how often each kind of interval covers the truth where the truth is known, and how often
 * it finds a planted effect. Writes fixtures/results/null_control.json and the tables of the README that follow from it; a
 * test holds the two together, and a short version of the control runs with the tests.
 *
 *     deno task null-control
 */
import { CROSSED_T_METHOD } from "../lib/evaluate/crossed_t.ts";
import { minimumDetectableEffect, powerAt } from "../lib/evaluate/detectable_effect.ts";
import {
  type GeneratingModel,
  type IntervalRecord,
  nullControl,
  trueDesign,
} from "../lib/evaluate/null_control.ts";
import { POPULATIONS, RESAMPLING_METHODS } from "../lib/evaluate/paired_resampling.ts";
import { tableLine, withSection } from "./_readme_section.ts";

const EXPERIMENTS = 2000;
const BOOTSTRAP = { samples: 400, confidence: 0.95, seed: 20260808 };
const ALPHA = 0.05;
const POWER = 0.8;

const SMALL = { seeds: 5, cases: 100, base_rate: 0.45 };
const MODELS: readonly GeneratingModel[] = [
  { ...SMALL, name: "chance only", case_spread: 0, case_by_variant_spread: 0, seed_spread: 0 },
  { ...SMALL, name: "cases", case_spread: 0.1, case_by_variant_spread: 0.06, seed_spread: 0 },
  { ...SMALL, name: "seeds", case_spread: 0.1, case_by_variant_spread: 0, seed_spread: 0.05 },
  { ...SMALL, name: "seeds and cases", case_spread: 0.08, case_by_variant_spread: 0.06, seed_spread: 0.03 },
  {
    ...SMALL,
    name: "large seeds",
    base_rate: 0.35,
    case_spread: 0.05,
    case_by_variant_spread: 0,
    seed_spread: 0.1,
  },
  {
    // Spreads as in the published per-seed differences of E and B: 3.3 points, of which 2 are chance.
    name: "1,000 cases, as published",
    seeds: 5,
    cases: 1000,
    base_rate: 0.46,
    case_spread: 0.15,
    case_by_variant_spread: 0.05,
    seed_spread: 0.018,
  },
];

const METHODS: readonly string[] = [
  ...POPULATIONS.map((population) => RESAMPLING_METHODS[population]),
  CROSSED_T_METHOD,
];
const LABELS = ["percentile, cases", "percentile, seeds", "percentile, both", "Student, both"];

interface PowerRow {
  readonly model: string;
  readonly method: string;
  readonly effect: number;
  readonly stated: number;
  readonly found: number;
  readonly mean_stated: number;
}

/** What a control found; the same on any machine. */
export interface NullControl {
  readonly experiments: number;
  readonly bootstrap: typeof BOOTSTRAP;
  readonly coverage: readonly {
    readonly model: GeneratingModel;
    readonly intervals: readonly IntervalRecord[];
  }[];
  readonly planted: readonly PowerRow[];
}

const SECTION = {
  start: "<!-- what intervals are worth, written by `deno task null-control` -->",
  end: "<!-- end of what intervals are worth -->",
} as const;

function recordsOf(model: GeneratingModel, effect: number): Map<string, IntervalRecord> {
  const records = nullControl({ model, effect, experiments: EXPERIMENTS, bootstrap: BOOTSTRAP });
  return new Map(records.map((record) => [record.method, record]));
}

/** Plants the effect that the method should find in 80 % of experiments, by the model's true standard error. */
function plant(model: GeneratingModel, method: string): PowerRow {
  const design = (effect: number) => {
    const truth = trueDesign(model, { effect, alpha: ALPHA });
    return method === CROSSED_T_METHOD ? truth : { ...truth, degreesOfFreedom: null };
  };
  const effect = minimumDetectableEffect({ ...design(0), power: POWER });
  const record = recordsOf(model, effect).get(method)!;
  return {
    model: model.name,
    method,
    effect,
    stated: powerAt(effect, design(effect)),
    found: record.above,
    mean_stated: record.mean_stated_power,
  };
}

function nullControls(): NullControl {
  return {
    experiments: EXPERIMENTS,
    bootstrap: BOOTSTRAP,
    coverage: MODELS.map((model) => ({ model, intervals: [...recordsOf(model, 0).values()] })),
    planted: MODELS.flatMap((model) => [
      ...(model.seed_spread === 0 ? [plant(model, RESAMPLING_METHODS.cases)] : []),
      plant(model, CROSSED_T_METHOD),
    ]),
  };
}

const percent = (share: number) => (100 * share).toFixed(1);

/** From the least to the most of a kind of interval, over all models. */
function rangeOf({ coverage }: NullControl, method: string): string {
  const shares = coverage.map(({ intervals }) => intervals.find((one) => one.method === method)!.covers);
  return `${percent(Math.min(...shares))} to ${percent(Math.max(...shares))} %`;
}

/** The part of the README that says what intervals are worth, line by line. */
export function nullControlLines(found: NullControl): string[] {
  const { experiments, bootstrap, coverage, planted } = found;
  const [cases, seeds, both, student] = METHODS.map((method) => rangeOf(found, method));
  const error = percent(Math.sqrt(0.95 * 0.05 / experiments));
  return [
    `How often a 95 % interval covers zero, in % of ${experiments} simulated experiments of five seeds without an effect, by what`,
    `varies (${bootstrap.samples} draws; Monte-Carlo error ${error}):`,
    "",
    tableLine(["what varies", ...LABELS]),
    `|---|${LABELS.map(() => "---:").join("|")}|`,
    ...coverage.map(({ model, intervals }) =>
      tableLine([
        model.name,
        ...METHODS.map((method) => percent(intervals.find((one) => one.method === method)!.covers)),
      ])
    ),
    "",
    `With five seeds, resampling cases covers ${cases}, resampling seeds ${seeds}, both ${both}, Student's t`,
    `over both ${student}: only the last is worth its name, so reports state it beside the registered one.`,
    "",
    `A planted effect, found in % of ${experiments} experiments, by the power that was stated beforehand:`,
    "",
    tableLine([
      "what varies",
      "interval",
      "effect, points",
      "stated",
      "found",
      "mean of what experiments state",
    ]),
    "|---|---|---:|---:|---:|---:|",
    ...planted.map(({ model, method, effect, stated, found, mean_stated }) =>
      tableLine([
        model,
        LABELS[METHODS.indexOf(method)]!,
        ...[effect, stated, found, mean_stated].map(percent),
      ])
    ),
  ];
}

/** The README with its null control replaced. */
export function withNullControl(readme: string, found: NullControl): string {
  return withSection(readme, SECTION, nullControlLines(found));
}

if (import.meta.main) {
  const found = nullControls();
  await Deno.mkdir("fixtures/results", { recursive: true });
  await Deno.writeTextFile("fixtures/results/null_control.json", JSON.stringify(found, null, 2) + "\n");
  await Deno.writeTextFile("README.md", withNullControl(await Deno.readTextFile("README.md"), found));
  console.log(nullControlLines(found).join("\n"));
}
