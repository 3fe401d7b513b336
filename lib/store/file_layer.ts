import { TracewrightError } from "../core/error.ts";
import { type IoCode, type StoreCode, storeError } from "./store_error.ts";

/** What a name in a directory stands for; symbolic links are reported, never followed. */
export type FileKind = "file" | "directory" | "symlink" | "other";

/** A name in a directory. */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
}

/** Facts about a path itself, not about what a link points to. */
export interface FileFacts {
  readonly kind: FileKind;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970, for ordering in explanations only; 0 where the file system keeps none. */
  readonly modified: number;
  /** How many names the file has; left out where the system does not say. */
  readonly links?: number;
  /** Whether anybody may write to it, as far as its own permissions say; left out where the system has none. */
  readonly writable?: boolean;
}

/** An open file to read from. */
export interface ReadHandle extends Disposable {
  /** Fills the front of `buffer`; returns the number of bytes, 0 at the end. */
  read(buffer: Uint8Array): number;
  /** Moves to a byte offset from the start. */
  seek(offset: number): void;
}

/** A new file to write to. */
export interface WriteHandle extends Disposable {
  /** Writes all of `bytes`. */
  write(bytes: Uint8Array): void;
  /** Returns once the content is on the disk. */
  sync(): void;
}

/** A held lock. The system lets go of it when the process dies, however it dies. */
export type LockHandle = Disposable;

/**
 * The few file operations the store is built on. It is an interface so that tests can put failures and crashes
 * between any two of them. Every method throws a TracewrightError with an {@link IoCode}; "absent" is a result.
 */
export interface FileLayer {
  /** The whole content, undefined where nothing lies there. */
  read(path: string): Uint8Array<ArrayBuffer> | undefined;
  /** Opens for reading, undefined where nothing lies there. */
  open(path: string): ReadHandle | undefined;
  /** Creates a file that must not exist. */
  create(path: string): WriteHandle;
  /** Gives a file another name, atomically replacing what lies there. */
  rename(from: string, to: string): void;
  /** Gives a file a second name; false where the name is taken. */
  link(from: string, to: string): boolean;
  /** Removes a file or an empty directory; nothing happens where it is absent. */
  remove(path: string): void;
  /** Removes a directory with everything below it; nothing happens where it is absent. */
  removeTree(path: string): void;
  /** Creates a directory and its parents. */
  makeDirectory(path: string): void;
  /** Returns once the names in a directory are on the disk. Does nothing on Windows, which has no such call. */
  syncDirectory(path: string): void;
  /** Takes the permission to write away from everybody. Does nothing on Windows. */
  makeReadOnly(path: string): void;
  /** Names in a directory, sorted by UTF-16 code units; empty where it is absent. */
  list(path: string): DirectoryEntry[];
  /** Facts about a path, undefined where nothing lies there. */
  facts(path: string): FileFacts | undefined;
  /** Locks a file, which `"create"` creates where it is absent; `"busy"` where another handle holds the lock. */
  lock(path: string, mode: "create" | "existing"): LockHandle | "busy" | "absent";
  /** Takes a part in a lock that any number of handles may share, and waits while one has it alone by {@link lock}. */
  share(path: string, mode: "create" | "existing"): LockHandle | "absent";
  /** The path with all links in it followed. */
  realPath(path: string): string;
}

const HINTS: Record<IoCode, string> = {
  disk_full: "free some space and run the same command again; finished stages are kept",
  read_only: "give write permission (--allow-write=.), or point the command at a folder you may write to",
  not_readable: "give read permission (--allow-read=.), or fix the permissions of the file",
  no_such_file: "check the path",
  io_error: "check the disk, then run the same command again; finished stages are kept",
};

const BY_ERRNO: Record<string, IoCode> = {
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  EFBIG: "disk_full",
  EROFS: "read_only",
  ENOENT: "no_such_file",
  ENOTDIR: "no_such_file",
};

/**
 * Turns what the platform threw into one of the closed codes.
 *
 * @param intent whether the refused operation was going to change anything: a refused change is `read_only`, a
 * refused look is `not_readable`
 */
export function toStoreError(
  cause: unknown,
  { operation, path, intent }: { operation: string; path: string; intent: "read" | "write" },
): TracewrightError<"store", StoreCode> {
  if (cause instanceof TracewrightError) return cause as TracewrightError<"store", StoreCode>;
  const errno = (cause as { code?: unknown } | null)?.code;
  const refused = cause instanceof Deno.errors.PermissionDenied || cause instanceof Deno.errors.NotCapable ||
    errno === "EACCES" || errno === "EPERM";
  const code: IoCode = typeof errno === "string" && BY_ERRNO[errno] !== undefined
    ? BY_ERRNO[errno]
    : cause instanceof Deno.errors.NotFound
    ? "no_such_file"
    : refused
    ? (intent === "write" ? "read_only" : "not_readable")
    : "io_error";
  return storeError(code, {
    message: cause instanceof Error ? cause.message : String(cause),
    operation,
    path,
    hint: HINTS[code],
    cause,
  });
}

function attempt<T>(operation: string, path: string, intent: "read" | "write", action: () => T): T {
  try {
    return action();
  } catch (cause) {
    throw toStoreError(cause, { operation, path, intent });
  }
}

/** As {@link attempt}, with absence as a result. */
function ifPresent<T>(
  operation: string,
  path: string,
  intent: "read" | "write",
  action: () => T,
): T | undefined {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return undefined;
    throw toStoreError(cause, { operation, path, intent });
  }
}

function kindOf(info: { isFile: boolean; isDirectory: boolean; isSymlink: boolean }): FileKind {
  return info.isSymlink ? "symlink" : info.isFile ? "file" : info.isDirectory ? "directory" : "other";
}

class DiskReadHandle implements ReadHandle {
  constructor(readonly file: Deno.FsFile, readonly path: string) {}
  read(buffer: Uint8Array): number {
    return attempt("read", this.path, "read", () => this.file.readSync(buffer) ?? 0);
  }
  seek(offset: number): void {
    attempt("read", this.path, "read", () => this.file.seekSync(offset, Deno.SeekMode.Start));
  }
  [Symbol.dispose](): void {
    this.file.close();
  }
}

class DiskWriteHandle implements WriteHandle {
  constructor(readonly file: Deno.FsFile, readonly path: string) {}
  write(bytes: Uint8Array): void {
    attempt("write", this.path, "write", () => {
      for (let at = 0; at < bytes.length;) at += this.file.writeSync(bytes.subarray(at));
    });
  }
  sync(): void {
    attempt("fsync", this.path, "write", () => this.file.syncSync());
  }
  [Symbol.dispose](): void {
    this.file.close();
  }
}

/** The {@link FileLayer} of the machine itself. Synchronous: a stage is a plain loop, and workers do not share one. */
export const diskLayer: FileLayer = {
  read: (path) => ifPresent("read", path, "read", () => Deno.readFileSync(path)),
  open: (path) =>
    ifPresent("open", path, "read", () => new DiskReadHandle(Deno.openSync(path, { read: true }), path)),
  create: (path) =>
    attempt(
      "create",
      path,
      "write",
      () => new DiskWriteHandle(Deno.openSync(path, { write: true, createNew: true }), path),
    ),
  rename: (from, to) => attempt("rename", to, "write", () => Deno.renameSync(from, to)),
  link: (from, to) =>
    attempt("link", to, "write", () => {
      try {
        Deno.linkSync(from, to);
        return true;
      } catch (cause) {
        if (cause instanceof Deno.errors.AlreadyExists) return false;
        throw cause;
      }
    }),
  remove: (path) => ifPresent("remove", path, "write", () => Deno.removeSync(path)),
  removeTree: (path) => ifPresent("remove", path, "write", () => Deno.removeSync(path, { recursive: true })),
  makeDirectory: (path) => attempt("mkdir", path, "write", () => Deno.mkdirSync(path, { recursive: true })),
  syncDirectory: (path) => {
    if (Deno.build.os === "windows") return;
    attempt("fsync", path, "write", () => {
      using directory = Deno.openSync(path, { read: true });
      directory.syncSync();
    });
  },
  makeReadOnly: (path) => {
    if (Deno.build.os !== "windows") attempt("chmod", path, "write", () => Deno.chmodSync(path, 0o444));
  },
  list: (path) => {
    const entries = ifPresent("list", path, "read", () => [...Deno.readDirSync(path)]) ?? [];
    return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  },
  facts: (path) =>
    ifPresent("stat", path, "read", () => {
      const info = Deno.lstatSync(path);
      return {
        kind: kindOf(info),
        size: info.size,
        modified: info.mtime?.getTime() ?? 0,
        ...info.nlink !== null && { links: info.nlink },
        ...info.mode !== null && { writable: (info.mode & 0o222) !== 0 },
      };
    }),
  lock: (path, mode) => {
    const file = ifPresent(
      "lock",
      path,
      "write",
      () => Deno.openSync(path, { read: true, write: true, create: mode === "create" }),
    );
    if (file === undefined) return "absent";
    let held = false;
    try {
      held = attempt("lock", path, "write", () => file.tryLockSync(true));
    } finally {
      if (!held) file.close();
    }
    return held ? lockHandle(file) : "busy";
  },
  share: (path, mode) => {
    const create = mode === "create";
    const file = ifPresent(
      "lock",
      path,
      create ? "write" : "read",
      () => Deno.openSync(path, { read: true, write: create, create }),
    );
    if (file === undefined) return "absent";
    try {
      attempt("lock", path, "read", () => file.lockSync(false));
    } catch (error) {
      file.close();
      throw error;
    }
    return lockHandle(file);
  },
  realPath: (path) => attempt("resolve", path, "read", () => Deno.realPathSync(path).replaceAll("\\", "/")),
};

/** Lets go aloud: a process that is being started elsewhere may hold a copy of the handle until it runs. */
function lockHandle(file: Deno.FsFile): LockHandle {
  return {
    [Symbol.dispose]: () => {
      try {
        file.unlockSync();
      } finally {
        file.close();
      }
    },
  };
}
