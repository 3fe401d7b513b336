import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { sqlError } from "./sql_error.ts";

/** A row of a result by column: text, a double, a whole number as bigint, a list, or null. */
export type SqlRow = { readonly [column: string]: unknown };

/** What a statement takes for `$1`, `$2` … */
export type SqlValue = string | bigint;

/** The lines of one variant and seed. */
export interface SqlRun {
  readonly variant: string;
  readonly seed: number;
  /** Canonical trace lines without line feeds; read once. */
  readonly lines: Iterable<string>;
}

/** A trace line and where it stands: the position of its run, the run's name, and its own number there, from 1. */
export interface PlacedLine {
  readonly run: number;
  readonly variant: string;
  readonly seed: bigint;
  readonly line: number;
  readonly text: string;
}

/** How much text is handed over at once, in UTF-16 units, and how many lines at most: what a vector of DuckDB holds. */
const CHUNK_TEXT = 1 << 20;
const CHUNK_LINES = 2048;

/**
 * Nothing outside of memory: no file, no extension, no spilling to disk, and none of it can be switched on again. One
 * thread, so that the same input is always read in the same order.
 */
const SEALED = {
  threads: "1",
  memory_limit: "256MB",
  temp_directory: "",
  enable_external_access: "false",
  autoload_known_extensions: "false",
  autoinstall_known_extensions: "false",
  allow_community_extensions: "false",
  allow_persistent_secrets: "false",
  lock_configuration: "true",
} as const;

type DuckDb = typeof import("@duckdb/node-api");
let loading: Promise<DuckDb> | undefined;

/** Loaded on first use, so that a process without `--allow-ffi` may import this file. */
async function load(): Promise<DuckDb> {
  try {
    return await import("@duckdb/node-api");
  } catch (cause) {
    throw sqlError("sql_unavailable", {
      message: "DuckDB could not be loaded",
      hint: "run with --allow-ffi; without it, work goes on with one judge of metrics",
      cause,
    });
  }
}

/**
 * Whether this program may load DuckDB: FFI without limits. A path-scoped `--allow-ffi=...` cannot be seen from
 * inside and counts as not allowed. Never asks the user.
 */
export function sqlAllowed(): boolean {
  return Deno.permissions.querySync({ name: "ffi" }).state === "granted";
}

/**
 * A DuckDB database in memory that can reach nothing else. Trace lines stream into it through the table function
 * `trace_lines()`, a chunk at a time.
 */
export class SqlDatabase implements Disposable {
  readonly #duckdb: DuckDb;
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  #sourceFailure: { readonly cause: unknown } | undefined;
  #chunk: readonly PlacedLine[] = [];

  private constructor(duckdb: DuckDb, instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#duckdb = duckdb;
    this.#instance = instance;
    this.#connection = connection;
  }

  /**
   * Opens an empty database.
   *
   * @param options.writable absolute path of the one file that `COPY … TO` may write; without it none
   * @throws TracewrightError "sql_unavailable" where DuckDB does not load
   */
  static async open({ writable }: { readonly writable?: string } = {}): Promise<SqlDatabase> {
    const duckdb = await (loading ??= load());
    if (writable === undefined) {
      const instance = await duckdb.DuckDBInstance.create(":memory:", SEALED);
      return new SqlDatabase(duckdb, instance, await instance.connect());
    }
    const { enable_external_access: access, lock_configuration: lock, ...settings } = SEALED;
    const instance = await duckdb.DuckDBInstance.create(":memory:", settings);
    const database = new SqlDatabase(duckdb, instance, await instance.connect());
    // In this order: the list of files can only be set while the door is still open.
    await database.run(`SET allowed_paths = ['${writable.replaceAll("'", "''")}']`);
    await database.run(`SET enable_external_access = ${access}`);
    await database.run(`SET lock_configuration = ${lock}`);
    return database;
  }

  /**
   * Carries out statements. @throws TracewrightError "sql_failed", "sql_overflow", or what the source of lines threw
   */
  async run(sql: string, values: readonly SqlValue[] = []): Promise<void> {
    await this.#guard(() => this.#connection.run(sql, [...values]));
  }

  /** The rows of a query, all at once. @throws like {@link run} */
  async rows(sql: string, values: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    const reader = await this.#guard(() => this.#connection.runAndReadAll(sql, [...values]));
    return reader.getRowObjectsJS();
  }

  /**
   * Offers lines as the table function `trace_lines()`, with the fields of {@link PlacedLine} as columns. They are
   * read once, while a statement that names it runs.
   */
  provideLines(runs: readonly SqlRun[]): void {
    const chunks = inChunks(runs);
    const { BIGINT, INTEGER, VARCHAR, DuckDBTableFunction } = this.#duckdb;
    const columns = [
      ["run", INTEGER],
      ["variant", VARCHAR],
      ["seed", BIGINT],
      ["line", INTEGER],
      ["text", VARCHAR],
    ] as const;
    this.#connection.registerTableFunction(DuckDBTableFunction.create({
      name: "trace_lines",
      bindFunction: (info) => columns.forEach(([name, type]) => info.addResultColumn(name, type)),
      initFunction: (info) => info.setMaxThreads(1),
      mainFunction: (_info, output) => {
        const chunk = this.#next(chunks);
        this.#chunk = chunk;
        output.rowCount = chunk.length;
        if (chunk.length === 0) return;
        for (const [c, [name]] of columns.entries()) {
          const vector = output.getColumnVector(c);
          chunk.forEach((placed, i) => vector.setItem(i, placed[name]));
          vector.flush();
        }
      },
    }));
  }

  /** The lines that were handed over last: where a statement stumbled, if it did. */
  get lastLines(): readonly PlacedLine[] {
    return this.#chunk;
  }

  #next(chunks: Iterator<readonly PlacedLine[]>): readonly PlacedLine[] {
    try {
      const next = chunks.next();
      return next.done ? [] : next.value;
    } catch (cause) {
      this.#sourceFailure = { cause }; // DuckDB would keep only its message
      throw cause;
    }
  }

  async #guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (this.#sourceFailure !== undefined) throw this.#sourceFailure.cause;
      const message = cause instanceof Error ? cause.message : String(cause);
      const overflow = message.startsWith("Out of Range Error");
      throw sqlError(overflow ? "sql_overflow" : "sql_failed", {
        message: message.split("\n")[0] ?? message,
        cause,
      });
    }
  }

  [Symbol.dispose](): void {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }
}

function* inChunks(runs: readonly SqlRun[]): Generator<readonly PlacedLine[]> {
  for (const [run, { variant, seed, lines }] of runs.entries()) {
    let [line, size] = [0, 0];
    let chunk: PlacedLine[] = [];
    for (const text of lines) {
      chunk.push({ run, variant, seed: BigInt(seed), line: ++line, text });
      size += text.length;
      if (size < CHUNK_TEXT && chunk.length < CHUNK_LINES) continue;
      yield chunk;
      [chunk, size] = [[], 0];
    }
    if (chunk.length > 0) yield chunk;
  }
}
