import { type Digest, isDigest } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { sameBytes } from "./_run_files.ts";
import type { ActionKey } from "./action_record.ts";
import { EMPTY_INDEX_BYTES, OCI_LAYOUT_BYTES, STORE_LOCK } from "./blob_store.ts";
import { bundleError } from "./bundle_error.ts";
import type { DirectoryEntry, FileKind } from "./file_layer.ts";
import { reachedFrom } from "./reachable.ts";
import { isRunName, parseRunName } from "./run_name.ts";
import type { Store } from "./store.ts";
import { storeError } from "./store_error.ts";

/** One thing wrong with a store. */
export interface StoreProblem {
  readonly code: string;
  /** The file or folder. */
  readonly path: string;
  /** What is wrong and what to do, in words. */
  readonly message: string;
}

/** What a check looked at and found. */
export interface StoreCheck {
  readonly blobs: number;
  /** Of all blobs. */
  readonly bytes: number;
  readonly actions: number;
  readonly refs: number;
  /** Half-written files of processes that ended; the next write removes them, and nothing reads them. */
  readonly leftovers: number;
  /** Empty where the store is good. */
  readonly problems: readonly StoreProblem[];
}

/** How far a check goes. */
export interface CheckStoreOptions {
  /** `"structure"` looks at names, sizes and records; `"content"` also hashes every blob. */
  readonly depth: "structure" | "content";
  /** Called after each blob that was hashed. */
  readonly onBlob?: (progress: { readonly done: number; readonly total: number }) => void;
}

const PARTS: Readonly<Record<string, FileKind>> = {
  "actions": "directory",
  "blobs": "directory",
  "index.json": "file",
  [STORE_LOCK]: "file",
  "oci-layout": "file",
  "refs": "directory",
  "tmp": "directory",
};

/**
 * Looks for everything that could be wrong with a store and lists it; writes nothing and stops at nothing. Checked are: what
 * belongs to nothing, the fixed files, the name and size of every blob and whether it has a second name, every action result
 * with its outputs, every name, and of each named run all blobs. What cannot be read is one more thing wrong.
 *
 * @throws TracewrightError with an I/O code where the folder of the store itself cannot be listed
 */
export function checkStore(store: Store, { depth, onBlob = () => {} }: CheckStoreOptions): StoreCheck {
  const problems: StoreProblem[] = [];
  const attempt = <T>(path: string, look: () => T): T | undefined => {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof TracewrightError)) throw error;
      problems.push({ code: error.code, path, message: error.message });
      return undefined;
    }
  };
  const parts = store.blobs.layer.list(store.path);
  const sizes = checkBlobNames(store, attempt);
  checkParts(store, { parts, inUse: sizes.size > 0 }, attempt);
  const needs = (path: string, digest: Digest, size: number | undefined) =>
    attempt(path, () => {
      const actual = sizes.get(digest);
      if (actual !== undefined && (size === undefined || size === actual)) return;
      throw storeError(actual === undefined ? "missing_blob" : "blob_damaged", {
        message: actual === undefined
          ? "a blob is not there"
          : "a blob has another size than a record states",
        digest,
        expected: size,
        actual,
        hint: "run the experiment again; it makes what is missing. Remove a damaged blob first",
      });
    });

  const actions = keysOf(store, attempt);
  for (const key of actions) {
    const path = store.actions.path(key);
    const result = attempt(path, () => store.actions.get(key));
    for (const { digest, size } of Object.values(result?.outputs ?? {})) needs(path, digest, size);
  }
  const refs = refsOf(store, "", attempt);
  for (const ref of refs) {
    const path = `${store.path}/refs/${ref.name}`;
    for (const [digest, size] of attempt(path, () => reachedFrom(store, ref)) ?? []) {
      needs(path, digest, size);
    }
  }
  if (depth === "content") {
    let done = 0;
    for (const digest of sizes.keys()) {
      attempt(store.blobs.blobPath(digest), () => store.blobs.open(digest));
      onBlob({ done: ++done, total: sizes.size });
    }
  }
  return {
    blobs: sizes.size,
    bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    actions: actions.length,
    refs: refs.length,
    leftovers: listed(store, "tmp", attempt).filter(({ name }) => !name.endsWith(".lock")).length,
    problems,
  };
}

type Attempt = <T>(path: string, look: () => T) => T | undefined;

function strange(path: string, expected: string, kind: FileKind): never {
  throw storeError(kind === "symlink" ? "symlink_not_allowed" : "unexpected_file", {
    message: "something in the store belongs to nothing in it",
    path,
    expected,
    actual: kind,
    hint: "move it out of the store",
  });
}

/** What lies in a folder of the store; nothing where it is none, which is said elsewhere. */
function listed(store: Store, folder: string, attempt: Attempt): readonly DirectoryEntry[] {
  const { layer } = store.blobs;
  const path = `${store.path}/${folder}`;
  return attempt(path, () => layer.facts(path)?.kind === "directory" ? layer.list(path) : []) ?? [];
}

function checkParts(
  store: Store,
  { parts, inUse }: { parts: readonly DirectoryEntry[]; inUse: boolean },
  attempt: Attempt,
): void {
  const { layer } = store.blobs;
  for (const { name, kind } of parts) {
    const path = `${store.path}/${name}`;
    attempt(path, () => {
      if (PARTS[name] !== kind) strange(path, Object.keys(PARTS).join(", "), kind);
    });
  }
  for (
    const [name, expected] of [["oci-layout", OCI_LAYOUT_BYTES], ["index.json", EMPTY_INDEX_BYTES]] as const
  ) {
    const path = `${store.path}/${name}`;
    attempt(path, () => {
      const facts = layer.facts(path);
      // A store that holds nothing yet has no parts, or some of them. What is no file has been named above.
      if (facts === undefined ? !inUse : facts.kind !== "file") return;
      const bytes = facts?.size === expected.length ? layer.read(path) : undefined;
      if (bytes !== undefined && sameBytes(bytes, expected)) return;
      throw storeError(facts === undefined ? "missing_file" : "bad_manifest", {
        message: "a fixed file of the layout is not what it always is",
        path,
        hint: "remove it; the next command that writes to the store makes it again",
      });
    });
  }
}

/** The size of each blob, by digest in sorted order. */
function checkBlobNames(store: Store, attempt: Attempt): Map<Digest, number> {
  const { layer } = store.blobs;
  const sizes = new Map<Digest, number>();
  for (const { name, kind } of listed(store, "blobs", attempt)) {
    attempt(`${store.path}/blobs/${name}`, () => {
      if (name !== "sha256" || kind !== "directory") strange(`blobs/${name}`, "sha256", kind);
    });
  }
  for (const { name, kind } of listed(store, "blobs/sha256", attempt)) {
    const path = `${store.path}/blobs/sha256/${name}`;
    attempt(path, () => {
      const digest = `sha256:${name}`;
      if (!isDigest(digest) || kind !== "file") strange(path, "a file named by 64 hexadecimal digits", kind);
      const facts = layer.facts(path);
      if (facts === undefined) return; // removed since it was listed
      sizes.set(digest, facts.size);
      // Runs written with links share read-only files with the store.
      if ((facts.links ?? 1) === 1 || facts.writable === false) return;
      throw bundleError("blob_shared", {
        message: "a blob has a second name somewhere, by which it can be changed",
        path,
        expected: "one name, or no permission to write",
        actual: `${facts.links} names`,
        hint: "copy the file, remove it, and give the copy its name",
      });
    });
  }
  return sizes;
}

function keysOf(store: Store, attempt: Attempt): ActionKey[] {
  const folder = `${store.path}/actions`;
  const keys: ActionKey[] = [];
  for (const { name, kind } of listed(store, "actions", attempt)) {
    attempt(`${folder}/${name}`, () => {
      const digest = `sha256:${/^(.*)\.json$/.exec(name)?.[1]}`;
      if (!isDigest(digest) || kind !== "file") {
        strange(`${folder}/${name}`, "<64 hexadecimal digits>.json", kind);
      }
      keys.push(digest as ActionKey);
    });
  }
  return keys;
}

function refsOf(store: Store, prefix: string, attempt: Attempt): { name: string; digest: Digest }[] {
  return listed(store, `refs${prefix === "" ? "" : `/${prefix.slice(0, -1)}`}`, attempt).flatMap((entry) => {
    const name = prefix + entry.name;
    const path = `${store.path}/refs/${name}`;
    if (entry.kind === "directory" && isRunName(name)) return refsOf(store, `${name}/`, attempt);
    const digest = attempt(path, () => {
      parseRunName(name, { path });
      if (entry.kind !== "file") strange(path, "a file", entry.kind);
      return store.refs.get(name);
    });
    return digest === undefined ? [] : [{ name, digest }];
  });
}
