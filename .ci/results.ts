/**
 * Writes the result table of the README from a finished run of `ablate`.
 *
 *     deno task results --manifest artifacts/runs/<id>/manifest.json
 *     deno task results      from the recorded numbers: after code has changed, the README says of which stages
 *
 * The numbers are kept in fixtures/results/full.json, with the digests of the config and of the code of each stage. A test
 * holds the README against them, and them against the present config and code.
 */
import { parseCanonical } from "../lib/core/canonical_json.ts";
import { digestOfJson } from "../lib/core/digest.ts";
import type { MetricsWithIntervals } from "../lib/evaluate/metrics_report.ts";
import { recordedCodes } from "../lib/pipeline/recorded_codes.ts";
import { parseClaimCheck } from "../lib/report/claim_record.ts";
import { parseMetricsReport } from "../lib/report/metrics_record.ts";
import { parseStatisticsReport } from "../lib/report/statistics_record.ts";
import { readRun, type Run } from "../lib/store/read_run.ts";
import { tableLine, withSection } from "./_readme_section.ts";

/** What the README states of the canonical run. */
export interface Results {
  readonly run_id: string;
  readonly result_id: string;
  /** Digest of the config that was run. */
  readonly config: string;
  /** Digest of the code of each stage that was run. */
  readonly codes: Readonly<Record<string, string>>;
  readonly registration: string;
  readonly benchmark_seed: number;
  readonly canonical: boolean;
  readonly hypothesis_passed: boolean;
  /** Treatment minus baseline, percentage points. */
  readonly difference: { readonly points: string; readonly registered: string; readonly student: string };
  readonly rows: readonly {
    readonly name: string;
    readonly successes: string;
    readonly tsr: string;
    readonly invalid: string;
    readonly steps: string;
    readonly cost_s: string;
  }[];
}

const SECTION = {
  start: "<!-- results of `deno task ablate`, written by `deno task results` -->",
  end: "<!-- end of results -->",
} as const;

/** Code digests by stage, sorted by stage. */
type StageDigests = Results["codes"];

/** The code of each stage as it is now. */
export function presentCodes(): StageDigests {
  return Object.fromEntries(Object.entries(recordedCodes().stages).map(([stage, { code }]) => [stage, code]));
}

/** Stages whose code is another one now than when the numbers were made, or that are gone. */
function changedStages(made: StageDigests, present: StageDigests): string[] {
  return Object.keys(made).filter((stage) => made[stage] !== present[stage]).sort();
}

const percent = (value: number) => (value * 100).toFixed(2);
const span = ({ low, high }: { readonly low: number; readonly high: number }) =>
  `[${percent(low)}, ${percent(high)}]`;

function row(name: string, metrics: MetricsWithIntervals): Results["rows"][number] {
  const interval = metrics.confidence_intervals.tsr;
  return {
    name,
    successes: `${metrics.successful_cases}/${metrics.cases}`,
    tsr: percent(metrics.tsr.value) + (interval === undefined ? "" : ` ${span(interval)}`),
    invalid: percent(metrics.invalid_action_rate.value),
    steps: metrics.mean_steps.value.toFixed(3),
    cost_s: metrics.timeout_penalized_simulated_cost_s.value.toFixed(3),
  };
}

function record(run: Run, { node, output }: { readonly node: string; readonly output: string }): Uint8Array {
  return run.open(run.dag.nodes.find(({ id }) => id === node)!.outputs[output]!.digest).bytes();
}

/** The figures of a finished canonical run. */
export function resultsOf(run: Run): Results {
  const claim = parseClaimCheck(record(run, { node: "statistics", output: "claim.json" }));
  const statistics = parseStatisticsReport(record(run, { node: "statistics", output: "statistics.json" }));
  const metrics = parseMetricsReport(record(run, { node: "metrics", output: "metrics.json" }));
  const rules = parseMetricsReport(record(run, { node: "rules", output: "metrics.json" }));
  const primary = statistics.comparisons.find(({ role }) => role === "primary")!;
  const config = parseCanonical(run.open(run.dag.config).bytes()) as {
    readonly seeds: { readonly benchmark_seed: number };
  };
  return {
    run_id: run.runId,
    result_id: run.resultId,
    config: run.dag.config,
    codes: Object.fromEntries(run.dag.nodes.map(({ stage }) => [stage.name, stage.code] as const).sort()),
    registration: run.dag.nodes.find(({ id }) => id === "report")!.params["registration"] as string,
    benchmark_seed: config.seeds.benchmark_seed,
    canonical: claim.canonical,
    hypothesis_passed: claim.hypothesis_passed,
    difference: {
      points: percent(primary.difference.value),
      registered: span(primary.resamplings.seeds_and_cases!.interval),
      student: span(primary.crossed_t!),
    },
    rows: [...metrics.variants, ...rules.variants].map(({ variant, metrics: m }) => row(variant, m)),
  };
}

/** By which code the numbers were made, and whether that is the present one. */
function codeLines({ codes }: Results, present: StageDigests): string[] {
  const changed = changedStages(codes, present);
  const made = `Made by code \`${digestOfJson(codes).slice(0, 23)}…\``;
  return changed.length === 0
    ? [`${made}, which is the present code of all ${Object.keys(codes).length} stages.`]
    : [
      `${made}; since then the code of these stages has changed, and the run was not made again:`,
      changed.map((stage) => `\`${stage}\``).join(", ") + ".",
    ];
}

/** The part of the README that states a run, line by line. */
export function resultsLines(results: Results, present: StageDigests): string[] {
  const { difference: d } = results;
  return [
    tableLine(["policy", "successes", "TSR %, 95 % interval", "invalid actions %", "steps", "cost, s"]),
    "|---|---:|---:|---:|---:|---:|",
    ...results.rows.map((r) => tableLine([r.name, r.successes, r.tsr, r.invalid, r.steps, r.cost_s])),
    "",
    `E − B is ${d.points} points: ${d.registered} by the registered resampling of seeds and cases, ${d.student} by Student's t`,
    `over both. Canonical: ${results.canonical ? "yes" : "no"}; registered hypothesis passed: ${
      results.hypothesis_passed ? "yes" : "no"
    }. Pre-registration`,
    `P \`${results.registration}\`, benchmark seed ${results.benchmark_seed}, run \`${
      results.run_id.slice(0, 23)
    }…\`,`,
    `result \`${results.result_id.slice(0, 23)}…\`: \`deno task ablate\` gives the same result id anywhere.`,
    ...codeLines(results, present),
  ];
}

/** The README with its results replaced. */
export function withResults(
  readme: string,
  { results, present }: { readonly results: Results; readonly present: StageDigests },
): string {
  return withSection(readme, SECTION, resultsLines(results, present));
}

if (import.meta.main) {
  const FILE = "fixtures/results/full.json";
  const at = Deno.args.indexOf("--manifest");
  if (at >= 0) {
    const results = resultsOf(readRun(Deno.args[at + 1]!));
    await Deno.mkdir("fixtures/results", { recursive: true });
    await Deno.writeTextFile(FILE, JSON.stringify(results, null, 2) + "\n");
  }
  const results = JSON.parse(await Deno.readTextFile(FILE)) as Results;
  const readme = await Deno.readTextFile("README.md");
  await Deno.writeTextFile("README.md", withResults(readme, { results, present: presentCodes() }));
}
