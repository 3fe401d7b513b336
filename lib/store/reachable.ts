import { type Digest, hexOf } from "../core/digest.ts";
import { EMPTY_CONFIG } from "./_oci.ts";
import { bundleError } from "./bundle_error.ts";
import { DAG_SCHEMA, MAX_MANIFEST, parseDagManifest } from "./manifest.ts";
import { parseRunManifest, RUN_ARTIFACT_TYPE } from "./run_manifest.ts";
import type { Store } from "./store.ts";

/** Digests with their sizes where a record states one. */
export type Reached = Map<Digest, number | undefined>;

/**
 * What a name keeps alive: the blob it points to; and of a run, named by its OCI manifest, also the DAG manifest and every
 * blob that these two name. A blob that is neither manifest of a run nor a DAG keeps itself only.
 *
 * @throws TracewrightError "dangling_ref" where the name points to nothing, "missing_blob" where the DAG of a run is gone,
 * "blob_damaged", "bad_manifest" and "not_canonical"
 */
export function reachedFrom(
  store: Store,
  { name, digest }: { readonly name: string; readonly digest: Digest },
): Reached {
  const facts = store.blobs.layer.facts(store.blobs.blobPath(digest));
  if (facts === undefined) {
    throw bundleError("dangling_ref", {
      message: "a name of the store points to a blob that is not there",
      ref: name,
      path: `${store.path}/refs/${name}`,
      expected: digest,
      actual: "no such blob",
      hint: `run the experiment again, or give the name up: store forget --name ${name}`,
    });
  }
  const reached: Reached = new Map([[digest, undefined]]);
  if (facts.size > MAX_MANIFEST) return reached;
  const bytes = store.blobs.read(digest);
  switch (kindOf(bytes)) {
    case "run": {
      const layers = parseRunManifest(bytes);
      for (const layer of [EMPTY_CONFIG, ...layers]) reached.set(layer.digest, layer.size);
      addDag(reached, store.blobs.read(layers[0]!.digest));
      break;
    }
    case "dag":
      addDag(reached, bytes);
  }
  return reached;
}

function addDag(reached: Reached, bytes: Uint8Array): void {
  const add = (digest: Digest, size?: number) => reached.set(digest, size ?? reached.get(digest));
  const dag = parseDagManifest(bytes);
  add(dag.config);
  for (const { inputs, outputs } of dag.nodes) {
    for (const { digest } of Object.values(inputs)) add(digest);
    for (const { digest, size } of Object.values(outputs)) add(digest, size);
  }
}

function kindOf(bytes: Uint8Array): "run" | "dag" | "other" {
  let value: { artifactType?: unknown; schema?: unknown } | null;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return "other";
  }
  if (value?.artifactType === RUN_ARTIFACT_TYPE) return "run";
  return value?.schema === DAG_SCHEMA ? "dag" : "other";
}

/** Everything that the names of a store keep alive. Throws like {@link reachedFrom}, and "bad_ref". */
export function reachedFromRefs(store: Store): Reached {
  const all: Reached = new Map();
  // A run is often named twice; its manifest is read once.
  const roots = new Map(store.refs.list().map(({ name, digest }) => [hexOf(digest), { name, digest }]));
  for (const root of roots.values()) {
    for (const [digest, size] of reachedFrom(store, root)) all.set(digest, size ?? all.get(digest));
  }
  return all;
}
