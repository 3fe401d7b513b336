import fc from "fast-check";
import assert from "node:assert/strict";
import {
  digestOf,
  digestOfJson,
  DigestWriter,
  hexOf,
  isDigest,
  parseDigest,
  portableSha256,
  sha256,
  toHex,
} from "./digest.ts";
import { hasCode } from "./error.ts";

// FIPS 180-4 examples
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

Deno.test("digestOf() is SHA-256, of bytes and of a string's UTF-8", () => {
  assert.equal(digestOf(""), "sha256:" + EMPTY);
  assert.equal(digestOf("abc"), "sha256:" + ABC);
  assert.equal(digestOf(Uint8Array.of(0x61, 0x62, 0x63)), "sha256:" + ABC);
  assert.equal(digestOf("é"), digestOf(Uint8Array.of(0xc3, 0xa9)));
});

Deno.test("sha256() and portableSha256() give the same bytes", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
    assert.equal(toHex(sha256(bytes)), toHex(portableSha256(bytes)));
  }));
  assert.equal(toHex(portableSha256("abc")), ABC);
});

Deno.test("digestOfJson() does not depend on the order of keys", () => {
  assert.equal(digestOfJson({ b: 1, a: [2] }), digestOf('{"a":[2],"b":1}'));
});

Deno.test("DigestWriter gives the digest of its pieces in a row, and their size", () => {
  fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (pieces) => {
    const writer = new DigestWriter();
    for (const piece of pieces) writer.write(piece);
    const whole = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
    assert.equal(writer.size, whole.length);
    assert.equal(writer.finish(), digestOf(whole));
  }));
});

Deno.test("parseDigest() takes the one exact form, and hexOf() its digits", () => {
  assert.equal(hexOf(parseDigest("sha256:" + ABC)), ABC);
  assert.ok(isDigest("sha256:" + ABC));
  const bad = [
    ABC,
    "sha256:" + ABC.toUpperCase(),
    "sha256:" + ABC.slice(1),
    "sha256:" + ABC + "0",
    "sha256:" + ABC + "\n",
    " sha256:" + ABC,
    "sha512:" + ABC,
    "",
    undefined,
    7,
    ["sha256:" + ABC],
  ];
  for (const text of bad) {
    assert.ok(!isDigest(text));
    assert.throws(() => parseDigest(text), (e) => hasCode(e, "bad_digest"));
  }
});

Deno.test("toHex() writes two lower-case digits a byte", () => {
  assert.equal(toHex(Uint8Array.of(0, 9, 0x10, 0xaf, 0xff)), "000910afff");
});
