import { deepEqual, equal, throws } from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import { linesOf, MAX_LINE, textOf } from "./lines.ts";

const encoder = new TextEncoder();

function pieces(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks = [];
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
  return chunks;
}

function* throughOneBuffer(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  const buffer = new Uint8Array(size);
  for (const piece of pieces(bytes, size)) {
    buffer.set(piece);
    yield buffer.subarray(0, piece.length);
    buffer.fill(0xff);
  }
}

Deno.test("linesOf() gives the same lines however the content is cut into pieces", () => {
  fc.assert(fc.property(
    fc.array(fc.string({ unit: "grapheme" }).map((text) => text.replaceAll("\n", " "))),
    fc.integer({ min: 1, max: 9 }),
    (lines, size) => {
      const bytes = encoder.encode(lines.map((line) => line + "\n").join(""));
      deepEqual([...linesOf(pieces(bytes, size))], lines);
    },
  ));
});

Deno.test("linesOf() keeps nothing of a piece, so that one buffer may bring them all", () => {
  const bytes = encoder.encode("one\ntwo and more\n\nthe last");
  for (const size of [1, 3, 5, 8, 100]) {
    deepEqual([...linesOf(throughOneBuffer(bytes, size))], ["one", "two and more", "", "the last"]);
  }
});

Deno.test("linesOf() gives out empty lines and a last line without a line feed", () => {
  deepEqual([...linesOf([encoder.encode("a\n\nb")])], ["a", "", "b"]);
  deepEqual([...linesOf([])], []);
  deepEqual([...linesOf([encoder.encode("\n")])], [""]);
});

Deno.test("linesOf() refuses a line over the limit, ended or not, and names it", () => {
  const long = new Uint8Array(MAX_LINE + 1).fill(97);
  const ended = new Uint8Array(MAX_LINE + 2).fill(97);
  ended[MAX_LINE + 1] = 10;
  for (const bytes of [long, ended]) {
    throws(
      () => [...linesOf([encoder.encode("first\n"), bytes])],
      (error) => hasCode(error, "line_too_long") && error.details["line"] === 2,
    );
  }
  equal([...linesOf([long.subarray(1)])].length, 1);
});

Deno.test("linesOf() and textOf() refuse what is not UTF-8 and keep a byte order mark visible", () => {
  throws(
    () => [...linesOf([new Uint8Array([97, 10, 0xff, 10])])],
    (error) => hasCode(error, "not_text") && error.details["line"] === 2,
  );
  throws(() => textOf(new Uint8Array([0xc0, 0x80])), (error) => hasCode(error, "not_text"));
  equal(textOf(new Uint8Array([0xef, 0xbb, 0xbf, 97])), "\ufeffa");
});
