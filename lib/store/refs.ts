import { type Digest, isDigest } from "../core/digest.ts";
import type { BlobStore } from "./blob_store.ts";
import { parseRunName } from "./run_name.ts";
import { storeError } from "./store_error.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Names for digests, one file each: `refs/<name>` holds a digest and a line feed and is replaced as a whole. */
export class Refs {
  readonly #blobs: BlobStore;

  constructor(blobs: BlobStore) {
    this.#blobs = blobs;
  }

  /** Points a name to a digest. @throws TracewrightError "path_not_allowed" */
  set(name: string, digest: Digest): void {
    const path = this.#path(name);
    this.#blobs.layer.makeDirectory(path.slice(0, path.lastIndexOf("/")));
    this.#blobs.writeFile(path, encoder.encode(digest + "\n"), "replace");
  }

  /** What a name points to, undefined where it points nowhere. @throws TracewrightError "bad_ref" */
  get(name: string): Digest | undefined {
    const path = this.#path(name);
    const bytes = this.#blobs.layer.read(path);
    if (bytes === undefined) return undefined;
    const text = decoder.decode(bytes);
    const digest = text.slice(0, -1);
    if (!text.endsWith("\n") || !isDigest(digest)) {
      throw storeError("bad_ref", { path, expected: "a digest and a line feed", actual: text });
    }
    return digest;
  }

  /** Takes a name away. */
  remove(name: string): void {
    this.#blobs.layer.remove(this.#path(name));
  }

  /** All names below a prefix such as `runs`, sorted, with what they point to. */
  list(prefix = ""): { readonly name: string; readonly digest: Digest }[] {
    const found: { name: string; digest: Digest }[] = [];
    const folder = prefix === "" ? `${this.#blobs.path}/refs` : this.#path(prefix);
    for (const entry of this.#blobs.layer.list(folder)) {
      const name = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
      if (entry.kind === "directory") found.push(...this.list(name));
      else {
        const digest = this.get(name);
        if (digest !== undefined) found.push({ name, digest });
      }
    }
    return found;
  }

  #path(name: string): string {
    return `${this.#blobs.path}/refs/${parseRunName(name)}`;
  }
}
