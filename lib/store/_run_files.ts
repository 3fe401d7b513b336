import { canonicalJson } from "../core/canonical_json.ts";
import { type Digest, digestOf, hexOf } from "../core/digest.ts";
import { OCI_LAYOUT_BYTES } from "./blob_store.ts";
import type { FileLayer } from "./file_layer.ts";
import type { DagManifest } from "./manifest.ts";
import { EMPTY_CONFIG_BYTES } from "./_oci.ts";
import { runIndexBytes, type RunLayer } from "./run_manifest.ts";
import { foldersOf } from "./folders_of.ts";
import { storeError } from "./store_error.ts";

/** One file a run folder must hold: fixed bytes, or the content of a blob. */
export type RunFile =
  | { readonly kind: "fixed"; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: "blob" | "view"; readonly path: string; readonly digest: Digest };

/** What belongs into a run folder. */
export interface RunFiles {
  readonly files: readonly RunFile[];
  /** Paths of views that no digest covers; they may be there. */
  readonly uncovered: readonly string[];
}

/** The path of a blob inside a run folder. */
export function blobFile(digest: Digest): string {
  return `blobs/sha256/${hexOf(digest)}`;
}

/** Everything a run folder holds, `manifest.json` last. */
export function runFiles(dag: DagManifest, layers: readonly RunLayer[], manifest: Uint8Array): RunFiles {
  const digests = new Set([
    digestOf(EMPTY_CONFIG_BYTES),
    digestOf(manifest),
    ...layers.map(({ digest }) => digest),
  ]);
  const files: RunFile[] = [
    { kind: "fixed", path: "oci-layout", bytes: OCI_LAYOUT_BYTES },
    { kind: "fixed", path: "index.json", bytes: runIndexBytes(manifest) },
  ];
  for (const digest of digests) files.push({ kind: "blob", path: blobFile(digest), digest });
  const uncovered: string[] = [];
  for (const [path, digest] of Object.entries(dag.views)) {
    if (digest === null) uncovered.push(path);
    else files.push({ kind: "view", path, digest });
  }
  files.push({ kind: "fixed", path: "manifest.json", bytes: manifest });
  return { files, uncovered };
}

/**
 * Looks through a run folder without following anything.
 *
 * @returns the paths of the files that are there
 * @throws TracewrightError "symlink_not_allowed", "unexpected_file" for anything that does not belong to the run
 */
export function filesInside(
  folder: string,
  { files, uncovered }: RunFiles,
  layer: FileLayer,
): ReadonlySet<string> {
  const allowed = new Set([...files.map(({ path }) => path), ...uncovered]);
  const folders = foldersOf(allowed);
  const present = new Set<string>();
  const visit = (prefix: string) => {
    for (const { name, kind } of layer.list(prefix === "" ? folder : `${folder}/${prefix}`)) {
      const path = prefix === "" ? name : `${prefix}/${name}`;
      if (kind === "symlink") {
        throw storeError("symlink_not_allowed", {
          message: "a run holds no links, so that it means the same wherever it lies",
          folder,
          path,
        });
      }
      if (kind === "directory" && folders.has(path)) visit(path);
      else if (kind === "file" && allowed.has(path)) present.add(path);
      else {
        throw storeError("unexpected_file", {
          message: "something in the folder belongs to nothing in the run",
          folder,
          path,
          actual: kind,
          hint: "move it out of the run folder",
        });
      }
    }
  };
  visit("");
  return present;
}

/** The first place where two canonical texts part, for a message. */
export function textDifference(expected: Uint8Array, actual: Uint8Array) {
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at++;
  const show = (bytes: Uint8Array) => new TextDecoder().decode(bytes.subarray(Math.max(0, at - 40), at + 80));
  return { byte: at, expected: show(expected), actual: show(actual) };
}

/** Equality of byte strings. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** Refuses a fixed file of the layout that has other bytes. */
export function checkFixed(folder: string, path: string, expected: Uint8Array, actual: Uint8Array): void {
  if (sameBytes(expected, actual)) return;
  throw storeError("bad_manifest", {
    message: `${canonicalJson(path)} is not what this run's DAG manifest leads to`,
    folder,
    path,
    ...textDifference(expected, actual),
  });
}
