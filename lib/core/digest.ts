import { sha256 as nobleSha256 } from "@noble/hashes/sha2.js";
import { canonicalBytes } from "./canonical_json.ts";
import { TracewrightError } from "./error.ts";

declare const digestBrand: unique symbol;
/** A content address, `sha256:` and 64 lower-case hexadecimal digits. Made only by this file. */
export type Digest = string & { readonly [digestBrand]: "sha256" };

interface IncrementalHash {
  update(bytes: Uint8Array): unknown;
  digest(): Uint8Array;
}

interface NodeCrypto {
  createHash(name: string): IncrementalHash;
  /** One shot; five times faster than {@link createHash} for small content. */
  hash(name: string, content: Uint8Array | string, encoding: "hex"): string;
}

/** Deno and Node offer a native SHA-256 that needs no permission; a browser does not, and gets `@noble/hashes`. */
const native: NodeCrypto | undefined = (globalThis as {
  process?: { getBuiltinModule?: (name: string) => NodeCrypto | undefined };
}).process?.getBuiltinModule?.("node:crypto");

const encoder = new TextEncoder();
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Bytes as lower-case hexadecimal. */
export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += HEX[bytes[i]!];
  return text;
}

/** SHA-256 of bytes, or of a string's UTF-8: 32 bytes. */
export function sha256(content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  if (native === undefined) return nobleSha256(bytes);
  const hash = native.createHash("sha256");
  hash.update(bytes);
  return hash.digest();
}

/** SHA-256 of bytes, or of a string's UTF-8, as 64 hexadecimal digits: the fast way for small content. */
export function sha256Hex(content: Uint8Array | string): string {
  return native === undefined ? toHex(sha256(content)) : native.hash("sha256", content, "hex");
}

/** The portable implementation, which a browser uses; a test pins it to {@link sha256}. */
export function portableSha256(content: Uint8Array | string): Uint8Array {
  return nobleSha256(typeof content === "string" ? encoder.encode(content) : content);
}

/**
 * The content address of bytes, or of a string's UTF-8.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { digestOf, digestOfJson, hexOf, isDigest, parseDigest } from "./digest.ts";
 *
 * const digest = digestOf("abc");
 * assert.equal(hexOf(digest).slice(0, 8), "ba7816bf");
 * assert.equal(digestOfJson({ b: 1, a: 2 }), digestOfJson({ a: 2, b: 1 }));
 * assert.equal(parseDigest(`${digest}`), digest);
 * assert.ok(!isDigest("ba7816bf"));
 * ```
 */
export function digestOf(content: Uint8Array | string): Digest {
  return ("sha256:" + sha256Hex(content)) as Digest;
}

/** The content address of a value's canonical JSON. */
export function digestOfJson(value: unknown): Digest {
  return digestOf(canonicalBytes(value));
}

/** A digest fed piece by piece, for content that is not held in memory. */
export class DigestWriter {
  readonly #hash: IncrementalHash = native?.createHash("sha256") ?? nobleSha256.create();
  size = 0;

  write(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.size += bytes.length;
  }

  finish(): Digest {
    return ("sha256:" + toHex(this.#hash.digest())) as Digest;
  }
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** True where a value has the exact form of a {@link Digest}. */
export function isDigest(value: unknown): value is Digest {
  return typeof value === "string" && DIGEST.test(value);
}

/**
 * Reads a digest at the edge.
 *
 * @throws TracewrightError "bad_digest" if the text is not `sha256:` and 64 lower-case hexadecimal digits
 */
export function parseDigest(text: unknown): Digest {
  if (isDigest(text)) return text;
  throw new TracewrightError<"core", "bad_digest">("bad_digest", {
    expected: "sha256: and 64 lower-case hexadecimal digits",
    actual: text,
  });
}

/** The 64 hexadecimal digits of a digest, its file name in an OCI image layout. */
export function hexOf(digest: Digest): string {
  return digest.slice("sha256:".length);
}
