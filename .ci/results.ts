/**
 * Writes the result table of the README from a finished run of `ablate`.
 *
 *     deno task results --manifest artifacts/runs/<id>/manifest.json
 *
 * The numbers are kept in fixtures/results/full.json, and a test holds the README against them.
 */
import { parseCanonical } from "../lib/core/canonical_json.ts";
import type { MetricsWithIntervals } from "../lib/evaluate/metrics_report.ts";
import { parseClaimCheck } from "../lib/report/claim_record.ts";
import { parseMetricsReport } from "../lib/report/metrics_record.ts";
import { parseStatisticsReport } from "../lib/report/statistics_record.ts";
import { readRun, type Run } from "../lib/store/read_run.ts";

/** What the README states of the canonical run. */
export interface Results {
  readonly run_id: string;
  readonly result_id: string;
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

const START = "<!-- results of `deno task ablate`, written by `deno task results` -->";
const END = "<!-- end of results -->";

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

/** The part of the README between the markers, markers included. */
export function resultsMarkdown(results: Results): string {
  const { difference: d } = results;
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    START,
    "",
    line(["policy", "successes", "TSR %, 95 % interval", "invalid actions %", "steps", "cost, s"]),
    "|---|---:|---:|---:|---:|---:|",
    ...results.rows.map((r) => line([r.name, r.successes, r.tsr, r.invalid, r.steps, r.cost_s])),
    "",
    `E − B is ${d.points} points: ${d.registered} by the registered resampling of seeds and cases, ${d.student} by Student's t`,
    `over both. Canonical: ${results.canonical ? "yes" : "no"}; registered hypothesis passed: ${
      results.hypothesis_passed ? "yes" : "no"
    }. Pre-registration`,
    `P \`${results.registration}\`, benchmark seed ${results.benchmark_seed}, run \`${
      results.run_id.slice(0, 23)
    }…\`,`,
    `result \`${results.result_id.slice(0, 23)}…\`: \`deno task ablate\` gives the same result id anywhere.`,
    "",
    END,
  ].join("\n");
}

/** The README with its results replaced. */
export function withResults(readme: string, results: Results): string {
  const [from, to] = [readme.indexOf(START), readme.indexOf(END)];
  if (from < 0 || to < from) throw new Error("the README has no place for results");
  return readme.slice(0, from) + resultsMarkdown(results) + readme.slice(to + END.length);
}

if (import.meta.main) {
  const at = Deno.args.indexOf("--manifest");
  if (at < 0) throw new Error("deno task results --manifest FILE");
  const results = resultsOf(readRun(Deno.args[at + 1]!));
  await Deno.mkdir("fixtures/results", { recursive: true });
  await Deno.writeTextFile("fixtures/results/full.json", JSON.stringify(results, null, 2) + "\n");
  await Deno.writeTextFile("README.md", withResults(await Deno.readTextFile("README.md"), results));
}
