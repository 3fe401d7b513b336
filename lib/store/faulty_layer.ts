import {
  diskLayer,
  type FileLayer,
  type LockHandle,
  type ReadHandle,
  type WriteHandle,
} from "./file_layer.ts";

/** An operation of a {@link FileLayer}, or of a file it opened: `write` and `sync` for writing, `readPart` for reading. */
export type Operation = keyof FileLayer | "write" | "sync" | "readPart";

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

/** What goes wrong with one operation. */
export interface Fault {
  /** Thrown in the end; without it the operation says that all went well. */
  readonly error?: Error;
  /** How much of it takes place before that: nothing, half of the bytes of a `write`, or all. */
  readonly done: "nothing" | "half" | "all";
}

/** Decides what goes wrong. An error alone stands in place of the operation, and a `write` leaves half of its bytes. */
export type FaultChoice = (operation: Operation, path: string) => Error | Fault | undefined;

/**
 * A disk with failures in it, to test what a store does when the disk is full, read-only, or when the process ends
 * between two operations. Before each operation it asks what goes wrong. Waiting for the real disk is left out: a test has
 * no power cut to fear, but for those of a `MemoryLayer`.
 */
export class FaultyLayer implements FileLayer {
  readonly #fault: FaultChoice;
  readonly #base: FileLayer;
  readonly #locks = new Set<LockHandle>();

  /** @param base the disk below; the machine's own if not given */
  constructor(fault: FaultChoice, { base = diskLayer }: { base?: FileLayer } = {}) {
    this.#fault = fault;
    this.#base = base;
  }

  /** Lets go of all locks, as the system does for a process that has died. */
  die(): void {
    for (const lock of this.#locks) lock[Symbol.dispose]();
    this.#locks.clear();
  }

  #do<T>(operation: Operation, path: string, act: () => T, half: () => T = act): T {
    const fault = this.#fault(operation, path);
    if (fault === undefined) return act();
    if (fault instanceof Error) {
      if (half !== act) half();
      throw fault;
    }
    // Where nothing is done and nothing said, only operations without a result can go on.
    const result = fault.done === "all" ? act() : fault.done === "half" ? half() : undefined;
    if (fault.error !== undefined) throw fault.error;
    return result as T;
  }

  #kept(lock: LockHandle): LockHandle {
    this.#locks.add(lock);
    return {
      [Symbol.dispose]: () => {
        if (this.#locks.delete(lock)) lock[Symbol.dispose]();
      },
    };
  }

  /** @inheritdoc */
  read(path: string) {
    return this.#do("read", path, () => this.#base.read(path));
  }
  /** @inheritdoc */
  open(path: string): ReadHandle | undefined {
    const handle = this.#do("open", path, () => this.#base.open(path));
    return handle && {
      read: (buffer) => this.#do("readPart", path, () => handle.read(buffer)),
      seek: (offset) => handle.seek(offset),
      [Symbol.dispose]: () => handle[Symbol.dispose](),
    };
  }
  /** @inheritdoc */
  create(path: string): WriteHandle {
    const handle = this.#do("create", path, () => this.#base.create(path));
    return {
      write: (bytes) =>
        this.#do(
          "write",
          path,
          () => handle.write(bytes),
          () => handle.write(bytes.subarray(0, bytes.length >> 1)),
        ),
      sync: () => this.#do("sync", path, () => this.#base === diskLayer ? undefined : handle.sync()),
      [Symbol.dispose]: () => handle[Symbol.dispose](),
    };
  }
  /** @inheritdoc */
  rename(from: string, to: string) {
    this.#do("rename", to, () => this.#base.rename(from, to));
  }
  /** @inheritdoc */
  link(from: string, to: string) {
    return this.#do("link", to, () => this.#base.link(from, to));
  }
  /** @inheritdoc */
  remove(path: string) {
    this.#do("remove", path, () => this.#base.remove(path));
  }
  /** @inheritdoc */
  removeTree(path: string) {
    this.#do("removeTree", path, () => this.#base.removeTree(path));
  }
  /** @inheritdoc */
  makeDirectory(path: string) {
    this.#do("makeDirectory", path, () => this.#base.makeDirectory(path));
  }
  /** @inheritdoc */
  syncDirectory(path: string) {
    this.#do(
      "syncDirectory",
      path,
      () => this.#base === diskLayer ? undefined : this.#base.syncDirectory(path),
    );
  }
  /** @inheritdoc */
  makeReadOnly(path: string) {
    this.#do("makeReadOnly", path, () => this.#base.makeReadOnly(path));
  }
  /** @inheritdoc */
  list(path: string) {
    return this.#do("list", path, () => this.#base.list(path));
  }
  /** @inheritdoc */
  facts(path: string) {
    return this.#do("facts", path, () => this.#base.facts(path));
  }
  /** @inheritdoc */
  lock(path: string, mode: "create" | "existing") {
    const lock = this.#do("lock", path, () => this.#base.lock(path, mode));
    return typeof lock === "string" ? lock : this.#kept(lock);
  }
  /** @inheritdoc */
  share(path: string, mode: "create" | "existing") {
    const lock = this.#do("share", path, () => this.#base.share(path, mode));
    return typeof lock === "string" ? lock : this.#kept(lock);
  }
  /** @inheritdoc */
  realPath(path: string) {
    return this.#do("realPath", path, () => this.#base.realPath(path));
  }
}
