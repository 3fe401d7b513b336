import assert from "node:assert/strict";
import { canonicalJson } from "../lib/core/canonical_json.ts";
import { documented, run, TestBed } from "./_test_bed.ts";
import { deriveServiceTimes } from "./derive_service_times.ts";

const bed = new TestBed();
const FIXTURE = decodeURIComponent(new URL("../fixtures/azure", import.meta.url).pathname);
const ARCHIVE = `${FIXTURE}/days.tar.xz`;

/** What fixtures/azure/README.md counts by hand. */
const PROFILE = {
  schema: "tracewright.service-time-profile.v1",
  archive_sha256: null,
  filter: "Average is a finite number of at least 0 and Count a positive whole number",
  weight: "Count",
  unit: "s",
  rows: 16,
  rows_left_out: 5,
  invocations: 1000,
  quantiles: {
    "0.5": 0.14,
    "0.75": 0.334,
    "0.8": 0.902,
    "0.85": 1.592,
    "0.875": 1.633,
    "0.9": 1.658,
    "0.925": 1.686,
    "0.95": 1.734,
    "0.975": 2.5,
  },
};

/** The fourteen files in a folder of their own. */
function folderOf(name: string): string {
  const folder = `${bed.folder}/${name}`;
  Deno.mkdirSync(folder);
  for (const entry of Deno.readDirSync(FIXTURE)) {
    if (entry.name.endsWith(".csv")) {
      Deno.copyFileSync(`${FIXTURE}/${entry.name}`, `${folder}/${entry.name}`);
    }
  }
  return folder;
}

Deno.test({
  name: "derive-service-times reads a folder and an archive alike, and says how the frozen profile differs",
  permissions: documented(deriveServiceTimes.spec, bed.folder),
  fn: async () => {
    const output = `${bed.folder}/profile.json`;
    for (const args of [["--source", FIXTURE], ["--source", ARCHIVE, "--skip-hash"]]) {
      const { exit, out } = await run(deriveServiceTimes, ...args, "-o", output, "--json");
      assert.equal(exit, 0);
      const { profile, frozen } = JSON.parse(out);
      assert.deepEqual(profile, PROFILE);
      assert.equal(Deno.readTextFileSync(output), canonicalJson(PROFILE));
      assert.equal(frozen.matches, false);
      assert.deepEqual(frozen.differences.map(({ path }: { path: string }) => path), ["invocations", "rows"]);
    }
    const { out } = await run(deriveServiceTimes, "--source", FIXTURE);
    assert.match(out, /^16 rows, 1000 invocations; 5 rows left out\np50 +0\.14 s\n/);
    assert.match(out, /p87\.5 +1\.633 s\n/);
  },
});

Deno.test("derive-service-times refuses an archive that is not the published one, unless told otherwise", async () => {
  const { exit, out, err } = await run(deriveServiceTimes, "--source", ARCHIVE);
  assert.deepEqual([exit, out], [1, ""]);
  assert.match(err, /\[other_archive\]/);
  assert.match(err, /aff8b3ca7240a41a109e4ee598e0a96e45fcb92e7b8395ac19cb3748cd260d89/);
});

Deno.test("derive-service-times refuses damaged archives", async () => {
  const bytes = Deno.readFileSync(ARCHIVE);
  const cases = [
    ["cut.tar.xz", bytes.subarray(0, 400)],
    ["bad.tar.xz", bytes.map((byte, i) => i === 300 ? byte ^ 1 : byte)],
    ["no.tar", new TextEncoder().encode("no archive at all".repeat(100))],
  ] as const;
  for (const [name, content] of cases) {
    Deno.writeFileSync(`${bed.folder}/${name}`, content);
    const { exit, err } = await run(deriveServiceTimes, "--source", `${bed.folder}/${name}`, "--skip-hash");
    assert.equal(exit, 1, name);
    assert.match(err, /\[archive_damaged\]/, name);
  }
  Deno.writeFileSync(`${bed.folder}/empty.tar`, new Uint8Array());
  const { err } = await run(deriveServiceTimes, "--source", `${bed.folder}/empty.tar`, "--skip-hash");
  assert.match(err, /\[archive_cut_short\]/);
});

Deno.test("derive-service-times wants fourteen days, whole ones", async () => {
  const folder = folderOf("days");
  const day = `${folder}/function_durations_percentiles.anon.d03.csv`;
  Deno.writeTextFileSync(day, "a,b,c\n1,2,3\n");
  const { exit, err } = await run(deriveServiceTimes, "--source", folder);
  assert.equal(exit, 1);
  assert.match(err, /\[bad_duration_file\]\n.*d03\.csv:1/);
  Deno.removeSync(day);
  assert.match((await run(deriveServiceTimes, "--source", folder)).err, /\[wrong_days\]/);
  const missing = await run(deriveServiceTimes, "--source", `${bed.folder}/nowhere`);
  assert.equal(missing.exit, 2);
});
