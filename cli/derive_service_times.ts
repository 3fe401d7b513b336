import { canonicalBytes, type Json } from "../lib/core/canonical_json.ts";
import { type Digest, DigestWriter } from "../lib/core/digest.ts";
import { TracewrightError } from "../lib/core/error.ts";
import { checkDays, dayOfFile, DurationFile } from "../lib/benchmark/duration_file.ts";
import {
  frozenDifferences,
  serviceTimeProfile,
  WeightedDurations,
} from "../lib/benchmark/service_time_profile.ts";
import { SERVICE_TIME_SOURCE } from "../lib/world/service_time.ts";
import { command, executeCommand } from "./_command.ts";
import { writeFileWhole } from "./_output.ts";
import { DERIVE_SERVICE_TIMES } from "./_specs.ts";
import { TarReader } from "./_tar_reader.ts";
import { isXz, unxz } from "./_xz.ts";

/** Counts the durations of daily files, wherever they come from. */
class Days {
  readonly durations = new WeightedDurations();
  readonly #seen: number[] = [];
  readonly #files: DurationFile[] = [];

  /** Something that takes a day's content; undefined for a file that is not one of the days. */
  open(path: string): DurationFile | undefined {
    const day = dayOfFile(path.slice(path.lastIndexOf("/") + 1));
    if (day === undefined) return undefined;
    this.#seen.push(day);
    const file = new DurationFile({ durations: this.durations, file: path });
    this.#files.push(file);
    return file;
  }

  /** Rows that did not count, once every day was there. @throws TracewrightError "wrong_days" */
  finish(): number {
    checkDays(this.#seen);
    return this.#files.reduce((sum, file) => sum + file.rowsLeftOut, 0);
  }
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  using file = await Deno.open(path, { read: true });
  const buffer = new Uint8Array(1 << 20);
  for (;;) {
    const count = await file.read(buffer);
    if (count === null) return;
    yield buffer.slice(0, count);
  }
}

/** @throws TracewrightError "wrong_days" before anything is read where a day is missing */
async function readFolder(folder: string, days: Days): Promise<void> {
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
  const daily = names.filter((name) => dayOfFile(name) !== undefined);
  checkDays(daily.map((name) => dayOfFile(name)!));
  for (const name of daily) {
    const file = days.open(name)!;
    for await (const chunk of chunksOf(`${folder}/${name}`)) file.write(chunk);
    file.end();
  }
}

async function digestOfFile(path: string): Promise<Digest> {
  const hash = new DigestWriter();
  for await (const chunk of chunksOf(path)) hash.write(chunk);
  return hash.finish();
}

/** Hashes the archive before a byte of it is interpreted. */
async function checkArchive(path: string): Promise<Digest> {
  const actual = await digestOfFile(path);
  if (actual === SERVICE_TIME_SOURCE.archive_sha256) return actual;
  throw new TracewrightError<"cli", "other_archive">("other_archive", {
    message: "this is not the published archive",
    path,
    expected: SERVICE_TIME_SOURCE.archive_sha256,
    actual,
    hint: "--skip-hash reads it all the same; an unpacked .tar or a folder never has this digest",
  });
}

/** Reads a tar archive, compressed with xz or not. */
async function readArchive(path: string, days: Days): Promise<void> {
  let start = new Uint8Array();
  for await (const chunk of chunksOf(path)) {
    start = chunk.slice(0, 6);
    break;
  }
  const reader = new TarReader((name) => days.open(name));
  const chunks = chunksOf(path);
  for await (const chunk of isXz(start) ? unxz(ReadableStream.from(chunks)) : chunks) reader.write(chunk);
  reader.end();
}

/**
 * `derive-service-times`: derives the simulated service times from the public trace of Azure Functions, as an archive or a
 * folder with its 14 daily files of durations, and compares them with the frozen ones.
 */
export const deriveServiceTimes = command(DERIVE_SERVICE_TIMES, async (options, { note }) => {
  const days = new Days();
  let archive: Digest | null = null;
  if ((await Deno.stat(options.source)).isDirectory) await readFolder(options.source, days);
  else {
    if (!options.skipHash) {
      note("hashing the archive …");
      archive = await checkArchive(options.source);
    }
    note("reading the archive …");
    await readArchive(options.source, days);
  }
  const profile = serviceTimeProfile(days.durations, { archive, rowsLeftOut: days.finish() });
  const differences = frozenDifferences(profile);
  if (options.output !== undefined) writeFileWhole(options.output, canonicalBytes(profile));
  const matches = differences.length === 0;
  return {
    json: {
      profile,
      frozen: { profile: SERVICE_TIME_SOURCE.profile, matches, differences },
    } as unknown as Json,
    lines: [
      `${profile.rows} rows, ${profile.invocations} invocations; ${profile.rows_left_out} rows left out`,
      ...Object.entries(profile.quantiles).map(([q, seconds]) =>
        `p${Number(q) * 100}`.padEnd(7) + `${seconds} s`
      ),
      matches
        ? `equal to the frozen profile ${SERVICE_TIME_SOURCE.profile}`
        : `not the frozen profile ${SERVICE_TIME_SOURCE.profile}: ` +
          differences.map(({ path, expected, actual }) => `${path} ${actual}, there ${expected}`).join("; "),
    ],
    // Only of the published archive is it known what must come out.
    verdict: archive !== null && !matches ? "wrong" : "good",
  };
});

if (import.meta.main) await executeCommand(deriveServiceTimes);
