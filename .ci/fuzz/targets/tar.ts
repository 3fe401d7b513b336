import assert from "node:assert/strict";
import type { BundleCode } from "../../../lib/store/bundle_error.ts";
import { TarReader } from "../../../lib/store/tar_reader.ts";
import { TarWriter } from "../../../lib/store/tar_writer.ts";
import { TracewrightError } from "../../../lib/core/error.ts";
import { bytes } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { mutateBytes } from "../mutate_bytes.ts";
import { mutateTar } from "../mutate_tar.ts";
import { target } from "../target.ts";

/** What a reader of members may say. */
export const TAR_CODES: readonly BundleCode[] = [
  "archive_name",
  "archive_duplicate",
  "archive_order",
  "archive_member_kind",
  "archive_checksum",
  "archive_header",
  "archive_padding",
  "archive_truncated",
  "archive_trailing_data",
  "archive_too_many_members",
  "archive_too_large",
];
const LIMITS = { size: 65_536, members: 40 };

type Files = readonly (readonly [name: string, content: Uint8Array])[];

function archive(files: Files): Uint8Array<ArrayBuffer> {
  const parts: number[] = [];
  const writer = new TarWriter((part) => {
    for (const byte of part) parts.push(byte);
  });
  for (const [name, content] of files) writer.add({ name, size: content.length }, [content]);
  writer.finish();
  return Uint8Array.from(parts);
}

const seeds = [
  archive([["a", bytes("")], ["b/c", bytes("text")], ["b/d", new Uint8Array(513).fill(7)], [
    "e",
    new Uint8Array(512),
  ]]),
  archive(
    Array.from({ length: 39 }, (_, i) => [`f${String(i).padStart(2, "0")}`, bytes("x".repeat(i))] as const),
  ),
  archive([[`${"deep/".repeat(14)}${"n".repeat(90)}`, bytes("long")]]),
  archive([]),
];

function members(input: Uint8Array, size: number): Files {
  const files: (readonly [string, Uint8Array])[] = [];
  const reader = new TarReader(({ name }) => {
    const content: number[] = [];
    return {
      write: (part) => void content.push(...part),
      end: () => void files.push([name, Uint8Array.from(content)]),
    };
  }, LIMITS);
  for (let at = 0; at < input.length; at += size) reader.push(input.subarray(at, at + size));
  reader.finish();
  return files;
}

function inPieces(input: Uint8Array, size: number): string {
  try {
    members(input, size);
    return "accepted";
  } catch (error) {
    if (error instanceof TracewrightError) return error.code;
    throw error;
  }
}

/** Archives, as they come in pieces. */
export default target({
  codes: TAR_CODES,
  make: (random) =>
    random.integer(5) === 0
      ? mutateBytes(random.pick(seeds), seeds, random)
      : mutateTar(random.pick(seeds), random),
  read: (input) => members(input, 65_536),
  hold(files, input) {
    equalBytes(archive(files), input, "written again");
    for (const size of [97, 512]) assert.equal(inPieces(input, size), "accepted", `in pieces of ${size}`);
  },
  refused(input) {
    // Whether the size or something in it is wrong may depend on what is seen first.
    if (input.length > LIMITS.size) return;
    const whole = inPieces(input, 65_536);
    for (const size of [97, 512]) assert.equal(inPieces(input, size), whole, `in pieces of ${size}`);
  },
});
