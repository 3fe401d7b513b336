import type { Json } from "../lib/core/canonical_json.ts";
import { type JsonDifference, jsonDifferences } from "../lib/core/json_difference.ts";
import type { BootstrapSettings } from "../lib/evaluate/case_cluster_bootstrap.ts";
import type { CaseCounts } from "../lib/evaluate/case_counts.ts";
import { type MetricsReport, metricsReport } from "../lib/evaluate/metrics_report.ts";
import { usageError } from "./_usage_error.ts";

/** What turns counts into metrics. */
export interface MetricsSettings {
  readonly timeoutMs: number;
  readonly bootstrap: BootstrapSettings;
}

/** Which run of a published report the traces belong to. */
export interface EntryName {
  readonly variant?: string | undefined;
  readonly seed?: number | undefined;
}

/** How a published report compares with what the traces give. */
export interface Comparison {
  /** The run of the report that was compared; null where it has none. */
  readonly entry: { readonly variant: string; readonly seed: number } | null;
  /** Differences by their path in the published report; expected is what the traces give. */
  readonly differences: readonly JsonDifference[];
  /** Parts of the report that need traces of other runs too. */
  readonly notCompared: readonly string[];
}

type Fields = { readonly [key: string]: Json };

function fieldsOf(value: Json | undefined): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Fields : undefined;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function isFinite(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

/**
 * The settings a published report states; those of the fallback where it states none, which the comparison then shows.
 */
export function publishedSettings(published: Json, fallback: MetricsSettings): MetricsSettings {
  const { timeout_s: timeout, bootstrap } = fieldsOf(published) ?? {};
  const { samples, confidence, seed } = fieldsOf(bootstrap) ?? {};
  const usable = isFinite(samples) && Number.isSafeInteger(samples) && samples >= 0 && samples !== 1 &&
    samples <= 1_000_000 &&
    isFinite(confidence) && confidence > 0 && confidence < 1 && isFinite(seed) && Number.isSafeInteger(seed);
  return {
    timeoutMs: isFinite(timeout) && timeout > 0 ? Math.floor(timeout * 1000 + 0.5) : fallback.timeoutMs,
    bootstrap: usable ? { samples, confidence, seed } : fallback.bootstrap,
  };
}

/** The report of one run alone, as a report of all runs holds it. */
export function recomputed(
  rows: readonly CaseCounts[],
  { variant, seed }: { readonly variant: string; readonly seed: number },
  settings: MetricsSettings,
): MetricsReport {
  const planned = rows.map((row) => row.case_id);
  return metricsReport([{ variant, seed, rows }], { planned, ...settings, comparisons: [] });
}

/** A difference below a path. */
function below(path: string, difference: JsonDifference): JsonDifference {
  return { ...difference, path: difference.path === "" ? path : `${path}.${difference.path}` };
}

/** Compares what must stand at a path with what does. */
function compare(path: string, expected: unknown, actual: Json | undefined): JsonDifference[] {
  const wanted = JSON.parse(JSON.stringify(expected)) as Json;
  if (actual === undefined) return [{ path, expected: wanted, actual }];
  return jsonDifferences(wanted, actual).map((difference) => below(path, difference));
}

interface Candidate {
  readonly index: number;
  readonly variant: string;
  readonly seed: number;
  readonly differences: readonly JsonDifference[];
}

function candidates(expected: MetricsReport, published: Json, { variant, seed }: EntryName): Candidate[] {
  const [{ variant: _variant, seed: _seed, ...numbers } = { variant: "", seed: 0 }] = expected.runs;
  return listOf(fieldsOf(published)?.["runs"]).flatMap((run, index): Candidate[] => {
    const { variant: name, seed: own, ...rest } = fieldsOf(run) ?? {};
    if (typeof name !== "string" || typeof own !== "number") return [];
    if ((variant !== undefined && variant !== name) || (seed !== undefined && seed !== own)) return [];
    return [{ index, variant: name, seed: own, differences: compare(`runs.${index}`, numbers, rest) }];
  });
}

/**
 * Compares a published report with what traces of one run give. Exact: no number is near enough to another.
 *
 * Traces do not say which run they belong to. Where the user does not say it either, it is the run that agrees with
 * them, or else the one that disagrees least.
 *
 * @param expected the report of that run alone, from {@link recomputed}; its variant and seed do not matter
 * @throws TracewrightError "no_such_entry" where the user named a run that the report does not have
 */
export function comparePublished(expected: MetricsReport, published: Json, entry: EntryName): Comparison {
  const found = candidates(expected, published, entry);
  if (found.length === 0 && (entry.variant !== undefined || entry.seed !== undefined)) {
    throw usageError("no_such_entry", {
      message: "the published metrics have no such run",
      actual: { ...entry },
      expected: candidates(expected, published, {}).map(({ variant, seed }) => `${variant}, seed ${seed}`),
    });
  }
  const report = fieldsOf(published) ?? {};
  const general = (["schema", "timeout_s", "bootstrap"] as const).flatMap((field) =>
    compare(field, expected[field], report[field])
  );
  const best = found.reduce<Candidate | undefined>(
    (least, one) => least === undefined || one.differences.length < least.differences.length ? one : least,
    undefined,
  );
  if (best === undefined) {
    return {
      entry: null,
      differences: [...general, ...compare("runs", expected.runs, report["runs"])],
      notCompared: [],
    };
  }
  const { variant, seed, differences } = best;
  const pooled = listOf(report["variants"]).findIndex((one) => fieldsOf(one)?.["variant"] === variant);
  const alone = pooled >= 0 && listOf(fieldsOf(listOf(report["variants"])[pooled])?.["seeds"]).length === 1;
  const own = alone
    ? compare(
      `variants.${pooled}`,
      { ...expected.variants[0], variant, seeds: [seed] },
      listOf(report["variants"])[pooled],
    )
    : [];
  const others = listOf(report["runs"]).length > 1;
  return {
    entry: { variant, seed },
    differences: [...general, ...differences, ...own],
    notCompared: [
      ...(others ? ["the other runs"] : []),
      ...(alone ? [] : ["variants"]),
      ...(listOf(report["comparisons"]).length > 0 ? ["comparisons"] : []),
    ],
  };
}
