import { type Digest, DigestWriter, hexOf } from "../core/digest.ts";
import { makeDirectory } from "./_make_directory.ts";
import { Temporaries } from "./_temporaries.ts";
import { sameBytes } from "./_run_files.ts";
import { decompressFile } from "./_transport.ts";
import { type Attestation, readAttestations } from "./attestations.ts";
import { bundleError } from "./bundle_error.ts";
import { diskLayer, type FileLayer, type WriteHandle } from "./file_layer.ts";
import { foldersOf } from "./folders_of.ts";
import { checkRunBlobs, checkRunViews, readRun } from "./read_run.ts";
import { runFolderName } from "./run_manifest.ts";
import { isRunName } from "./run_name.ts";
import { storeError } from "./store_error.ts";
import type { TarMember } from "./tar_header.ts";
import { BUNDLE_LIMITS, type MemberSink, type TarLimits, TarReader } from "./tar_reader.ts";
import type { TarSummary } from "./tar_writer.ts";

/** Largest file of a bundle, compressed, in bytes (evaluation-and-evidence.md, section 14). */
export const MAX_BUNDLE_FILE = 2 * 1024 ** 3;

/** How a bundle is unpacked. */
export interface UnpackOptions {
  /** The file. */
  readonly bundle: string;
  /** The run folder to make. It may not exist; nor may that of its attestations, but with the same content. */
  readonly target: string;
  readonly limits?: TarLimits & { readonly file: number };
  readonly layer?: FileLayer;
}

/** A run that came out of a bundle. Structure, blobs and views have been checked; nothing has been believed or replayed. */
export interface UnpackedBundle {
  readonly path: string;
  readonly runId: Digest;
  readonly resultId: Digest;
  /** The archive: its digest is the identity of the bundle. */
  readonly archive: TarSummary;
  readonly attestations: readonly Attestation[];
}

const ROOT = /^([0-9a-f]{16})(\.attestations)?$/;
const BLOB = /^(?:[0-9a-f]{16}\/)?blobs\/sha256\/([0-9a-f]{64})$/;

/**
 * Unpacks a bundle into a folder that does not exist yet. Everything is written beside it, into files that are created new;
 * each blob is hashed while it is written; then the run is read as a run, and only when all of it is good does the folder
 * get its name. Whatever goes wrong, nothing of the bundle stays.
 *
 * @throws TracewrightError "folder_exists", the codes `archive_*`, "too_large", "blob_damaged", "unexpected_file", and all
 * of `readRun`, `checkRunBlobs`, `checkRunViews` and `readAttestations`
 */
export async function unpackBundle(options: UnpackOptions): Promise<UnpackedBundle> {
  const { bundle, layer = diskLayer, limits = { ...BUNDLE_LIMITS, file: MAX_BUNDLE_FILE } } = options;
  const target = options.target.replace(/(?<=.)[/\\]+$/, "");
  const beside = `${target}.attestations`;
  if (layer.facts(target) !== undefined) throw exists(target);
  checkFile(bundle, limits.file, layer);
  makeDirectory(layer, parentOf(target));
  using temporaries = new Temporaries(layer, `${parentOf(target)}/.tmp`);
  const workspace = temporaries.next();
  try {
    const run = `${workspace}/run`;
    layer.makeDirectory(run);
    const { archive, root } = await extract(bundle, run, { limits, layer });
    const checked = checkRun(run, root, layer);
    // The run gets its name last: whoever sees it sees its attestations too. They may lie there already, from a process
    // that ended in between.
    const known = layer.facts(beside) !== undefined;
    if (known && !sameFolders(`${run}.attestations`, beside, layer)) throw exists(beside);
    const named = !known && checked.attestations.length > 0;
    if (named) layer.rename(`${run}.attestations`, beside);
    try {
      layer.rename(run, target);
    } catch (error) {
      if (named && layer.facts(target) === undefined) temporaries.discard(beside);
      throw error;
    }
    layer.syncDirectory(parentOf(target));
    return { path: target, archive, ...checked };
  } finally {
    temporaries.discard(workspace);
  }
}

function exists(path: string) {
  return bundleError("folder_exists", {
    message: "a bundle is unpacked into a folder that does not exist yet",
    path,
    hint: "name another folder, or move this one away",
  });
}

/** Whether two folders hold the same files with the same bytes. */
function sameFolders(a: string, b: string, layer: FileLayer): boolean {
  if (layer.facts(b)?.kind !== "directory") return false;
  const [first, second] = [layer.list(a), layer.list(b)];
  return first.length === second.length && first.every(({ name, kind }, i) => {
    if (second[i]?.name !== name || second[i]?.kind !== kind) return false;
    const [left, right] = [`${a}/${name}`, `${b}/${name}`];
    if (kind === "directory") return sameFolders(left, right, layer);
    if (kind !== "file" || layer.facts(left)?.size !== layer.facts(right)?.size) return false;
    const [mine, theirs] = [layer.read(left), layer.read(right)];
    return mine !== undefined && theirs !== undefined && sameBytes(mine, theirs);
  });
}

function checkFile(path: string, limit: number, layer: FileLayer): void {
  const facts = layer.facts(path);
  if (facts === undefined) {
    throw storeError("no_such_file", { message: "there is no such bundle", path, hint: "check the path" });
  }
  if (facts.kind !== "file") {
    throw storeError(facts.kind === "symlink" ? "symlink_not_allowed" : "unexpected_file", {
      path,
      expected: "a file",
      actual: facts.kind,
    });
  }
  if (facts.size > limit) {
    throw storeError("too_large", { path, expected: `at most ${limit} bytes`, actual: facts.size });
  }
}

/** Writes the members of an archive to `<run>` and `<run>.attestations`. */
async function extract(
  bundle: string,
  run: string,
  { limits, layer }: { limits: TarLimits; layer: FileLayer },
): Promise<{ archive: TarSummary; root: string }> {
  let root: string | undefined;
  let current: MemberFile | undefined;
  const made = new Set<string>();
  const files: string[] = [];
  const begin = (member: TarMember): MemberSink => {
    const at = member.name.indexOf("/");
    const [, id, suffix = ""] = ROOT.exec(member.name.slice(0, Math.max(at, 0))) ?? [];
    const path = member.name.slice(at + 1);
    root ??= id;
    if (id === undefined || id !== root || !isRunName(path)) {
      throw bundleError("archive_root", {
        message: "a member lies outside of the one run that a bundle holds",
        expected: `${root ?? "<16 hexadecimal digits>"}/... or ${root ?? "<the same>"}.attestations/...`,
        actual: member.name,
      });
    }
    const file = `${run}${suffix}/${path}`;
    files.push(file);
    const folder = parentOf(file);
    if (!made.has(folder)) layer.makeDirectory(folder);
    made.add(folder);
    return current = new MemberFile(layer.create(file), { name: member.name, digest: BLOB.exec(path)?.[1] });
  };
  const reader = new TarReader(begin, limits);
  try {
    await decompressFile(bundle, (bytes) => reader.push(bytes), layer);
  } finally {
    current?.[Symbol.dispose]();
  }
  const archive = reader.finish();
  for (const folder of foldersOf(files)) if (folder.startsWith(run)) layer.syncDirectory(folder);
  return { archive, root: root ?? "" };
}

/** A new file; where its name is a digest, its content must have it. */
class MemberFile implements MemberSink, Disposable {
  readonly #name: string;
  readonly #digest: string | undefined;
  readonly #hash = new DigestWriter();
  #file: WriteHandle | undefined;

  constructor(file: WriteHandle, { name, digest }: { name: string; digest: string | undefined }) {
    this.#file = file;
    this.#name = name;
    this.#digest = digest;
  }

  write(bytes: Uint8Array): void {
    this.#file?.write(bytes);
    if (this.#digest !== undefined) this.#hash.write(bytes);
  }

  end(): void {
    this.#file?.sync();
    this[Symbol.dispose]();
    if (this.#digest === undefined) return;
    const actual = hexOf(this.#hash.finish());
    if (actual === this.#digest) return;
    throw storeError("blob_damaged", {
      message: "the content of a blob is not what its name says",
      path: this.#name,
      expected: this.#digest,
      actual,
      hint: "the bundle was damaged or forged; fetch it again from a source you trust",
    });
  }

  [Symbol.dispose](): void {
    this.#file?.[Symbol.dispose]();
    this.#file = undefined;
  }
}

function checkRun(path: string, root: string, layer: FileLayer) {
  const run = readRun(path, { layer });
  const expected = runFolderName(run.runId);
  if (root !== expected) {
    throw bundleError("archive_root", {
      message: "the folder in a bundle is not named after the run in it",
      expected,
      actual: root,
    });
  }
  checkRunBlobs(run);
  checkRunViews(run, { layer });
  const [uncovered] = run.uncoveredViews;
  if (uncovered !== undefined) {
    throw storeError("unexpected_file", {
      message: "a bundle holds a view that no digest covers",
      path: uncovered,
      hint: "whoever made the bundle could have written anything into it",
    });
  }
  return { runId: run.runId, resultId: run.resultId, attestations: readAttestations(run, { layer }) };
}

function parentOf(path: string): string {
  const at = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\"));
  return at < 0 ? "." : path.slice(0, at) || "/";
}
