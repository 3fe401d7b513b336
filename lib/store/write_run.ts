import { type Digest, digestOf } from "../core/digest.ts";
import { checkFixed, filesInside, type RunFile, runFiles } from "./_run_files.ts";
import { makeDirectory } from "./_make_directory.ts";
import { Temporaries } from "./_temporaries.ts";
import type { BlobStore } from "./blob_store.ts";
import { BlobReader } from "./blob_reader.ts";
import type { FileLayer } from "./file_layer.ts";
import { type DagManifest, dagManifestBytes, resultId } from "./manifest.ts";
import { viewMismatch } from "./read_run.ts";
import { EMPTY_CONFIG_BYTES } from "./_oci.ts";
import { runFolderName, runLayers, runManifestBytes } from "./run_manifest.ts";
import { foldersOf } from "./folders_of.ts";
import { storeError } from "./store_error.ts";

/** A view that no digest covers, e.g. `report.html`. */
export interface UncoveredView {
  /** One of the paths that the DAG manifest maps to null. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** What {@link writeRun} works with. */
export interface WriteRunOptions {
  /** The store that holds every blob of the run. */
  readonly store: BlobStore;
  /** Where runs lie, e.g. `artifacts/runs`. */
  readonly directory: string;
  /**
   * `"copy"` (the default) gives the run bytes of its own; `"link"` shares them with the store, read-only, which
   * saves space, and lets an edit in the run damage the store.
   */
  readonly blobs?: "copy" | "link";
  readonly uncoveredViews?: readonly UncoveredView[];
}

/** A run folder that is there and complete. */
export interface WrittenRun {
  readonly path: string;
  readonly runId: Digest;
  readonly resultId: Digest;
  /** `"completed"`: the folder was there and something in it was missing. */
  readonly status: "written" | "unchanged" | "completed";
}

/**
 * Writes the folder of a finished run: built beside its place and renamed, so that it is there whole or not at all.
 * A folder that is already there is compared; what is missing is added, and what is different is an error, since
 * nothing is repaired silently.
 *
 * @throws TracewrightError "missing_blob", "blob_damaged", "bad_manifest", "path_not_allowed", "view_mismatch",
 * "unexpected_file", "symlink_not_allowed", and I/O codes
 */
export function writeRun(dag: DagManifest, options: WriteRunOptions): WrittenRun {
  const { store, directory } = options;
  const { layer } = store;
  const dagBytes = dagManifestBytes(dag);
  const layers = runLayers(dag, dagBytes, (digest) => store.open(digest).size);
  const manifest = runManifestBytes(layers);
  for (const bytes of [dagBytes, manifest, EMPTY_CONFIG_BYTES]) store.put(bytes);
  const runId = digestOf(manifest);
  const path = `${directory}/${runFolderName(runId)}`;
  const { files, uncovered } = runFiles(dag, layers, manifest);
  for (const view of options.uncoveredViews ?? []) {
    if (!uncovered.includes(view.path)) {
      throw storeError("bad_manifest", { message: "the DAG manifest names no such view", actual: view.path });
    }
  }
  makeDirectory(layer, directory);
  using temporaries = new Temporaries(layer, `${directory}/.tmp`);
  temporaries.removeAbandoned();
  let status: WrittenRun["status"] = "written";
  if (layer.facts(path) !== undefined || !build(files, path, options, temporaries)) {
    const present = filesInside(path, { files, uncovered }, layer);
    for (const file of files) if (present.has(file.path)) compare(file, path, layer);
    const missing = files.filter((file) => !present.has(file.path));
    for (const file of missing) addFile(file, path, options, temporaries);
    status = missing.length === 0 ? "unchanged" : "completed";
  }
  layer.syncDirectory(directory); // whoever gave the folder its name
  for (const view of options.uncoveredViews ?? []) {
    const bytes = layer.read(`${path}/${view.path}`);
    if (bytes !== undefined && digestOf(bytes) === digestOf(view.bytes)) continue;
    addFile({ kind: "fixed", ...view }, path, options, temporaries);
  }
  return { path, runId, resultId: resultId(dag), status };
}

/** Builds the whole folder beside its place; false where another process was faster. */
function build(
  files: readonly RunFile[],
  path: string,
  options: WriteRunOptions,
  temporaries: Temporaries,
): boolean {
  const { layer } = options.store;
  const temporary = temporaries.next();
  try {
    const folders = [...foldersOf(files.map((file) => file.path))].map((folder) => `${temporary}/${folder}`);
    for (const folder of [temporary, ...folders]) layer.makeDirectory(folder);
    for (const file of files) writeContent(file, `${temporary}/${file.path}`, options);
    for (const folder of [temporary, ...folders]) layer.syncDirectory(folder);
    try {
      layer.rename(temporary, path);
      return true;
    } catch (error) {
      if (layer.facts(path) === undefined) throw error;
      return false;
    }
  } finally {
    temporaries.discard(temporary);
  }
}

function addFile(file: RunFile, path: string, options: WriteRunOptions, temporaries: Temporaries): void {
  const { layer } = options.store;
  const target = `${path}/${file.path}`;
  const temporary = temporaries.next();
  makeDirectory(layer, parentOf(target));
  try {
    writeContent(file, temporary, options);
    layer.rename(temporary, target);
    layer.syncDirectory(parentOf(target));
  } finally {
    temporaries.discard(temporary);
  }
}

function writeContent(file: RunFile, target: string, { store, blobs = "copy" }: WriteRunOptions): void {
  const { layer } = store;
  if (file.kind === "blob" && blobs === "link") {
    store.open(file.digest);
    layer.makeReadOnly(store.blobPath(file.digest));
    layer.link(store.blobPath(file.digest), target);
    return;
  }
  using out = layer.create(target);
  for (const chunk of file.kind === "fixed" ? [file.bytes] : store.open(file.digest).chunks()) {
    out.write(chunk);
  }
  out.sync();
}

function compare(file: RunFile, folder: string, layer: FileLayer): void {
  const path = `${folder}/${file.path}`;
  if (file.kind === "blob") new BlobReader({ layer, path, digest: file.digest });
  const bytes = file.kind === "blob" ? undefined : layer.read(path);
  if (bytes === undefined) return;
  if (file.kind === "fixed") checkFixed(folder, file.path, file.bytes, bytes);
  else if (file.kind === "view" && digestOf(bytes) !== file.digest) {
    throw viewMismatch({ folder, view: file.path, expected: file.digest, actual: digestOf(bytes) });
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
