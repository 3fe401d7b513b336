import type {
  DirectoryEntry,
  FileFacts,
  FileLayer,
  LockHandle,
  ReadHandle,
  WriteHandle,
} from "./file_layer.ts";
import { type IoCode, storeError } from "./store_error.ts";

/** A file: what a reader sees, and what is certain to be there after a power cut. */
class MemoryFile {
  content = new Uint8Array(0);
  durable = new Uint8Array(0);
  links = 0;
  writable = true;
  /** How many share its lock, or that one has it alone. */
  lock: number | "alone" = 0;
}

/** A directory: the names that a reader sees, and those that are certain to be there after a power cut. */
class MemoryDirectory {
  readonly names = new Map<string, MemoryNode>();
  durable: ReadonlyMap<string, MemoryNode> = new Map();
}

type MemoryNode = MemoryFile | MemoryDirectory;

/** What a power cut does to something that had not been brought to the disk; a number below `choices`, drawn for each. */
export type PowerCutChoice = (choices: number) => number;

/**
 * A disk in memory, for tests: as the machine's own to whoever uses it, and with power cuts. What was written and not
 * synchronised may then be there, or not, or have other bytes; a name that was given, taken or moved may be there or not,
 * each independently of the others. That is more than any file system does.
 */
export class MemoryLayer implements FileLayer {
  readonly #root: MemoryDirectory;

  constructor(root: unknown = new MemoryDirectory()) {
    this.#root = root instanceof MemoryDirectory ? root : new MemoryDirectory();
  }

  /** The same disk once more, without any lock. */
  copy(): MemoryLayer {
    const copies = new Map<MemoryNode, MemoryNode>();
    const copyOf = <T extends MemoryNode>(node: T): T => {
      const known = copies.get(node);
      if (known !== undefined) return known as T;
      const copy = node instanceof MemoryFile ? new MemoryFile() : new MemoryDirectory();
      copies.set(node, copy);
      if (node instanceof MemoryFile) {
        const { content, durable, links, writable } = node; // the bytes themselves are never changed
        Object.assign(copy, { content, durable, links, writable });
      } else if (copy instanceof MemoryDirectory) {
        for (const [name, entry] of node.names) copy.names.set(name, copyOf(entry));
        copy.durable = new Map([...node.durable].map(([name, entry]) => [name, copyOf(entry)]));
      }
      return copy as T;
    };
    return new MemoryLayer(copyOf(this.#root));
  }

  /** What is on the disk after the power has gone: all of it certain. The first choice always loses everything. */
  powerCut(choose: PowerCutChoice): MemoryLayer {
    const survivors = new Map<MemoryFile, MemoryFile>();
    const fileOf = (file: MemoryFile): MemoryFile => {
      const known = survivors.get(file);
      if (known !== undefined) return known;
      const after = new MemoryFile();
      const contents = file.content === file.durable
        ? [file.content]
        : [file.durable, file.content, new Uint8Array(file.content.length)];
      after.content = after.durable = contents[choose(contents.length)] ?? file.durable;
      after.writable = file.writable;
      survivors.set(file, after);
      return after;
    };
    const directoryOf = (directory: MemoryDirectory): MemoryDirectory => {
      const after = new MemoryDirectory();
      for (const name of new Set([...directory.names.keys(), ...directory.durable.keys()])) {
        const [before, now] = [directory.durable.get(name), directory.names.get(name)];
        const survivor = before === now || choose(2) === 0 ? before : now;
        if (survivor === undefined) continue;
        const entry = survivor instanceof MemoryFile ? fileOf(survivor) : directoryOf(survivor);
        if (entry instanceof MemoryFile) entry.links++;
        after.names.set(name, entry);
      }
      after.durable = new Map(after.names);
      return after;
    };
    return new MemoryLayer(directoryOf(this.#root));
  }

  /** Every path there is, with the kind and size of what lies there; for comparison. */
  *paths(below = ""): Generator<{ path: string } & FileFacts> {
    for (const { name } of this.list(below)) {
      const path = `${below}/${name}`;
      const facts = this.facts(path);
      if (facts !== undefined) yield { path, ...facts };
      if (facts?.kind === "directory") yield* this.paths(path);
    }
  }

  #find(path: string): MemoryNode | undefined {
    let node: MemoryNode | undefined = this.#root;
    for (const name of path.split("/")) {
      if (name === "" || name === ".") continue;
      if (node instanceof MemoryFile) throw failure("no_such_file", path);
      node = node?.names.get(name);
    }
    return node;
  }

  /** The directory that a path lies in, and its last name. */
  #place(path: string): { directory: MemoryDirectory; name: string } {
    const at = path.lastIndexOf("/");
    const directory = this.#find(path.slice(0, Math.max(at, 0)));
    if (!(directory instanceof MemoryDirectory)) throw failure("no_such_file", path);
    return { directory, name: path.slice(at + 1) };
  }

  #file(path: string): MemoryFile | undefined {
    const node = this.#find(path);
    if (node instanceof MemoryDirectory) throw failure("io_error", path);
    return node;
  }

  /** @inheritdoc */
  read(path: string) {
    return this.#file(path)?.content.slice();
  }
  /** @inheritdoc */
  open(path: string): ReadHandle | undefined {
    const file = this.#file(path);
    let at = 0;
    return file && {
      read: (buffer) => {
        const part = file.content.subarray(at, at + buffer.length);
        buffer.set(part);
        at += part.length;
        return part.length;
      },
      seek: (offset) => void (at = offset),
      [Symbol.dispose]: () => {},
    };
  }
  /** @inheritdoc */
  create(path: string): WriteHandle {
    const { directory, name } = this.#place(path);
    if (directory.names.has(name)) throw failure("io_error", path);
    const file = new MemoryFile();
    give(directory, name, file);
    return {
      write: (bytes) => {
        const all = new Uint8Array(file.content.length + bytes.length);
        all.set(file.content);
        all.set(bytes, file.content.length);
        file.content = all;
      },
      sync: () => void (file.durable = file.content),
      [Symbol.dispose]: () => {},
    };
  }
  /** @inheritdoc */
  rename(from: string, to: string) {
    const [source, target] = [this.#place(from), this.#place(to)];
    const node = source.directory.names.get(source.name);
    if (node === undefined) throw failure("no_such_file", from);
    const replaced = target.directory.names.get(target.name);
    if (replaced === node) return;
    const isEmpty = !(replaced instanceof MemoryDirectory) || replaced.names.size === 0;
    const isLike = replaced === undefined ||
      (replaced instanceof MemoryDirectory) === (node instanceof MemoryDirectory);
    if (!isEmpty || !isLike) throw failure("io_error", to);
    take(target.directory, target.name);
    source.directory.names.delete(source.name);
    target.directory.names.set(target.name, node);
  }
  /** @inheritdoc */
  link(from: string, to: string) {
    const node = this.#find(from);
    const { directory, name } = this.#place(to);
    if (!(node instanceof MemoryFile)) throw failure("no_such_file", from);
    if (directory.names.has(name)) return false;
    give(directory, name, node);
    return true;
  }
  /** @inheritdoc */
  remove(path: string) {
    const node = this.#find(path);
    if (node === undefined) return;
    if (node instanceof MemoryDirectory && node.names.size > 0) throw failure("io_error", path);
    const { directory, name } = this.#place(path);
    take(directory, name);
  }
  /** @inheritdoc */
  removeTree(path: string) {
    const node = this.#find(path);
    if (node === undefined) return;
    if (node instanceof MemoryDirectory) {
      for (const { name } of this.list(path)) this.removeTree(`${path}/${name}`);
    }
    this.remove(path);
  }
  /** @inheritdoc */
  makeDirectory(path: string) {
    let directory = this.#root;
    for (const name of path.split("/")) {
      if (name === "" || name === ".") continue;
      const next = directory.names.get(name) ?? new MemoryDirectory();
      if (next instanceof MemoryFile) throw failure("io_error", path);
      directory.names.set(name, next);
      directory = next;
    }
  }
  /** @inheritdoc */
  syncDirectory(path: string) {
    const node = this.#find(path);
    if (node === undefined) throw failure("no_such_file", path);
    if (node instanceof MemoryFile) node.durable = node.content;
    else node.durable = new Map(node.names);
  }
  /** @inheritdoc */
  makeReadOnly(path: string) {
    const file = this.#file(path);
    if (file === undefined) throw failure("no_such_file", path);
    file.writable = false;
  }
  /** @inheritdoc */
  list(path: string): DirectoryEntry[] {
    const node = this.#find(path);
    if (node instanceof MemoryFile) throw failure("no_such_file", path);
    return [...node?.names ?? []].map(([name, entry]): DirectoryEntry => ({ name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  }
  /** @inheritdoc */
  facts(path: string): FileFacts | undefined {
    const node = this.#find(path);
    if (node === undefined) return undefined;
    const { content, links, writable } = node instanceof MemoryFile ? node : NO_FILE;
    return { kind: kindOf(node), size: content.length, modified: 0, links, writable };
  }
  /** @inheritdoc */
  lock(path: string, mode: "create" | "existing"): LockHandle | "busy" | "absent" {
    const file = this.#locked(path, mode);
    if (file === undefined) return "absent";
    if (file.lock !== 0) return "busy";
    file.lock = "alone";
    return once(() => file.lock = 0);
  }
  /** @inheritdoc */
  share(path: string, mode: "create" | "existing"): LockHandle | "absent" {
    const file = this.#locked(path, mode);
    if (file === undefined) return "absent";
    if (file.lock === "alone") throw new Error(`one thread would wait for itself at ${path}`);
    file.lock++;
    return once(() => file.lock = Number(file.lock) - 1);
  }
  /** @inheritdoc */
  realPath(path: string) {
    if (this.#find(path) === undefined) throw failure("no_such_file", path);
    return path;
  }

  #locked(path: string, mode: "create" | "existing"): MemoryFile | undefined {
    if (mode === "create" && this.#file(path) === undefined) this.create(path);
    return this.#file(path);
  }
}

const NO_FILE = { content: new Uint8Array(0), links: 1, writable: true };

function kindOf(node: MemoryNode): "file" | "directory" {
  return node instanceof MemoryFile ? "file" : "directory";
}

function give(directory: MemoryDirectory, name: string, file: MemoryFile): void {
  directory.names.set(name, file);
  file.links++;
}

function take(directory: MemoryDirectory, name: string): void {
  const node = directory.names.get(name);
  if (node instanceof MemoryFile) node.links--;
  directory.names.delete(name);
}

function once(act: () => void): LockHandle {
  let done = false;
  return {
    [Symbol.dispose]: () => {
      if (!done) act();
      done = true;
    },
  };
}

function failure(code: IoCode, path: string) {
  return storeError(code, { message: "a disk in memory", path });
}
