import { SqlDatabase, type SqlRun } from "./sql_database.ts";
import { sqlError } from "./sql_error.ts";
import { atItsLine } from "./sql_line_error.ts";

/**
 * The columns of a row, one row a case: the fields of a compact trace under their own names. What has no fixed form
 * (arguments of a call, the final state) stays JSON text.
 */
const ROW = {
  case_id: "VARCHAR",
  family: "VARCHAR",
  difficulty: "VARCHAR",
  credit_assignment: "VARCHAR",
  success: "BOOLEAN",
  goal_predicates_satisfied: "BOOLEAN",
  forbidden_side_effect_count: "INTEGER",
  optimal_steps: "INTEGER",
  max_steps: "INTEGER",
  step_count: "INTEGER",
  simulated_latency_s: "DOUBLE",
  executed_actions: [{
    step_index: "INTEGER",
    candidate_index: "INTEGER",
    policy_input_sha256: "VARCHAR",
    executed_valid: "BOOLEAN",
    accepted: "BOOLEAN",
  }],
  steps: [{
    step_index: "INTEGER",
    action_index: "INTEGER",
    action: { tool_name: "VARCHAR", call_id: "VARCHAR", arguments: "JSON" },
    action_mask: ["BOOLEAN"],
    candidate_count: "INTEGER",
    candidates_sha256: "VARCHAR",
    log_prob: "DOUBLE",
    value: "DOUBLE",
    reward: "DOUBLE",
    reward_components: {
      task: "DOUBLE",
      progress: "DOUBLE",
      step: "DOUBLE",
      invalid: "DOUBLE",
      forbidden: "DOUBLE",
    },
    done: "BOOLEAN",
    valid_label: "BOOLEAN",
    predicted_valid: "BOOLEAN",
    invalid_kind: "VARCHAR",
    info: {
      node_id: "VARCHAR",
      idempotent_replay: "BOOLEAN",
      timed_out: "BOOLEAN",
      state_version: "INTEGER",
      total_simulated_latency_s: "DOUBLE",
      progress_potential: "JSON",
    },
  }],
  final_state: "JSON",
} as const;

const FORM = `'${JSON.stringify(ROW)}'`;
/** Rows that the writer holds before it puts them to the file: what bounds the memory. */
const ROW_GROUP = 2048;

function quoted(path: string): string {
  return `'${path.replaceAll("'", "''")}'`;
}

/**
 * Writes traces as one Parquet file: a row a case, in the given order, `variant` and `seed` first, steps nested. The
 * same lines and the same DuckDB give the same bytes. Lines stream through, so any number of them may come.
 *
 * A native library is not bound by Deno's sandbox. So Deno is asked whether the file may be written, and the
 * database, which is used for nothing else, can reach that one file only. The file is there as a whole or not at all.
 *
 * @param options.runs one entry a variant and seed, with compact trace lines
 * @param options.output path of the file; an older one is replaced
 * @returns how many rows were written
 * @throws TracewrightError "sql_not_writable" without write permission; "sql_unavailable"; "sql_trace_schema" for a
 * line that is no compact trace; "sql_failed"; whatever a source of lines throws
 */
export async function exportParquet(
  { runs, output }: { readonly runs: readonly SqlRun[]; readonly output: string },
): Promise<{ readonly rows: number }> {
  const partial = `${output}.partial`;
  for (const path of [output, partial]) {
    if (Deno.permissions.querySync({ name: "write", path }).state !== "granted") {
      throw sqlError("sql_not_writable", { path, hint: `add --allow-write=${path}, or its folder` });
    }
  }
  try {
    const rows = await copyTo(partial, runs);
    Deno.renameSync(partial, output);
    return { rows };
  } catch (error) {
    discard(partial);
    throw error;
  }
}

async function copyTo(path: string, runs: readonly SqlRun[]): Promise<number> {
  using database = await SqlDatabase.open({ writable: path });
  database.provideLines(runs);
  try {
    const [row] = await database.rows(`
      COPY (
        SELECT variant, seed, unnest(trace)
        FROM (SELECT variant, seed, from_json_strict(text, ${FORM}) AS trace FROM trace_lines())
      ) TO ${quoted(path)} (
        FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${ROW_GROUP}, USE_TMP_FILE false
      )`);
    return Number(row?.["Count"]);
  } catch (error) {
    throw await atItsLine(error, { database, probe: `SELECT from_json_strict($1, ${FORM})` });
  }
}

function discard(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
