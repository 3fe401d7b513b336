import type { FileLayer, LockHandle } from "./file_layer.ts";

const LOCK = ".lock";

/**
 * Names for half-written files and folders, in a directory of their own, and the removal of those that killed processes left.
 *
 * No age and no process number decides what is left over: each owner holds a lock on `<owner>.lock` for as long as it
 * lives, and the system drops that lock at its death. A cleaner removes `<owner>.*` only where it gets the lock, or
 * where the lock file is gone (it is removed last). A cleaner never creates a lock file, so an owner that has locked
 * its file and then still finds it in its place cannot be mistaken for a dead one.
 */
export class Temporaries implements Disposable {
  readonly #layer: FileLayer;
  readonly #directory: string;
  #owner: { readonly name: string; readonly lock: LockHandle } | undefined;
  #count = 0;

  constructor(layer: FileLayer, directory: string) {
    this.#layer = layer;
    this.#directory = directory;
  }

  /** A path that no other file of any process has. The first call makes the directory and removes what is left over. */
  next(): string {
    if (this.#owner === undefined) {
      this.#layer.makeDirectory(this.#directory);
      this.#owner = this.#acquire();
      this.removeAbandoned();
    }
    return `${this.#directory}/${this.#owner.name}.${this.#count++}`;
  }

  /** Removes the files of dead owners; returns how many. */
  removeAbandoned(): number {
    const owners = new Map<string, string[]>();
    for (const { name } of this.#layer.list(this.#directory)) {
      const owner = name.split(".", 1)[0]!;
      if (owner === this.#owner?.name) continue;
      const files = owners.get(owner) ?? [];
      if (!name.endsWith(LOCK)) files.push(name);
      owners.set(owner, files);
    }
    let removed = 0;
    for (const [owner, files] of owners) {
      const lockPath = `${this.#directory}/${owner}${LOCK}`;
      const lock = this.#layer.lock(lockPath, "existing");
      if (lock === "busy") continue;
      for (const name of files) {
        this.#layer.removeTree(`${this.#directory}/${name}`);
        removed++;
      }
      if (lock !== "absent") {
        this.#layer.remove(lockPath);
        lock[Symbol.dispose]();
      }
    }
    return removed;
  }

  /**
   * Removes a file or folder of this owner that may still be there, without hiding an error that is already on its
   * way up: what stays is harmless, and the next owner removes it.
   */
  discard(path: string): void {
    try {
      this.#layer.removeTree(path);
    } catch { /* see above */ }
  }

  #acquire(): { name: string; lock: LockHandle } {
    for (;;) {
      const name = crypto.randomUUID();
      const path = `${this.#directory}/${name}${LOCK}`;
      const lock = this.#layer.lock(path, "create");
      if (typeof lock === "string") continue; // a cleaner holds it for a moment and will remove it
      if (this.#layer.facts(path) !== undefined) return { name, lock };
      lock[Symbol.dispose](); // a cleaner came between creating and locking
    }
  }

  [Symbol.dispose](): void {
    if (this.#owner === undefined) return;
    const { name, lock } = this.#owner;
    this.#owner = undefined;
    this.discard(`${this.#directory}/${name}${LOCK}`);
    lock[Symbol.dispose]();
  }
}
