import { storeError } from "./store_error.ts";

/** The longest line that is given out, in bytes. */
export const MAX_LINE = 1024 * 1024;

/** Where content came from, for messages. */
export type Origin = { readonly [place: string]: unknown };

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Bytes as text, strictly.
 *
 * @throws TracewrightError "not_text" where they are not UTF-8
 */
export function textOf(bytes: Uint8Array, origin: Origin = {}): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw storeError("not_text", { message: "the bytes are not UTF-8", ...origin, cause });
  }
}

/**
 * The lines of content that comes in pieces, without their line feeds. A last line that has none is given out too.
 *
 * @param chunks each is read before the next one is asked for, and not after that
 * @throws TracewrightError "line_too_long" beyond {@link MAX_LINE}, "not_text" where a line is not UTF-8
 */
export function* linesOf(chunks: Iterable<Uint8Array>, origin: Origin = {}): Generator<string> {
  let rest = new Uint8Array(0);
  let line = 1;
  for (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const bytes = chunk.subarray(start, end);
      yield lineOf(rest.length === 0 ? bytes : joined(rest, bytes), line++, origin);
      if (rest.length > 0) rest = new Uint8Array(0);
      start = end + 1;
    }
    rest = joined(rest, chunk.subarray(start));
    if (rest.length > MAX_LINE) tooLong(rest, line, origin);
  }
  if (rest.length > 0) yield lineOf(rest, line, origin);
}

function lineOf(bytes: Uint8Array, line: number, origin: Origin): string {
  if (bytes.length > MAX_LINE) tooLong(bytes, line, origin);
  try {
    return decoder.decode(bytes);
  } catch {
    return textOf(bytes, { ...origin, line }); // fails the same way, and says where
  }
}

function tooLong(bytes: Uint8Array, line: number, origin: Origin): never {
  throw storeError("line_too_long", {
    ...origin,
    line,
    expected: `at most ${MAX_LINE} bytes`,
    actual: bytes.length,
  });
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
