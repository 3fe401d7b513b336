/**
 * The null control at full length: how often each kind of interval covers the truth where the truth is known, and how often
 * it finds a planted effect. Prints the tables of the README; a short version runs with the tests.
 *
 *     deno task null-control            two tables in Markdown
 *     deno task null-control --json     the same as one JSON document
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

const coverage = MODELS.map((model) => ({ model, records: recordsOf(model, 0) }));
const planted = MODELS.flatMap((model) => [
  ...(model.seed_spread === 0 ? [plant(model, RESAMPLING_METHODS.cases)] : []),
  plant(model, CROSSED_T_METHOD),
]);

const percent = (share: number) => (100 * share).toFixed(1);

if (Deno.args.includes("--json")) {
  const document = {
    experiments: EXPERIMENTS,
    bootstrap: BOOTSTRAP,
    coverage: coverage.map(({ model, records }) => ({ model, intervals: [...records.values()] })),
    planted,
  };
  console.log(JSON.stringify(document, null, 2));
} else {
  const error = percent(Math.sqrt(0.95 * 0.05 / EXPERIMENTS));
  console.log(
    `${EXPERIMENTS} experiments of five seeds without an effect: how often a 95 % interval covers zero, in %`,
  );
  console.log(`(${BOOTSTRAP.samples} draws; Monte-Carlo error ${error})\n`);
  console.log(`| what varies | ${LABELS.join(" | ")} |`);
  console.log(`|---|${LABELS.map(() => "---:").join("|")}|`);
  for (const { model, records } of coverage) {
    const cells = METHODS.map((method) => percent(records.get(method)!.covers));
    console.log(`| ${model.name} | ${cells.join(" | ")} |`);
  }
  console.log(`\nA planted effect, found in % of ${EXPERIMENTS} experiments\n`);
  console.log(
    "| what varies | interval | effect, points | stated | found | mean of what experiments state |",
  );
  console.log("|---|---|---:|---:|---:|---:|");
  for (const { model, method, effect, stated, found, mean_stated } of planted) {
    const numbers = [effect, stated, found, mean_stated].map(percent).join(" | ");
    console.log(`| ${model} | ${LABELS[METHODS.indexOf(method)]} | ${numbers} |`);
  }
}
