import { type Digest, digestOf, DigestWriter } from "../core/digest.ts";
import type { FileLayer } from "./file_layer.ts";
import { linesOf, textOf } from "./lines.ts";
import { storeError } from "./store_error.ts";

/** Content up to this size is held in memory once it has been verified, and read only once. */
export const IN_MEMORY = 16 * 1024 * 1024;
const CHUNK = 1024 * 1024;
const REMOVE = "remove this one file and run the command again; it is made anew";

/**
 * The content of one blob, already verified: no byte is given out before all of them have been hashed. A blob too
 * large to hold is hashed once at the start, and again while it is given out; if it was changed in between, the last
 * step of the iteration throws.
 */
export class BlobReader {
  readonly digest: Digest;
  /** Bytes. */
  readonly size: number;
  readonly #layer: FileLayer;
  readonly #path: string;
  #held: Uint8Array<ArrayBuffer> | undefined;

  /**
   * @param given the size that a record states, where one does: a file that is large and not of this size is refused
   * without being read
   * @throws TracewrightError "missing_blob" where no file lies at `path`, "blob_damaged" where its content does not
   * have the digest
   */
  constructor({ layer, path, digest, size }: {
    layer: FileLayer;
    path: string;
    digest: Digest;
    size?: number | undefined;
  }) {
    this.#layer = layer;
    this.#path = path;
    this.digest = digest;
    const facts = layer.facts(path);
    if (facts === undefined) throw missing(digest, path);
    if (facts.kind !== "file") {
      throw storeError(facts.kind === "symlink" ? "symlink_not_allowed" : "unexpected_file", {
        path,
        expected: "a file",
        actual: facts.kind,
      });
    }
    if (size !== undefined && facts.size !== size && facts.size > IN_MEMORY) {
      throw storeError("blob_damaged", {
        message: "a blob does not have the size that is stated for it, and was not read",
        path,
        digest,
        expected: size,
        actual: facts.size,
        hint: REMOVE,
      });
    }
    if (facts.size <= IN_MEMORY) {
      const bytes = layer.read(path);
      if (bytes === undefined) throw missing(digest, path);
      const actual = digestOf(bytes);
      if (actual !== digest) throw damaged(digest, actual, path);
      this.#held = bytes;
      this.size = bytes.length;
    } else {
      this.size = facts.size;
      for (const _chunk of this.#passing()) { /* hashed on the way */ }
    }
  }

  /** The content in pieces that the caller owns. */
  *#stream(): Generator<Uint8Array<ArrayBuffer>> {
    for (const chunk of this.#passing()) yield chunk.slice();
  }

  /** The content in pieces that hold only until the next one: one buffer serves for a blob of any size. */
  *#passing(): Generator<Uint8Array<ArrayBuffer>> {
    using handle = this.#layer.open(this.#path);
    if (handle === undefined) throw missing(this.digest, this.#path);
    const hash = new DigestWriter();
    const buffer = new Uint8Array(CHUNK);
    for (let count = handle.read(buffer); count > 0; count = handle.read(buffer)) {
      const filled = buffer.subarray(0, count);
      hash.write(filled);
      yield filled;
    }
    const actual = hash.finish();
    if (actual !== this.digest) throw damaged(this.digest, actual, this.#path);
  }

  /** The content in pieces of at most 1 MiB. */
  *chunks(): Generator<Uint8Array<ArrayBuffer>> {
    if (this.#held === undefined) return yield* this.#stream();
    for (let at = 0; at < this.#held.length; at += CHUNK) yield this.#held.slice(at, at + CHUNK);
  }

  /** The whole content, a copy the caller owns. */
  bytes(): Uint8Array<ArrayBuffer> {
    if (this.#held !== undefined) return this.#held.slice();
    const all = new Uint8Array(this.size);
    let at = 0;
    for (const chunk of this.#passing()) {
      all.set(chunk, at);
      at += chunk.length;
    }
    return all;
  }

  /**
   * The whole content as UTF-8.
   *
   * @throws TracewrightError "not_text" where it is not UTF-8
   */
  text(): string {
    return textOf(this.#held ?? this.bytes(), { digest: this.digest });
  }

  /**
   * The content line by line, without the line feeds; see {@link linesOf}.
   */
  lines(): Generator<string> {
    return linesOf(this.#held === undefined ? this.#passing() : [this.#held], { digest: this.digest });
  }
}

function missing(digest: Digest, path: string) {
  return storeError("missing_blob", {
    message: "a blob is not there",
    path,
    expected: digest,
    actual: "no file",
    hint: "run the command that made it again, or restore the file",
  });
}

function damaged(expected: Digest, actual: Digest, path: string) {
  return storeError("blob_damaged", {
    message: "the content of a blob is not what its name says",
    path,
    expected,
    actual,
    hint: REMOVE,
  });
}
