import { z } from "zod";
import { type Digest, hexOf } from "../core/digest.ts";
import { EMPTY_CONFIG } from "./_oci.ts";
import { blobFile, checkFixed } from "./_run_files.ts";
import { digestSchema } from "./action_record.ts";
import { BlobReader } from "./blob_reader.ts";
import { MAX_MANIFEST, parseDagManifest } from "./manifest.ts";
import { BlobStore } from "./blob_store.ts";
import { diskLayer, type FileLayer } from "./file_layer.ts";
import { parseRunManifest, RUN_ARTIFACT_TYPE, runLayers, runManifestBytes } from "./run_manifest.ts";
import { storeError } from "./store_error.ts";
import { writeRun, type WrittenRun } from "./write_run.ts";

/** An index as other programs write it: they may add fields, and leave fields out that they do not know. */
const indexSchema = z.object({ manifests: z.array(z.object({ digest: digestSchema })).max(1000) });
const manifestSchema = z.object({ artifactType: z.string().optional() });

/**
 * Makes a run folder from an OCI image layout that another program wrote, such as `skopeo copy docker://… oci:folder`: the
 * blobs are the run's, the index is that program's, and what is readable without tools is written anew.
 *
 * @param layout folder with `index.json` and `blobs/sha256`
 * @param options where the run folder is written
 * @throws TracewrightError "run_not_found" where the index names no run or several, "bad_manifest", "not_canonical",
 * "missing_blob", "blob_damaged", and all of `writeRun`
 */
export function importLayout(
  layout: string,
  { directory, layer = diskLayer }: { directory: string; layer?: FileLayer },
): WrittenRun {
  const read = (digest: Digest) => new BlobReader({ layer, path: `${layout}/${blobFile(digest)}`, digest });
  const runs = manifestsOf(layout, layer).filter((digest) => isRun(read(digest)));
  const [run] = runs;
  if (run === undefined || runs.length > 1) {
    throw storeError("run_not_found", {
      message: "the layout does not name exactly one run",
      layout,
      expected: "one manifest of a run in index.json",
      actual: runs.map(hexOf),
    });
  }
  const manifest = read(run).bytes();
  const layers = parseRunManifest(manifest);
  const dagBytes = read(layers[0]!.digest).bytes();
  const dag = parseDagManifest(dagBytes);
  const sizes = new Map(layers.map(({ digest, size }) => [digest, size]));
  const expected = runManifestBytes(runLayers(dag, dagBytes, (digest) => sizes.get(digest) ?? 0));
  checkFixed(layout, blobFile(run), expected, manifest);
  // Manifest, DAG and empty configuration are there already, so that nothing is written into the layout.
  read(EMPTY_CONFIG.digest);
  using store = BlobStore.open(layout, { layer });
  return writeRun(dag, { store, directory });
}

function manifestsOf(layout: string, layer: FileLayer): Digest[] {
  const path = `${layout}/index.json`;
  const facts = layer.facts(path);
  const bytes = facts?.kind === "file" && facts.size <= MAX_MANIFEST ? layer.read(path) : undefined;
  try {
    const { manifests } = indexSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
    return [...new Set(manifests.map(({ digest }) => digest))];
  } catch (cause) {
    throw storeError("run_not_found", {
      message: "this is no OCI image layout",
      path,
      hint: "skopeo copy docker://HOST/NAME:TAG oci:FOLDER makes one",
      cause,
    });
  }
}

function isRun(blob: BlobReader): boolean {
  if (blob.size > MAX_MANIFEST) return false;
  try {
    return manifestSchema.parse(JSON.parse(blob.text())).artifactType === RUN_ARTIFACT_TYPE;
  } catch {
    return false; // some other artifact, which may be anything
  }
}
