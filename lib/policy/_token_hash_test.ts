import assert from "node:assert/strict";
import { TokenHash } from "./_token_hash.ts";

Deno.test("TokenHash.code() takes the bucket from the first 64 bits of SHA-256 and the sign from the 65th", () => {
  // sha256("abc") = ba7816bf8f01cfea 41...: 0xba7816bf8f01cfea = 13436514500253700074, modulo 40 it is 34; 0x41 < 0x80: -1
  assert.equal(13436514500253700074n, 0xba7816bf8f01cfean);
  assert.equal(new TokenHash(40).code("abc"), Number(13436514500253700074n % 40n) * 2);
  assert.equal(new TokenHash(40).code("abc"), 34 * 2);
  // sha256("") = e3b0c44298fc1c14 9a...: 0x9a >= 0x80: +1
  assert.equal(new TokenHash(16).code(""), Number(0xe3b0c44298fc1c14n % 16n) * 2 + 1);
});

Deno.test("TokenHash signs are independent of buckets", () => {
  const hash = new TokenHash(16);
  const signs = Array.from({ length: 16 }, () => [0, 0]);
  for (let i = 0; i < 4000; i++) {
    const code = hash.code("token " + i);
    signs[code >> 1]![code & 1]!++;
  }
  for (const [minus, plus] of signs) assert.ok(minus! > 80 && plus! > 80, `${minus} and ${plus}`);
});
