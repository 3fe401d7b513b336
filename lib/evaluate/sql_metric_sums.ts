/** What is asked: the timeout, and which runs a scope takes together: one run, or all seeds of a variant. */
export const SCOPES = `
CREATE TABLE settings (timeout_ms BIGINT);
CREATE TABLE members (scope INTEGER, run INTEGER);
`;

/**
 * The sums that metrics are made of, from the tables `cases`, `members` and `settings`. Every sum is a 128-bit
 * integer, so no order of rows can matter, and leaving that range is an error. Source:
 * protocol/evaluation-and-evidence.md section 3.
 */
export const METRIC_SUMS = `
-- 232,792,560 = lcm(1..19): optimal / steps is a whole number of such parts for every length that is let in.
CREATE TABLE case_sums AS
SELECT
  scope,
  count(*)::HUGEINT AS cases,
  count(*) FILTER (success)::HUGEINT AS successes,
  count(*) FILTER (forbidden_side_effects > 0)::HUGEINT AS forbidden,
  sum(step_count)::HUGEINT AS steps,
  sum(CASE WHEN success THEN optimal_steps * (232792560 // greatest(step_count, optimal_steps)) ELSE 0 END)::HUGEINT
    AS efficiency_parts,
  sum(CASE WHEN success THEN service_ms ELSE 0 END)::HUGEINT AS success_ms,
  sum(CASE WHEN success THEN least(service_ms, timeout_ms) ELSE timeout_ms END)::HUGEINT AS cost_ms
FROM members JOIN cases USING (run) CROSS JOIN settings
GROUP BY scope;

CREATE TABLE action_sums AS
SELECT scope, count(*)::HUGEINT AS executed, count(*) FILTER (NOT executed_valid)::HUGEINT AS invalid
FROM members JOIN executed_actions USING (run)
GROUP BY scope;

CREATE TABLE family_sums AS
SELECT scope, family, count(*)::HUGEINT AS cases, count(*) FILTER (success)::HUGEINT AS successes
FROM members JOIN cases USING (run)
GROUP BY scope, family;

-- The families' rates over one common denominator.
CREATE TABLE macro_sums AS
SELECT scope, sum(successes * (common // cases))::HUGEINT AS numerator, any_value(common * families) AS denominator
FROM family_sums JOIN (
  SELECT scope, list_reduce(list(cases), lambda a, b: lcm(a, b)) AS common, count(*)::HUGEINT AS families
  FROM family_sums GROUP BY scope
) USING (scope)
GROUP BY scope;

CREATE VIEW quotients (scope, metric, n, d) AS
SELECT scope, 'tsr', successes, cases FROM case_sums
UNION ALL SELECT scope, 'macro_tsr', numerator, denominator FROM macro_sums
UNION ALL SELECT scope, 'invalid_action_rate', coalesce(invalid, 0), coalesce(executed, 1)
  FROM case_sums LEFT JOIN action_sums USING (scope)
UNION ALL SELECT scope, 'forbidden_side_effect_rate', forbidden, cases FROM case_sums
UNION ALL SELECT scope, 'steps_efficiency', efficiency_parts, 232792560 * cases FROM case_sums
UNION ALL SELECT scope, 'mean_steps', steps, cases FROM case_sums
UNION ALL SELECT scope, 'successful_conditional_simulated_service_time_s', success_ms, 1000 * successes FROM case_sums
UNION ALL SELECT scope, 'timeout_penalized_simulated_cost_s', cost_ms, 1000 * cases FROM case_sums;

-- Lowest terms and the one division; both numbers are far below 2^53 or refused by the reader, so it rounds correctly.
CREATE MACRO reduced(n, d) AS CASE WHEN d = 0 THEN NULL ELSE {
  'numerator': (n // gcd(abs(n), d))::HUGEINT,
  'denominator': (d // gcd(abs(n), d))::HUGEINT,
  'value': (n // gcd(abs(n), d))::DOUBLE / (d // gcd(abs(n), d))::DOUBLE
} END;
`;

/** Counts of every scope. */
export const COUNTS = `
SELECT scope, cases, successes, coalesce(executed, 0)::HUGEINT AS executed
FROM case_sums LEFT JOIN action_sums USING (scope) ORDER BY scope`;

/** Every metric of every scope, in lowest terms. */
export const QUOTIENTS =
  "SELECT scope, metric, reduced(n, d) AS fraction FROM quotients ORDER BY scope, metric";

/** Every family of every scope. */
export const FAMILIES = `
SELECT scope, family, cases, successes, reduced(successes, cases) AS fraction
FROM family_sums ORDER BY scope, family`;

/**
 * The paired difference of two variants, `$1` minus `$2`, over all seeds and cases; `unpaired` counts pairs that lack
 * a side. Source: protocol/evaluation-and-evidence.md section 4.
 */
export const PAIRED_DIFFERENCE = `
WITH outcomes AS (SELECT variant, seed, case_id, success FROM cases JOIN runs USING (run)),
paired AS (
  SELECT seed, case_id, t.success::INTEGER - b.success::INTEGER AS difference
  FROM (FROM outcomes WHERE variant = $1) AS t FULL JOIN (FROM outcomes WHERE variant = $2) AS b USING (seed, case_id)
),
sums AS (
  SELECT
    count(*)::HUGEINT AS observations,
    count(*) FILTER (difference IS NULL)::HUGEINT AS unpaired,
    count(DISTINCT seed)::HUGEINT AS seeds,
    count(DISTINCT case_id)::HUGEINT AS cases,
    coalesce(sum(difference), 0)::HUGEINT AS total
  FROM paired
)
SELECT *, reduced(total, observations) AS fraction FROM sums`;
