import { sqlError } from "./sql_error.ts";
import type { SqlMetrics } from "./sql_metrics.ts";

/** The first number of stored metrics that SQL does not confirm. */
export interface SqlDifference {
  /** Whose number: variant and seed, a variant with all its seeds, or treatment and baseline. */
  readonly place: { readonly [name: string]: string | number };
  /** Dot-separated path below that place, e.g. `families.one.tsr.numerator`. */
  readonly metric: string;
  /** What SQL computes; undefined where it has nothing there. */
  readonly expected: unknown;
  /** What is stored; undefined where there is nothing. */
  readonly actual: unknown;
}

interface Fields {
  readonly [name: string]: unknown;
}

/** What only the TypeScript metrics compute; everything else beside a point metric must be one. */
const NOT_IN_SQL = new Set(["confidence_intervals"]);

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Fields : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isLeaf(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

type Place = SqlDifference["place"];
type Pair = { readonly expected: unknown; readonly actual: unknown };

/** Leaf by leaf, in the order of names; a name on one side only is a difference. */
function* differencesOf({ expected, actual }: Pair, path: string, place: Place): Generator<SqlDifference> {
  if (isLeaf(expected) || isLeaf(actual) || Array.isArray(expected) !== Array.isArray(actual)) {
    if (!Object.is(expected, actual)) yield { place, metric: path, expected, actual };
    return;
  }
  const [wanted, given] = [expected as Fields, actual as Fields];
  for (const name of [...new Set([...Object.keys(wanted), ...Object.keys(given)])].sort()) {
    if (NOT_IN_SQL.has(name) && !Object.hasOwn(wanted, name)) continue;
    yield* differencesOf(
      {
        expected: Object.hasOwn(wanted, name) ? wanted[name] : undefined,
        actual: Object.hasOwn(given, name) ? given[name] : undefined,
      },
      path === "" ? name : `${path}.${name}`,
      place,
    );
  }
}

/** Only the fields that SQL has; the stored entry may say more, such as an interval. */
function* differencesIn(wanted: Fields, stored: unknown, place: Place): Generator<SqlDifference> {
  const given = fieldsOf(stored);
  for (const [name, expected] of Object.entries(wanted)) {
    const actual = Object.hasOwn(given, name) ? given[name] : undefined;
    yield* differencesOf({ expected, actual }, name, place);
  }
}

function* allDifferences(stored: Fields, sql: SqlMetrics): Generator<SqlDifference> {
  yield* differencesIn({ timeout_s: sql.timeout_ms / 1000 }, stored, {});
  for (const part of ["runs", "variants", "comparisons"] as const) {
    const given = listOf(stored[part]);
    if (given.length !== sql[part].length) {
      yield { place: {}, metric: `${part}.length`, expected: sql[part].length, actual: given.length };
    }
  }
  for (const [at, { variant, seed, metrics }] of sql.runs.entries()) {
    const place = { variant, seed };
    const given = listOf(stored["runs"])[at];
    yield* differencesIn({ variant, seed }, given, place);
    yield* differencesOf({ expected: metrics, actual: fieldsOf(fieldsOf(given)["metrics"]) }, "", place);
    const { cases } = metrics;
    yield* differencesIn({ run: cases, scored: cases }, fieldsOf(given)["denominators"], place);
  }
  for (const [at, { variant, seeds, metrics }] of sql.variants.entries()) {
    const given = listOf(stored["variants"])[at];
    yield* differencesIn({ variant, seeds }, given, { variant });
    yield* differencesOf({ expected: metrics, actual: fieldsOf(fieldsOf(given)["metrics"]) }, "", {
      variant,
    });
  }
  for (const [at, entry] of sql.comparisons.entries()) {
    const { treatment, baseline } = entry;
    yield* differencesIn({ ...entry }, listOf(stored["comparisons"])[at], { treatment, baseline });
  }
}

/**
 * The first number of stored metrics that SQL does not confirm, or null where it confirms all that it computes:
 * fractions digit by digit, no tolerance. Intervals, and sections of the report that SQL knows nothing of, are not
 * looked at.
 *
 * @param stored the metrics report as it was read; nothing about it is taken for granted
 */
export function sqlDifference(stored: unknown, sql: SqlMetrics): SqlDifference | null {
  return allDifferences(fieldsOf(stored), sql).next().value ?? null;
}

/**
 * Like {@link sqlDifference}, as a check.
 *
 * @throws TracewrightError "metrics_sql_mismatch" with variant, seed, metric and both values
 */
export function compareWithSql(stored: unknown, sql: SqlMetrics): void {
  const difference = sqlDifference(stored, sql);
  if (difference === null) return;
  const { place, metric, expected, actual } = difference;
  throw sqlError("metrics_sql_mismatch", {
    message: "SQL computes another number from the same traces",
    ...place,
    metric,
    expected,
    actual,
    hint: "one of the two definitions of this metric is wrong, or the stored metrics were edited",
  });
}
