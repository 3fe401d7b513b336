import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { checkDays, dayOfFile, DurationFile } from "./duration_file.ts";
import { WeightedDurations } from "./service_time_profile.ts";

const HEAD = "HashOwner,Average,Count,Minimum\n";

function read(pieces: readonly (string | Uint8Array)[]) {
  const durations = new WeightedDurations();
  const file = new DurationFile({ durations, file: "d01" });
  for (const piece of pieces) file.write(typeof piece === "string" ? new TextEncoder().encode(piece) : piece);
  file.end();
  const median = durations.total === 0 ? undefined : durations.quantiles([500])[0];
  return [durations.rows, durations.total, file.rowsLeftOut, median];
}

function fails(pieces: readonly (string | Uint8Array)[], code = "bad_duration_file"): void {
  assert.throws(() => read(pieces), (error) => hasCode(error, code), JSON.stringify(pieces).slice(0, 80));
}

Deno.test("DurationFile takes averages with their counts, whatever the pieces, line ends and spellings", () => {
  const text = HEAD + "ö,10,3,1\nb,1e1,1,1\nc, 12.5 ,2.0,1\nd,0,1,";
  assert.deepEqual(read([text]), [4, 7, 0, 10]);
  const bytes = new TextEncoder().encode(text);
  assert.deepEqual(read(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1))), [4, 7, 0, 10]);
  assert.deepEqual(read([text.replaceAll("\n", "\r\n") + "\r\n"]), [4, 7, 0, 10]);
  assert.deepEqual(read(["\ufeff" + "Count,Average\n2,5\n"]), [1, 2, 0, 5]);
});

Deno.test("DurationFile leaves out rows that do not count, and counts them", () => {
  const rows = [
    "a,,3,1",
    "a,nan,3,1",
    "a,inf,3,1",
    "a,-1,3,1",
    "a,0x10,3,1",
    "a,1e999,3,1",
    "a,5,0,1",
    "a,5,-2,1",
    "a,5,1.5,1",
    "a,5,,1",
    "a,5,9007199254740993,1",
    "a,5",
    "a,5,1,1,1",
    "",
  ];
  assert.deepEqual(read([HEAD, rows.join("\n"), "\n"]), [0, 0, 14, undefined]);
  assert.deepEqual(read([HEAD, "a,-0,1,1\n", rows.join("\n"), "\n"]), [1, 1, 14, 0]);
});

Deno.test("DurationFile refuses files that are something else", () => {
  fails([]);
  fails(["HashOwner,Mean,Count\na,1,1\n"]);
  fails(["Average,Average,Count\n1,1,1\n"]);
  fails([HEAD, new Uint8Array([0xff, 0x0a])]);
  fails([HEAD, new Uint8Array([0xc3])]);
  fails([HEAD, "x".repeat(2 ** 20), "x"]);
});

Deno.test("dayOfFile() knows the fourteen daily files by name", () => {
  const name = (day: string) => `function_durations_percentiles.anon.d${day}.csv`;
  assert.deepEqual(["01", "09", "14"].map((day) => dayOfFile(name(day))), [1, 9, 14]);
  for (const other of [name("00"), name("15"), name("1"), name("01") + ".bak", "d01.csv", ""]) {
    assert.equal(dayOfFile(other), undefined, other);
  }
});

Deno.test("checkDays() wants each day once", () => {
  const all = Array.from({ length: 14 }, (_, i) => i + 1);
  checkDays(all);
  checkDays([...all].reverse());
  for (const days of [[], all.slice(1), [...all, 14], [1, ...all.slice(1, 13), 1]]) {
    assert.throws(() => checkDays(days), (error) => hasCode(error, "wrong_days"));
  }
});
