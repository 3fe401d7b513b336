import { sha256Hex } from "../core/digest.ts";

/** Beyond this many remembered tokens a table starts anew: memory stays bounded, results do not depend on it. */
const MEMO_LIMIT = 1 << 18;

/**
 * Hashes tokens into signed buckets (feature hashing, Weinberger et al. 2009), remembering every token seen.
 *
 * SHA-256 of the token; its first 8 bytes, as a big-endian number modulo the bucket count, are the bucket; the top
 * bit of the ninth byte is the sign, so the sign says nothing about the bucket and collisions can cancel.
 */
export class TokenHash {
  readonly #memo = new Map<string, number>();

  constructor(readonly buckets: number) {}

  /** Twice the bucket, plus 1 where the sign is +1: one small integer a token. */
  code(token: string): number {
    const known = this.#memo.get(token);
    if (known !== undefined) return known;
    const hash = sha256Hex(token);
    let remainder = 0;
    for (let i = 0; i < 16; i += 2) {
      remainder = (remainder * 256 + parseInt(hash.slice(i, i + 2), 16)) % this.buckets;
    }
    const code = remainder * 2 + (parseInt(hash.slice(16, 18), 16) >> 7);
    if (this.#memo.size >= MEMO_LIMIT) this.#memo.clear();
    this.#memo.set(token, code);
    return code;
  }

  codes(tokens: readonly string[]): Int32Array {
    return Int32Array.from(tokens, (token) => this.code(token));
  }
}
