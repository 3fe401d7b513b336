import { storeError } from "../../lib/store/store_error.ts";
import type {
  DirectoryEntry,
  FileKind,
  FileLayer,
  ReadHandle,
  WriteHandle,
} from "../../lib/store/file_layer.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Files in memory: paths with `/` between names, folders where something lies below them or where they were made. */
export class MemoryLayer implements FileLayer {
  readonly files: Map<string, Bytes>;
  readonly #folders = new Set<string>();

  constructor(files: Iterable<readonly [string, Bytes]> = []) {
    this.files = new Map();
    for (const [path, bytes] of files) {
      this.files.set(path, bytes);
      this.makeDirectory(parentOf(path));
    }
  }

  /** Every file and every folder. */
  paths(): string[] {
    return [...this.files.keys(), ...this.#folders].sort();
  }

  read(path: string): Bytes | undefined {
    return this.files.get(path)?.slice();
  }

  open(path: string): ReadHandle | undefined {
    const bytes = this.files.get(path);
    if (bytes === undefined) return undefined;
    let at = 0;
    return {
      read: (buffer) => {
        const part = bytes.subarray(at, at + buffer.length);
        buffer.set(part);
        at += part.length;
        return part.length;
      },
      seek: (offset) => void (at = offset),
      [Symbol.dispose]: () => {},
    };
  }

  create(path: string): WriteHandle {
    if (this.#kindOf(path) !== undefined) {
      throw storeError("io_error", { message: "it is there already", path });
    }
    if (!this.#folders.has(parentOf(path))) throw storeError("no_such_file", { path });
    let held = new Uint8Array(0);
    this.files.set(path, held);
    return {
      write: (bytes) => {
        const grown = new Uint8Array(held.length + bytes.length);
        grown.set(held);
        grown.set(bytes, held.length);
        this.files.set(path, held = grown);
      },
      sync: () => {},
      [Symbol.dispose]: () => {},
    };
  }

  rename(from: string, to: string): void {
    if (this.#kindOf(from) === undefined) throw storeError("no_such_file", { path: from });
    for (const [path, bytes] of [...this.files]) {
      if (path !== from && !path.startsWith(from + "/")) continue;
      this.files.delete(path);
      this.files.set(to + path.slice(from.length), bytes);
    }
    for (const path of [...this.#folders]) {
      if (path !== from && !path.startsWith(from + "/")) continue;
      this.#folders.delete(path);
      this.#folders.add(to + path.slice(from.length));
    }
  }

  link(from: string, to: string): boolean {
    if (this.files.has(to)) return false;
    const bytes = this.files.get(from);
    if (bytes === undefined) throw storeError("no_such_file", { path: from });
    this.files.set(to, bytes);
    return true;
  }

  remove(path: string): void {
    this.files.delete(path);
    this.#folders.delete(path);
  }

  removeTree(path: string): void {
    const inside = (other: string) => other === path || other.startsWith(path + "/");
    for (const other of [...this.files.keys()]) if (inside(other)) this.files.delete(other);
    for (const other of [...this.#folders]) if (inside(other)) this.#folders.delete(other);
  }

  makeDirectory(path: string): void {
    for (let at = path; at !== "" && at !== "."; at = parentOf(at)) {
      if (this.files.has(at)) throw storeError("io_error", { message: "a file is in the way", path: at });
      this.#folders.add(at);
    }
  }

  syncDirectory(): void {}
  makeReadOnly(): void {}

  list(path: string): DirectoryEntry[] {
    const names = new Map<string, FileKind>();
    for (const other of [...this.#folders, ...this.files.keys()]) {
      if (parentOf(other) !== path) continue;
      names.set(other.slice(other.lastIndexOf("/") + 1), this.#kindOf(other)!);
    }
    return [...names].map(([name, kind]) => ({ name, kind })).sort((a, b) => a.name < b.name ? -1 : 1);
  }

  facts(path: string) {
    const kind = this.#kindOf(path);
    return kind && { kind, size: this.files.get(path)?.length ?? 0, modified: 0 };
  }

  lock(path: string, mode: "create" | "existing") {
    if (!this.files.has(path)) {
      if (mode === "existing") return "absent" as const;
      this.makeDirectory(parentOf(path));
      this.files.set(path, new Uint8Array(0));
    }
    return { [Symbol.dispose]: () => {} };
  }

  share(path: string, mode: "create" | "existing") {
    return this.lock(path, mode);
  }

  realPath(path: string): string {
    return path.replace(/\/\.?$/, "");
  }

  #kindOf(path: string): FileKind | undefined {
    return this.files.has(path) ? "file" : this.#folders.has(path) ? "directory" : undefined;
  }
}

function parentOf(path: string): string {
  const at = path.lastIndexOf("/");
  return at < 0 ? "." : path.slice(0, at);
}
