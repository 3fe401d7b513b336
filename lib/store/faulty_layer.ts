import { diskLayer, type FileLayer, type LockHandle } from "./file_layer.ts";

/** An operation of a {@link FileLayer}, or of a file it opened for writing. */
export type Operation = keyof FileLayer | "write" | "sync";

/** Operations that change something on the disk. */
export const CHANGES: ReadonlySet<Operation> = new Set<Operation>([
  "create",
  "write",
  "sync",
  "rename",
  "link",
  "remove",
  "removeTree",
  "makeDirectory",
  "syncDirectory",
  "makeReadOnly",
  "lock",
]);

/**
 * The disk with failures in it, to test what a store does when the disk is full, read-only, or when the process ends
 * between two operations. Before each operation it asks `fault`; a returned error is thrown in place of the
 * operation, and a `write` leaves half of its bytes behind, as a real one may. Waiting for the disk is left out: a
 * test has no power cut to fear.
 */
export class FaultyLayer implements FileLayer {
  readonly #fault: (operation: Operation, path: string) => Error | undefined;
  readonly #locks = new Set<LockHandle>();

  constructor(fault: (operation: Operation, path: string) => Error | undefined) {
    this.#fault = fault;
  }

  /** Lets go of all locks, as the system does for a process that has died. */
  die(): void {
    for (const lock of this.#locks) lock[Symbol.dispose]();
    this.#locks.clear();
  }

  #check(operation: Operation, path: string): void {
    const error = this.#fault(operation, path);
    if (error !== undefined) throw error;
  }

  /** @inheritdoc */
  read(path: string) {
    this.#check("read", path);
    return diskLayer.read(path);
  }
  /** @inheritdoc */
  open(path: string) {
    this.#check("open", path);
    return diskLayer.open(path);
  }
  /** @inheritdoc */
  create(path: string) {
    this.#check("create", path);
    const handle = diskLayer.create(path);
    return {
      write: (bytes: Uint8Array) => {
        const error = this.#fault("write", path);
        handle.write(error === undefined ? bytes : bytes.subarray(0, bytes.length >> 1));
        if (error !== undefined) throw error;
      },
      sync: () => {
        this.#check("sync", path);
      },
      [Symbol.dispose]: () => handle[Symbol.dispose](),
    };
  }
  /** @inheritdoc */
  rename(from: string, to: string) {
    this.#check("rename", to);
    diskLayer.rename(from, to);
  }
  /** @inheritdoc */
  link(from: string, to: string) {
    this.#check("link", to);
    return diskLayer.link(from, to);
  }
  /** @inheritdoc */
  remove(path: string) {
    this.#check("remove", path);
    diskLayer.remove(path);
  }
  /** @inheritdoc */
  removeTree(path: string) {
    this.#check("removeTree", path);
    diskLayer.removeTree(path);
  }
  /** @inheritdoc */
  makeDirectory(path: string) {
    this.#check("makeDirectory", path);
    diskLayer.makeDirectory(path);
  }
  /** @inheritdoc */
  syncDirectory(path: string) {
    this.#check("syncDirectory", path);
  }
  /** @inheritdoc */
  makeReadOnly(path: string) {
    this.#check("makeReadOnly", path);
    diskLayer.makeReadOnly(path);
  }
  /** @inheritdoc */
  list(path: string) {
    this.#check("list", path);
    return diskLayer.list(path);
  }
  /** @inheritdoc */
  facts(path: string) {
    this.#check("facts", path);
    return diskLayer.facts(path);
  }
  /** @inheritdoc */
  lock(path: string, mode: "create" | "existing") {
    this.#check("lock", path);
    const lock = diskLayer.lock(path, mode);
    if (typeof lock === "string") return lock;
    this.#locks.add(lock);
    return {
      [Symbol.dispose]: () => {
        if (this.#locks.delete(lock)) lock[Symbol.dispose]();
      },
    };
  }
}
