import { type Digest, isDigest } from "../core/digest.ts";
import { makeDirectory } from "./_make_directory.ts";
import type { BlobStore } from "./blob_store.ts";
import { parseRunName } from "./run_name.ts";
import { storeError } from "./store_error.ts";

/** What a name may hold at most, in bytes; a digest and a line feed have 72. */
const MAX_REF = 100;
const HINT = "remove this one file, and give the name again: a run gets its name when it is run again";

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
    this.#blobs.prepare();
    this.#blobs.settle();
    makeDirectory(this.#blobs.layer, path.slice(0, path.lastIndexOf("/")));
    this.#blobs.writeFile(path, encoder.encode(digest + "\n"), "replace");
  }

  /** What a name points to, undefined where it points nowhere. @throws TracewrightError "bad_ref" */
  get(name: string): Digest | undefined {
    const path = this.#path(name);
    const { layer } = this.#blobs;
    const facts = layer.facts(path);
    if (facts !== undefined && (facts.kind !== "file" || facts.size > MAX_REF)) {
      throw storeError("bad_ref", {
        path,
        expected: `a file of at most ${MAX_REF} bytes`,
        actual: facts.kind === "file" ? facts.size : facts.kind,
        hint: HINT,
      });
    }
    const bytes = facts === undefined ? undefined : layer.read(path);
    if (bytes === undefined) return undefined;
    const text = decoder.decode(bytes);
    const digest = text.slice(0, -1);
    if (!text.endsWith("\n") || !isDigest(digest)) {
      throw storeError("bad_ref", { path, expected: "a digest and a line feed", actual: text, hint: HINT });
    }
    return digest;
  }

  /** Takes a name away. */
  remove(name: string): void {
    const path = this.#path(name);
    const { layer } = this.#blobs;
    if (layer.facts(path) === undefined) return;
    layer.remove(path);
    layer.syncDirectory(path.slice(0, path.lastIndexOf("/")));
  }

  /**
   * All names below a prefix such as `runs`, sorted, with what they point to.
   *
   * @throws TracewrightError "bad_ref", "path_not_allowed", and "symlink_not_allowed" or "unexpected_file" for what is neither
   * a file nor a directory
   */
  list(prefix = ""): { readonly name: string; readonly digest: Digest }[] {
    const found: { name: string; digest: Digest }[] = [];
    const folder = prefix === "" ? `${this.#blobs.path}/refs` : this.#path(prefix);
    for (const entry of this.#blobs.layer.list(folder)) {
      const name = prefix === "" ? entry.name : `${prefix}/${entry.name}`;
      if (entry.kind === "directory") found.push(...this.list(name));
      else if (entry.kind !== "file") {
        throw storeError(entry.kind === "symlink" ? "symlink_not_allowed" : "unexpected_file", {
          message: "a name of the store is a file",
          path: `${folder}/${entry.name}`,
          expected: "file",
          actual: entry.kind,
        });
      } else {
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
