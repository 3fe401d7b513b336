import { canonicalBytes } from "../core/canonical_json.ts";
import { type Digest, digestOf, DigestWriter, hexOf, parseDigest } from "../core/digest.ts";
import { makeDirectory } from "./_make_directory.ts";
import { Temporaries } from "./_temporaries.ts";
import { BlobReader } from "./blob_reader.ts";
import { diskLayer, type FileLayer, type LockHandle, type WriteHandle } from "./file_layer.ts";
import { storeError } from "./store_error.ts";

/** A content address and the number of bytes it stands for. */
export interface Descriptor {
  readonly digest: Digest;
  readonly size: number;
}

/** The content of the file `oci-layout` (OCI image layout specification, version 1.0.0). */
export const OCI_LAYOUT_BYTES = canonicalBytes({ imageLayoutVersion: "1.0.0" });
/** The content of the store's `index.json`: empty for ever, so that no two processes ever rewrite it. */
export const EMPTY_INDEX_BYTES = canonicalBytes({
  manifests: [],
  mediaType: "application/vnd.oci.image.index.v1+json",
  schemaVersion: 2,
});

/** The file of a store whose lock everybody shares who counts on its content, and a collection has alone. */
export const STORE_LOCK = "lock";

const BUFFER = 256 * 1024;

/**
 * Content-addressed bytes in an OCI image layout: `blobs/sha256/<64 hex>`. A blob is written to a temporary file,
 * brought to the disk, and only then given its name; it is never written again. Any number of processes may share a
 * store. Opening one writes nothing; the first write makes the layout and removes what killed processes left behind.
 */
export class BlobStore implements Disposable {
  /** The folder of the store. */
  readonly path: string;
  readonly layer: FileLayer;
  readonly #temporaries: Temporaries;
  #share: LockHandle | undefined;
  #ready = false;

  private constructor(path: string, layer: FileLayer) {
    this.path = path;
    this.layer = layer;
    this.#temporaries = new Temporaries(layer, `${path}/tmp`);
  }

  /** A store at `path`, which need not exist yet. */
  static open(path: string, { layer = diskLayer }: { layer?: FileLayer } = {}): BlobStore {
    return new BlobStore(path, layer);
  }

  /** Where a blob lies, or would lie. */
  blobPath(digest: Digest): string {
    return `${this.path}/blobs/sha256/${hexOf(parseDigest(digest))}`;
  }

  /** Whether a blob is there, and of the given size if one is given. Its content is checked when it is read. */
  has(digest: Digest, size?: number): boolean {
    const facts = this.layer.facts(this.blobPath(digest));
    return facts?.kind === "file" && (size === undefined || facts.size === size);
  }

  /**
   * Keeps collections away until the store is disposed of, and waits for one that is under way: what was seen stays. Every
   * method that stores does this first; it is for those who count on what an earlier process stored. Writes nothing.
   */
  hold(): void {
    this.#hold("existing");
  }

  /** Stores bytes; where they are already there, nothing is written. */
  put(bytes: Uint8Array): Descriptor {
    this.hold();
    const descriptor = { digest: digestOf(bytes), size: bytes.length };
    if (this.#isThere(descriptor)) return descriptor;
    this.writeFile(this.blobPath(descriptor.digest), bytes, "replace");
    return descriptor;
  }

  /** Stores content that comes piece by piece. A writer that is disposed of before `finish` leaves nothing. */
  writer(): BlobWriter {
    this.prepare();
    return new BlobWriter({
      layer: this.layer,
      temporary: this.#temporaries.next(),
      discard: (temporary) => this.#temporaries.discard(temporary),
      publish: (temporary, descriptor) => {
        if (this.#isThere(descriptor)) return false;
        this.layer.rename(temporary, this.blobPath(descriptor.digest));
        this.settle();
        return true;
      },
    });
  }

  /**
   * The bytes of a blob, hashed again.
   *
   * @throws TracewrightError "missing_blob", "blob_damaged" with both digests
   */
  read(digest: Digest): Uint8Array<ArrayBuffer> {
    return this.open(digest).bytes();
  }

  /** A reader over a blob, which hashes all of it before it gives out the first byte; throws like {@link read}. */
  open(digest: Digest): BlobReader {
    return new BlobReader({ layer: this.layer, path: this.blobPath(digest), digest });
  }

  /** The digests of all blobs, sorted. */
  list(): Digest[] {
    return this.layer.list(`${this.path}/blobs/sha256`).map(({ name }) => parseDigest(`sha256:${name}`));
  }

  /**
   * Returns once the names of all blobs are on the disk, those that another process gave included. A record that names
   * blobs is written after this: it never survives a power cut that they did not.
   */
  settle(): void {
    this.layer.syncDirectory(`${this.path}/blobs/sha256`);
  }

  /**
   * Writes a file of the store so that it is there whole or not at all.
   *
   * @param mode `"create"` leaves a file that is already there as it is
   * @returns false where `"create"` found the name taken
   */
  writeFile(path: string, bytes: Uint8Array, mode: "create" | "replace"): boolean {
    this.prepare();
    return this.#writeFile(path, bytes, mode);
  }

  /** Makes the folders, the lock and the two fixed files of the layout; does nothing the second time. */
  prepare(): void {
    if (this.#ready) return;
    makeDirectory(this.layer, this.path);
    this.#hold("create");
    for (const folder of ["blobs/sha256", "actions", "refs"]) {
      this.layer.makeDirectory(`${this.path}/${folder}`);
    }
    this.layer.syncDirectory(`${this.path}/blobs`);
    const fixed: readonly [string, Uint8Array][] = [["oci-layout", OCI_LAYOUT_BYTES], [
      "index.json",
      EMPTY_INDEX_BYTES,
    ]];
    for (const [name, bytes] of fixed) {
      const path = `${this.path}/${name}`;
      if (this.layer.facts(path) === undefined) this.#writeFile(path, bytes, "create");
    }
    this.layer.syncDirectory(this.path);
    this.#ready = true;
  }

  #writeFile(path: string, bytes: Uint8Array, mode: "create" | "replace"): boolean {
    const temporary = this.#temporaries.next();
    let created = true;
    try {
      {
        using file = this.layer.create(temporary);
        file.write(bytes);
        file.sync();
      }
      if (mode === "replace") this.layer.rename(temporary, path);
      else created = this.layer.link(temporary, path);
      this.layer.syncDirectory(path.slice(0, path.lastIndexOf("/")));
    } finally {
      this.#temporaries.discard(temporary);
    }
    return created;
  }

  #hold(mode: "create" | "existing"): void {
    if (this.#share !== undefined) return;
    const share = this.layer.share(`${this.path}/${STORE_LOCK}`, mode);
    if (share !== "absent") this.#share = share;
  }

  #isThere({ digest, size }: Descriptor): boolean {
    const facts = this.layer.facts(this.blobPath(digest));
    if (facts === undefined) return false;
    if (facts.kind === "file" && facts.size === size) return true;
    throw storeError("blob_damaged", {
      message: "a file of the store does not have the size its name stands for",
      path: this.blobPath(digest),
      expected: size,
      actual: facts.size,
      hint: "remove this one file and run the command again; it is made anew",
    });
  }

  /** Lets go of the store's temporary files and of its lock. Blobs stay readable. */
  [Symbol.dispose](): void {
    this.#temporaries[Symbol.dispose]();
    this.#share?.[Symbol.dispose]();
    this.#share = undefined;
    this.#ready = false;
  }
}

/** Content on its way into a store. */
export class BlobWriter implements Disposable {
  readonly #temporary: string;
  readonly #publish: (temporary: string, descriptor: Descriptor) => boolean;
  readonly #discard: (temporary: string) => void;
  readonly #hash = new DigestWriter();
  readonly #buffer = new Uint8Array(BUFFER);
  #filled = 0;
  #file: WriteHandle | undefined;

  /** Made by {@link BlobStore.writer}. */
  constructor({ layer, temporary, publish, discard }: {
    layer: FileLayer;
    temporary: string;
    /** Gives the finished file its name; false where the store has the content already. */
    publish: (temporary: string, descriptor: Descriptor) => boolean;
    discard: (temporary: string) => void;
  }) {
    this.#temporary = temporary;
    this.#publish = publish;
    this.#discard = discard;
    this.#file = layer.create(temporary);
  }

  /** Bytes taken so far. */
  get size(): number {
    return this.#hash.size;
  }

  write(bytes: Uint8Array): void {
    this.#hash.write(bytes);
    if (this.#filled + bytes.length > BUFFER) this.#flush();
    if (bytes.length >= BUFFER) {
      this.#open().write(bytes);
    } else {
      this.#buffer.set(bytes, this.#filled);
      this.#filled += bytes.length;
    }
  }

  /** Gives the content its name; the writer is closed after this. */
  finish(): Descriptor {
    this.#flush();
    const descriptor = { digest: this.#hash.finish(), size: this.#hash.size };
    const file = this.#open();
    file.sync();
    this.#close();
    let named = false;
    try {
      named = this.#publish(this.#temporary, descriptor);
    } finally {
      if (!named) this.#discard(this.#temporary);
    }
    return descriptor;
  }

  #open(): WriteHandle {
    if (this.#file === undefined) throw new Error("the blob writer is closed");
    return this.#file;
  }

  #flush(): void {
    if (this.#filled > 0) this.#open().write(this.#buffer.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #close(): void {
    this.#file?.[Symbol.dispose]();
    this.#file = undefined;
  }

  [Symbol.dispose](): void {
    if (this.#file === undefined) return;
    this.#close();
    this.#discard(this.#temporary);
  }
}
