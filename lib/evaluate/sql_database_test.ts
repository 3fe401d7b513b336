import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { sqlAllowed, SqlDatabase } from "./sql_database.ts";

Deno.test("SqlDatabase reaches nothing outside of memory, and cannot be talked into it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/secret.csv`, "a\n1\n");
    using database = await SqlDatabase.open();
    for (
      const sql of [
        `FROM read_csv('${folder}/secret.csv')`,
        `FROM read_text('${folder}/secret.csv')`,
        `FROM glob('${folder}/*')`,
        `COPY (SELECT 1) TO '${folder}/made.csv'`,
        `ATTACH '${folder}/made.db'`,
        `EXPORT DATABASE '${folder}/made'`,
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        `SET temp_directory = '${folder}'`,
        `SET allowed_directories = ['${folder}']`,
        "SET lock_configuration = false",
      ]
    ) {
      await assert.rejects(database.run(sql), (error) => hasCode(error, "sql_failed"), sql);
    }
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["secret.csv"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("SqlDatabase with a writable file reaches that file only", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const writable = `${folder}/it's here.csv`;
    using database = await SqlDatabase.open({ writable });
    const quoted = writable.replaceAll("'", "''");
    await database.run(`COPY (SELECT 1 AS a) TO '${quoted}' (USE_TMP_FILE false)`);
    for (
      const sql of [
        `COPY (SELECT 1) TO '${folder}/other.csv' (USE_TMP_FILE false)`,
        `COPY (SELECT 1) TO '${quoted}/../other.csv' (USE_TMP_FILE false)`,
        `FROM glob('${folder}/*')`,
        "SET enable_external_access = true",
        `SET allowed_paths = ['${folder}/other.csv']`,
      ]
    ) {
      await assert.rejects(database.run(sql), (error) => hasCode(error, "sql_failed"), sql);
    }
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["it's here.csv"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("SqlDatabase.run() tells a number that grew too large from any other failure", async () => {
  using database = await SqlDatabase.open();
  const largest = 2n ** 127n - 1n;
  await assert.rejects(
    database.rows("SELECT $1::HUGEINT + 1::HUGEINT", [largest]),
    (error) => hasCode(error, "sql_overflow"),
  );
  await assert.rejects(
    database.rows("SELECT lcm($1::HUGEINT, 2::HUGEINT)", [largest]),
    (error) => hasCode(error, "sql_overflow"),
  );
  await assert.rejects(database.run("SELECT nothing"), (error) => hasCode(error, "sql_failed"));
});

Deno.test("SqlDatabase.provideLines() hands over every line with its place, in chunks of one run", async () => {
  using database = await SqlDatabase.open();
  const lines = function* (count: number) {
    for (let i = 1; i <= count; i++) yield `line ${i}`;
  };
  database.provideLines([
    { variant: "B", seed: 17, lines: lines(5000) },
    { variant: "E", seed: 4_294_967_295, lines: [] },
    { variant: "É", seed: 4_294_967_295, lines: ["x".repeat(3 << 20), "last"] },
  ]);
  await database.run("CREATE TABLE seen AS FROM trace_lines()");
  const rows = await database.rows(`
    SELECT run, variant, seed, count(*) AS lines, count(DISTINCT line) AS numbers, min(line) AS first, max(line) AS last,
      count(*) FILTER (text = 'line ' || line) AS own, max(length(text)) AS longest
    FROM seen GROUP BY ALL ORDER BY run`);
  const counts = { lines: 5000n, numbers: 5000n, first: 1, last: 5000, own: 5000n, longest: 9n };
  assert.deepEqual(rows, [
    { run: 0, variant: "B", seed: 17n, ...counts },
    {
      ...{ run: 2, variant: "É", seed: 4_294_967_295n, lines: 2n, numbers: 2n },
      ...{ first: 1, last: 2, own: 0n, longest: 3_145_728n },
    },
  ]);
});

Deno.test({
  name: "sqlAllowed() is false where FFI is not granted, or granted by path",
  permissions: { ffi: ["node_modules"] },
  fn: () => assert.equal(sqlAllowed(), false),
});

Deno.test({
  name: "sqlAllowed() is true where FFI is granted without limits",
  permissions: { ffi: true },
  fn: () => assert.equal(sqlAllowed(), true),
});
