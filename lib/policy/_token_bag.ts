import type { TokenHash } from "./_token_hash.ts";
import { keyToken, listToken, scalarToken, stringTokens, withoutIdentities } from "./_tokens.ts";
import { toFeature } from "./feature_grid.ts";

/** Beyond this many remembered strings a table starts anew; see TokenHash. */
const MEMO_LIMIT = 1 << 14;

/** Contents of a bag, to start another one from. */
export interface BagContents {
  readonly sums: Int32Array;
  readonly count: number;
}

/**
 * A bag of hashed tokens: the sum of signs per bucket, and how many tokens. The order in which tokens come does not
 * matter, so whole strings are remembered as lists of bucket codes.
 */
export class TokenBag {
  readonly #hash: TokenHash;
  readonly #sums: Int32Array;
  #count = 0;
  readonly #strings = new Map<string, Int32Array>();
  readonly #goals = new Map<string, Int32Array>();
  readonly #keys = new Map<string, number>();
  readonly #numbers = new Map<number, number>();

  constructor(hash: TokenHash) {
    this.#hash = hash;
    this.#sums = new Int32Array(hash.buckets);
  }

  /** How many slots the bag fills. */
  get width(): number {
    return this.#sums.length;
  }

  clear(): void {
    this.#sums.fill(0);
    this.#count = 0;
  }

  startFrom({ sums, count }: BagContents): void {
    this.#sums.set(sums);
    this.#count = count;
  }

  contents(): BagContents {
    return { sums: this.#sums.slice(), count: this.#count };
  }

  addToken(token: string): void {
    this.#addCode(this.#hash.code(token));
  }

  addString(text: string): void {
    this.#addCodes(this.#strings.get(text) ?? this.#remember(this.#strings, text, stringTokens(text)));
  }

  /** A goal, with every identity replaced. */
  addGoal(goal: string, identities: readonly string[]): void {
    const key = JSON.stringify([identities, goal]);
    this.#addCodes(
      this.#goals.get(key) ??
        this.#remember(this.#goals, key, stringTokens(withoutIdentities(goal, identities))),
    );
  }

  addKey(key: string): void {
    let code = this.#keys.get(key);
    if (code === undefined) {
      code = this.#hash.code(keyToken(key));
      if (this.#keys.size >= MEMO_LIMIT) this.#keys.clear();
      this.#keys.set(key, code);
    }
    this.#addCode(code);
  }

  addListLength(length: number): void {
    this.addToken(listToken(length));
  }

  addScalar(value: null | boolean | number): void {
    if (typeof value !== "number") return this.addToken(scalarToken(value));
    let code = this.#numbers.get(value);
    if (code === undefined) {
      code = this.#hash.code(scalarToken(value));
      if (this.#numbers.size >= MEMO_LIMIT) this.#numbers.clear();
      this.#numbers.set(value, code);
    }
    this.#addCode(code);
  }

  /**
   * Writes the block: each sum divided by max(1, sqrt(count)), on the feature grid.
   *
   * @throws TracewrightError "feature_out_of_range" if one bucket holds 64 more tokens of one sign than of the other
   * and little else
   */
  writeTo(out: Int32Array, at: number): void {
    const norm = Math.max(1, Math.sqrt(this.#count));
    for (let i = 0; i < this.#sums.length; i++) {
      const sum = this.#sums[i]!;
      out[at + i] = sum === 0 ? 0 : toFeature(sum / norm, "token block");
    }
  }

  #addCode(code: number): void {
    this.#sums[code >> 1]! += (code & 1) * 2 - 1;
    this.#count++;
  }

  #addCodes(codes: Int32Array): void {
    const sums = this.#sums;
    for (let i = 0; i < codes.length; i++) sums[codes[i]! >> 1]! += (codes[i]! & 1) * 2 - 1;
    this.#count += codes.length;
  }

  #remember(memo: Map<string, Int32Array>, key: string, tokens: readonly string[]): Int32Array {
    const codes = this.#hash.codes(tokens);
    if (memo.size >= MEMO_LIMIT) memo.clear();
    memo.set(key, codes);
    return codes;
  }
}
