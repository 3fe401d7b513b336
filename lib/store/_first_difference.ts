import type { Digest } from "../core/digest.ts";
import type { TypedDescriptor } from "./action_record.ts";
import type { BlobStore } from "./blob_store.ts";

/** Where two blobs part: the byte offset and, for text, the line (from 1) with both versions of it. */
export interface Difference {
  readonly byte?: number;
  readonly line?: number;
  readonly recorded?: string;
  readonly now?: string;
  readonly comparison?: string;
}

const TEXT = /jsonl|ndjson|json$|^text\//;
const SHOWN = 160;

/** The first place where the recorded blob and the new one differ; says so where one of them cannot be read. */
export function firstDifference(store: BlobStore, recorded: TypedDescriptor, now: Digest): Difference {
  let left: Uint8Array;
  let right: Uint8Array;
  try {
    left = store.read(recorded.digest);
    right = store.read(now);
  } catch (error) {
    return { comparison: `not possible: ${error instanceof Error ? error.message : error}` };
  }
  const shorter = Math.min(left.length, right.length);
  let byte = 0;
  while (byte < shorter && left[byte] === right[byte]) byte++;
  if (!TEXT.test(recorded.media_type)) return { byte };
  let line = 1;
  let start = 0;
  for (let at = left.indexOf(10); at >= 0 && at < byte; at = left.indexOf(10, at + 1)) {
    line++;
    start = at + 1;
  }
  return { byte, line, recorded: excerpt(left, start, byte), now: excerpt(right, start, byte) };
}

/** The line that begins at `start`, cut so that the byte that differs is inside. */
function excerpt(bytes: Uint8Array, start: number, byte: number): string {
  const from = byte - start < SHOWN / 2 ? start : byte - SHOWN / 2;
  const feed = bytes.indexOf(10, from);
  const end = Math.min(feed < 0 ? bytes.length : feed, from + SHOWN);
  return new TextDecoder().decode(bytes.subarray(from, Math.max(from, end)));
}
