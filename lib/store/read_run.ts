import { type Digest, digestOf } from "../core/digest.ts";
import { blobFile, checkFixed, filesInside, type RunFiles, runFiles } from "./_run_files.ts";
import { EMPTY_CONFIG } from "./_oci.ts";
import { BlobReader, IN_MEMORY } from "./blob_reader.ts";
import { diskLayer, type FileLayer } from "./file_layer.ts";
import { type DagManifest, MAX_MANIFEST, parseDagManifest, resultId } from "./manifest.ts";
import {
  DAG_MEDIA_TYPE,
  parseRunManifest,
  type RunLayer,
  runLayers,
  runManifestBytes,
} from "./run_manifest.ts";
import { storeError } from "./store_error.ts";

/** A finished run whose structure has been checked. Reading it writes nothing. */
export interface Run {
  /** The folder. */
  readonly path: string;
  /** Digest of the OCI manifest; covers code digests. */
  readonly runId: Digest;
  /** Identity of what was found; see `resultId`. */
  readonly resultId: Digest;
  readonly dag: DagManifest;
  readonly layers: readonly RunLayer[];
  /** Paths of the views that no digest covers and that are there. */
  readonly uncoveredViews: readonly string[];
  /**
   * Opens a blob of the run, hashing all of it first; a large file of another size than its layer states is refused without
   * being read. Throws "missing_blob" or "blob_damaged".
   */
  open(digest: Digest): BlobReader;
}

/** How runs are found and read. */
export interface ReadRunOptions {
  /** Where runs lie that are named by a digest; `artifacts/runs` if not given. */
  readonly directory?: string;
  readonly layer?: FileLayer;
}

const HEX_PREFIX = /^(?:sha256:)?([0-9a-f]{4,64})$/;

/**
 * Opens a run and checks its structure: manifests canonical, strict and consistent with each other, names allowed, no
 * links, nothing that belongs to nothing. Blobs are checked by {@link checkRunBlobs}, views by {@link checkRunViews}.
 *
 * @param reference path of a run folder or of its `manifest.json`, a run id, or a unique prefix of one
 * @throws TracewrightError "run_not_found", "ambiguous_run", "missing_file", "too_large", "not_canonical",
 * "bad_manifest", "path_not_allowed", "symlink_not_allowed", "unexpected_file", "missing_blob" and "blob_damaged" for
 * the DAG manifest
 */
export function readRun(reference: string, options: ReadRunOptions = {}): Run {
  const { directory = "artifacts/runs", layer = diskLayer } = options;
  const path = findRun(reference, directory, layer);
  const manifest = readFixed(path, "manifest.json", layer);
  const layers = parseRunManifest(manifest);
  const layer0 = layers[0]!;
  if (layer0.mediaType !== DAG_MEDIA_TYPE) {
    throw storeError("bad_manifest", {
      message: "the first layer is not a DAG manifest",
      field: "layers.0.mediaType",
      expected: DAG_MEDIA_TYPE,
      actual: layer0.mediaType,
    });
  }
  if (layer0.size > MAX_MANIFEST) {
    throw storeError("too_large", { what: "DAG manifest", expected: MAX_MANIFEST, actual: layer0.size });
  }
  const itself = { digest: digestOf(manifest), size: manifest.length };
  const sizes = new Map([EMPTY_CONFIG, itself, ...layers].map(({ digest, size }) => [digest, size]));
  const open = (digest: Digest) =>
    new BlobReader({ layer, path: `${path}/${blobFile(digest)}`, digest, size: sizes.get(digest) });
  const dagBytes = open(layer0.digest).bytes();
  const dag = parseDagManifest(dagBytes);
  const expected = runLayers(dag, dagBytes, (digest) => sizes.get(digest) ?? 0);
  checkFixed(path, "manifest.json", runManifestBytes(expected), manifest);
  const belongs = runFiles(dag, layers, manifest);
  const present = filesInside(path, belongs, layer);
  for (const file of belongs.files) {
    if (file.kind === "fixed") checkFixed(path, file.path, file.bytes, readFixed(path, file.path, layer));
  }
  return {
    path,
    runId: digestOf(manifest),
    resultId: resultId(dag),
    dag,
    layers,
    uncoveredViews: belongs.uncovered.filter((view) => present.has(view)),
    open,
  };
}

/**
 * Checks that every blob of a run is there and has the content its name stands for.
 *
 * @param onBlob called after each blob, for progress
 * @throws TracewrightError "missing_blob", "blob_damaged"
 */
export function checkRunBlobs(
  run: Run,
  onBlob: (progress: { readonly done: number; readonly total: number }) => void = () => {},
): void {
  const sizes = new Map(run.layers.map(({ digest, size }) => [digest, size]));
  const digests = contents(run).files.flatMap((file) => file.kind === "blob" ? [file.digest] : []);
  let done = 0;
  for (const digest of digests) {
    const reader = run.open(digest);
    const expected = sizes.get(digest) ?? reader.size;
    if (reader.size !== expected) {
      throw storeError("bad_manifest", {
        message: "a layer states another size than its blob has",
        folder: run.path,
        digest,
        expected,
        actual: reader.size,
      });
    }
    onBlob({ done: ++done, total: digests.length });
  }
}

/**
 * Checks that every readable view is the same as the blob it shows.
 *
 * @throws TracewrightError "missing_file", "view_mismatch"
 */
export function checkRunViews(run: Run, { layer = diskLayer }: { layer?: FileLayer } = {}): void {
  const sizes = new Map(run.layers.map(({ digest, size }) => [digest, size]));
  for (const [view, expected] of Object.entries(run.dag.views)) {
    if (expected === null) continue;
    const place = { folder: run.path, view };
    const path = `${run.path}/${view}`;
    const [size, held] = [sizes.get(expected), layer.facts(path)?.size ?? 0];
    if (held > IN_MEMORY && held !== size) throw viewMismatch({ ...place, expected: size, actual: held });
    const bytes = layer.read(path);
    if (bytes === undefined) throw absent(run.path, view);
    const actual = digestOf(bytes);
    if (actual !== expected) throw viewMismatch({ ...place, expected, actual });
  }
}

/** A view that does not show its blob. */
export function viewMismatch(
  place: { folder: string; view: string; expected: Digest | number | undefined; actual: Digest | number },
) {
  return storeError("view_mismatch", {
    message: "a readable copy was changed",
    ...place,
    hint: "the evidence is the blob; delete the copy and run the command that wrote it again",
  });
}

function contents(run: Run): RunFiles {
  return runFiles(run.dag, run.layers, runManifestBytes(run.layers));
}

function readFixed(folder: string, path: string, layer: FileLayer): Uint8Array<ArrayBuffer> {
  const facts = layer.facts(`${folder}/${path}`);
  if (facts?.kind === "symlink") throw storeError("symlink_not_allowed", { folder, path });
  if (facts !== undefined && facts.size > MAX_MANIFEST) {
    throw storeError("too_large", {
      folder,
      path,
      expected: `at most ${MAX_MANIFEST} bytes`,
      actual: facts.size,
    });
  }
  const bytes = facts?.kind === "file" ? layer.read(`${folder}/${path}`) : undefined;
  if (bytes === undefined) throw absent(folder, path);
  return bytes;
}

function absent(folder: string, path: string) {
  return storeError("missing_file", {
    message: "a file of the run is not there",
    folder,
    path,
    hint: "run the command that wrote the run again; it adds what is missing",
  });
}

function findRun(reference: string, directory: string, layer: FileLayer): string {
  const plain = reference.replace(/[/\\]+$/, "");
  const kind = layer.facts(plain)?.kind;
  if (kind === "directory") return plain;
  const name = /(?:^|[/\\])manifest\.json$/.exec(plain);
  if (name !== null && kind !== undefined) return plain.slice(0, name.index) || ".";
  const prefix = kind === undefined ? HEX_PREFIX.exec(reference)?.[1] : undefined;
  if (prefix === undefined) {
    if (kind === "symlink") return findRun(`${plain}/.`, directory, layer);
    throw notFound(reference, "a run folder, its manifest.json, or 4 to 64 hexadecimal digits of a run id");
  }
  const found = layer.list(directory).filter((entry) => entry.kind === "directory").map((entry) => entry.name)
    .filter((folder) => /^[0-9a-f]{16}$/.test(folder) && folder.startsWith(prefix.slice(0, 16)))
    .filter((folder) =>
      prefix.length <= 16 || manifestDigest(`${directory}/${folder}`, layer).startsWith(prefix)
    );
  if (found.length > 1) {
    throw storeError("ambiguous_run", {
      directory,
      expected: "a prefix of one run only",
      actual: found,
      hint: "give more digits",
    });
  }
  if (found.length === 0) throw notFound(reference, `a run in ${directory}`);
  return `${directory}/${found[0]}`;
}

function manifestDigest(folder: string, layer: FileLayer): string {
  return digestOf(readFixed(folder, "manifest.json", layer)).slice("sha256:".length);
}

function notFound(reference: string, expected: string) {
  return storeError("run_not_found", {
    expected,
    actual: reference,
    hint: "deno task smoke makes a run and prints its folder",
  });
}
