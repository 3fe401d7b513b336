import { hasCode } from "../core/error.ts";
import type { SqlDatabase } from "./sql_database.ts";
import { sqlError } from "./sql_error.ts";

/** How much of a bad line an error shows. */
const SHOWN = 200;

/**
 * The error of a statement over `trace_lines()`, told with the line that it stumbled over: what the macro `refuse`
 * said, or else the first of the last lines that the probe fails on too.
 *
 * @param options.probe a query that takes one line as `$1` and fails where the statement would
 * @returns "sql_trace_schema" with variant, seed and line, or the error as it was
 */
export async function atItsLine(
  error: unknown,
  { database, probe }: { readonly database: SqlDatabase; readonly probe: string },
): Promise<unknown> {
  if (!hasCode(error, "sql_failed")) return error;
  const refusal = refusalIn(error.message);
  if (refusal !== undefined) return sqlError("sql_trace_schema", { ...refusal, cause: error });
  for (const { variant, seed, line, text } of database.lastLines) {
    try {
      await database.rows(probe, [text]);
    } catch (cause) {
      if (!hasCode(cause, "sql_failed")) return cause;
      return sqlError("sql_trace_schema", {
        message: cause.details.message ?? "the line is no trace",
        variant,
        seed: Number(seed),
        line,
        actual: text.slice(0, SHOWN),
        cause,
      });
    }
  }
  return error;
}

/** What `refuse` put into a message. Only our own SQL makes such messages, so their form is known. */
function refusalIn(message: string): { readonly [name: string]: unknown } | undefined {
  const json = /Invalid Input Error: (\{"place":\{.*\})/.exec(message)?.[1];
  if (json === undefined) return undefined;
  const { place, ...rest } = JSON.parse(json) as { readonly place: object };
  return { ...place, ...rest };
}
