import { compareWithSql } from "./compare_with_sql.ts";
import type { MetricsJudge } from "./metrics_judge.ts";
import { SqlDatabase, type SqlRow, type SqlRun } from "./sql_database.ts";
import { sqlError } from "./sql_error.ts";
import { COUNTS, FAMILIES, METRIC_SUMS, PAIRED_DIFFERENCE, QUOTIENTS, SCOPES } from "./sql_metric_sums.ts";
import type { SqlFraction, SqlMetrics, SqlPointMetrics } from "./sql_metrics.ts";
import { fillTraceTables } from "./sql_trace_tables.ts";

/** What SQL is asked to measure. */
export interface SqlRequest {
  readonly runs: readonly SqlRun[];
  readonly comparisons: readonly { readonly treatment: string; readonly baseline: string }[];
  /** What a failure costs, in ms. */
  readonly timeoutMs: number;
}

/** A count or a reduced number as JavaScript holds it. @throws "sql_overflow" beyond the safe integers */
function whole(value: unknown, column: string): number {
  if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) return Number(value);
  throw sqlError("sql_overflow", { column, expected: "a whole number below 2^53", actual: String(value) });
}

function fraction(value: unknown): SqlFraction | null {
  if (value === null) return null;
  const { numerator, denominator, value: quotient } = value as SqlRow;
  return {
    numerator: whole(numerator, "numerator"),
    denominator: whole(denominator, "denominator"),
    value: Number(quotient),
  };
}

async function pointMetrics(database: SqlDatabase): Promise<ReadonlyMap<number, SqlPointMetrics>> {
  const families = Map.groupBy(await database.rows(FAMILIES), (row) => Number(row["scope"]));
  const quotients = Map.groupBy(await database.rows(QUOTIENTS), (row) => Number(row["scope"]));
  const counts = await database.rows(COUNTS);
  return new Map(counts.map((row) => {
    const scope = Number(row["scope"]);
    return [scope, {
      cases: whole(row["cases"], "cases"),
      successful_cases: whole(row["successes"], "successful_cases"),
      executed_actions: whole(row["executed"], "executed_actions"),
      families: Object.fromEntries((families.get(scope) ?? []).map((family) => [String(family["family"]), {
        cases: whole(family["cases"], "cases"),
        successful_cases: whole(family["successes"], "successful_cases"),
        tsr: fraction(family["fraction"]),
      }])),
      ...Object.fromEntries(
        (quotients.get(scope) ?? []).map((one) => [String(one["metric"]), fraction(one["fraction"])]),
      ),
    }];
  }));
}

async function compared(
  database: SqlDatabase,
  { treatment, baseline }: { readonly treatment: string; readonly baseline: string },
): Promise<SqlMetrics["comparisons"][number]> {
  const [row = {}] = await database.rows(PAIRED_DIFFERENCE, [treatment, baseline]);
  const [observations, unpaired, seeds, cases] = (["observations", "unpaired", "seeds", "cases"] as const)
    .map((column) => whole(row[column], column)) as [number, number, number, number];
  const difference = fraction(row["fraction"]);
  if (difference === null || unpaired > 0 || observations !== seeds * cases) {
    throw sqlError("sql_unpaired", {
      message: "two variants do not cover the same seeds and cases",
      treatment,
      baseline,
      expected: `${seeds} seeds of ${cases} cases each, all in pairs`,
      actual: `${observations} observations, ${unpaired} of them without the other side`,
    });
  }
  return {
    treatment,
    baseline,
    difference,
    seed_count: seeds,
    case_count: cases,
    paired_observations: observations,
  };
}

/**
 * Computes every point metric and the paired differences from trace lines by SQL alone. Shares no code with the
 * metrics in TypeScript. Intervals exist there only. Source: protocol/evaluation-and-evidence.md sections 3 and 4.
 *
 * @param request.runs one entry a variant and seed; lines are read once, a chunk at a time
 * @throws TracewrightError "sql_unavailable" without DuckDB; "sql_trace_schema" for a line that is no evidence;
 * "sql_duplicate", "sql_no_cases", "sql_unpaired", "sql_overflow"; whatever a source of lines throws
 */
export async function sqlJudge({ runs, comparisons, timeoutMs }: SqlRequest): Promise<SqlMetrics> {
  using database = await SqlDatabase.open();
  await fillTraceTables(database, runs);
  await database.run(SCOPES);
  await database.run("INSERT INTO settings VALUES ($1)", [BigInt(timeoutMs)]);
  const variants = [...new Set(runs.map((run) => run.variant))];
  for (const [at, run] of runs.entries()) {
    for (const scope of [at, runs.length + variants.indexOf(run.variant)]) {
      await database.run("INSERT INTO members VALUES ($1, $2)", [BigInt(scope), BigInt(at)]);
    }
  }
  await database.run(METRIC_SUMS);
  const metrics = await pointMetrics(database);
  const of = (scope: number, place: { readonly variant: string; readonly seed?: number }) => {
    const found = metrics.get(scope);
    if (found === undefined) throw sqlError("sql_no_cases", { ...place, expected: "at least one trace" });
    return found;
  };
  const differences = [];
  for (const comparison of comparisons) differences.push(await compared(database, comparison));
  return {
    timeout_ms: timeoutMs,
    runs: runs.map(({ variant, seed }, at) => ({ variant, seed, metrics: of(at, { variant, seed }) })),
    variants: variants.map((variant, v) => ({
      variant,
      seeds: runs.filter((run) => run.variant === variant).map((run) => run.seed),
      metrics: of(runs.length + v, { variant }),
    })),
    comparisons: differences,
  };
}

/** The second judge: {@link sqlJudge}, then {@link compareWithSql}. */
export const sqlMetricsJudge: MetricsJudge = async ({ stored, ...request }) =>
  compareWithSql(stored, await sqlJudge(request));
