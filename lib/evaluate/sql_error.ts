import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/**
 * Everything that can go wrong where metrics are computed in SQL. Apart from the codes of the TypeScript metrics on
 * purpose.
 */
export type SqlCode =
  /** The stored metrics are not what SQL computes from the same traces. */
  | "metrics_sql_mismatch"
  /** DuckDB could not be loaded. */
  | "sql_unavailable"
  /** The user insists on this judge, and it may not run. */
  | "sql_required"
  /** A trace line that SQL cannot read as evidence. */
  | "sql_trace_schema"
  | "sql_duplicate"
  | "sql_no_cases"
  | "sql_unpaired"
  /** A sum left 128 bits, or a reduced fraction the safe integers. */
  | "sql_overflow"
  /** A file that may not be written. */
  | "sql_not_writable"
  /** Anything else that DuckDB complains of. */
  | "sql_failed";

/** An error of the SQL judge. */
export function sqlError(code: SqlCode, details: ErrorDetails): TracewrightError<"evaluate", SqlCode> {
  return new TracewrightError<"evaluate", SqlCode>(code, details);
}
