import type { SqlDatabase, SqlRun } from "./sql_database.ts";
import { sqlError } from "./sql_error.ts";
import { atItsLine } from "./sql_line_error.ts";

/**
 * Fields are read by their JSON type and spelling, never by conversion: `1` is no boolean, `"3"` no count, and `NaN`,
 * which the JSON reader of DuckDB would let pass, no time. A time is whole milliseconds where its decimal spelling
 * has at most three digits after the point, so no rounding is involved. `refuse` ends the statement with the place
 * and the value's spelling as JSON.
 */
const SCHEMA = String.raw`
CREATE TABLE runs (run INTEGER, variant VARCHAR, seed BIGINT);

CREATE TABLE cases (
  run INTEGER,
  case_id VARCHAR,
  family VARCHAR,
  success BOOLEAN,
  forbidden_side_effects BIGINT,
  optimal_steps BIGINT,
  step_count BIGINT,
  service_ms BIGINT,
  executed_valid BOOLEAN[]
);

CREATE VIEW executed_actions AS
SELECT run, case_id, unnest(executed_valid) AS executed_valid FROM cases;

CREATE MACRO refuse(place, field, expected, actual) AS
  error(json_object('place', place, 'field', field, 'expected', expected, 'actual', actual::VARCHAR)::VARCHAR);

CREATE MACRO read_name(place, field, j) AS CASE
  WHEN json_type(j) = 'VARCHAR' AND (j ->> '$') <> '' THEN j ->> '$'
  ELSE refuse(place, field, 'a name', j) END;

CREATE MACRO read_flag(place, field, j) AS CASE
  WHEN json_type(j) = 'BOOLEAN' THEN j::VARCHAR = 'true'
  ELSE refuse(place, field, 'a boolean', j) END;

CREATE MACRO read_count(place, field, j) AS CASE
  WHEN json_type(j) = 'UBIGINT' AND regexp_full_match(j::VARCHAR, '0|[1-9][0-9]{0,14}') THEN j::VARCHAR::BIGINT
  ELSE refuse(place, field, 'a count', j) END;

CREATE MACRO read_ms(place, field, j) AS CASE
  WHEN json_type(j) IN ('UBIGINT', 'DOUBLE')
    AND regexp_full_match(j::VARCHAR, '(0|[1-9][0-9]{0,11})(\.[0-9]{1,3})?')
  THEN (j::VARCHAR::DECIMAL(18, 3) * 1000)::BIGINT
  ELSE refuse(place, field, 'seconds, whole milliseconds of them', j) END;
`;

/** Lines to rows: the two inner queries take a line apart, once; the outer one checks and types the parts. */
const READ_LINES = String.raw`
INSERT INTO cases
SELECT
  run,
  read_name(place, 'case_id', case_id),
  read_name(place, 'family', family),
  read_flag(place, 'success', success),
  read_count(place, 'forbidden_side_effect_count', forbidden),
  CASE
    WHEN read_count(place, 'optimal_steps', optimal) = 0 THEN refuse(place, 'optimal_steps', 'at least 1', optimal)
    WHEN optimal::VARCHAR::BIGINT > 19 THEN refuse(place, 'step_count', 'at most 19 steps', optimal)
    ELSE optimal::VARCHAR::BIGINT END,
  CASE
    WHEN steps IS NULL THEN refuse(place, 'steps', 'an array', NULL)
    WHEN steps = 0 AND json_type(text, '$.steps') <> 'ARRAY' THEN refuse(place, 'steps', 'an array', NULL)
    WHEN read_count(place, 'step_count', counted) <> steps THEN refuse(place, 'step_count', steps, counted)
    WHEN steps > 19 THEN refuse(place, 'step_count', 'at most 19 steps', counted)
    ELSE steps END,
  read_ms(place, 'simulated_latency_s', seconds),
  CASE
    WHEN json_type(actions) IS DISTINCT FROM 'ARRAY' THEN refuse(place, 'executed_actions', 'an array', actions)
    WHEN json_array_length(actions) <> steps
    THEN refuse(place, 'executed_actions', steps, json_array_length(actions))
    WHEN len(valid) <> steps THEN refuse(place, 'executed_valid', 'a boolean for every action', valid)
    ELSE list_transform(valid, lambda v: read_flag(place, 'executed_valid', v)) END
FROM (
  SELECT
    run,
    text,
    json_object('variant', variant, 'seed', seed, 'line', line, 'case', parts[1] ->> '$') AS place,
    parts[1] AS case_id,
    parts[2] AS family,
    parts[3] AS success,
    parts[4] AS forbidden,
    parts[5] AS optimal,
    parts[6] AS counted,
    parts[7] AS seconds,
    parts[8] AS actions,
    parts[8] -> '$[*].executed_valid' AS valid,
    steps
  FROM (
    SELECT
      *,
      json_extract(text, [
        '$.case_id', '$.family', '$.success', '$.forbidden_side_effect_count', '$.optimal_steps', '$.step_count',
        '$.simulated_latency_s', '$.executed_actions'
      ]) AS parts,
      json_array_length(text, '$.steps') AS steps
    FROM trace_lines()
  )
)`;

/**
 * Fills the tables `runs` and `cases` and the view `executed_actions` of an empty database from trace lines.
 *
 * @throws TracewrightError "sql_trace_schema" with variant, seed, line, case and field, where a line is no JSON or a
 * field is missing, of the wrong type, not finite, or contradicts the steps; "sql_duplicate" for a variant and seed,
 * or a case, that comes twice; whatever a source of lines throws
 */
export async function fillTraceTables(database: SqlDatabase, runs: readonly SqlRun[]): Promise<void> {
  await database.run(SCHEMA);
  for (const [run, { variant, seed }] of runs.entries()) {
    await database.run("INSERT INTO runs VALUES ($1, $2, $3)", [BigInt(run), variant, BigInt(seed)]);
  }
  database.provideLines(runs);
  try {
    await database.run(READ_LINES);
  } catch (error) {
    throw await atItsLine(error, { database, probe: "SELECT json_extract($1, '$')" });
  }
  await refuseDuplicates(database);
}

async function refuseDuplicates(database: SqlDatabase): Promise<void> {
  const [twice] = await database.rows(
    "SELECT variant, seed FROM runs GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL LIMIT 1",
  );
  if (twice !== undefined) {
    throw sqlError("sql_duplicate", {
      message: "a variant and seed comes twice",
      ...twice,
      seed: Number(twice["seed"]),
    });
  }
  const [again] = await database.rows(
    `SELECT variant, seed, case_id AS "case" FROM cases JOIN runs USING (run)
    GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL LIMIT 1`,
  );
  if (again !== undefined) {
    throw sqlError("sql_duplicate", {
      message: "a case comes twice",
      ...again,
      seed: Number(again["seed"]),
    });
  }
}
