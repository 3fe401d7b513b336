import { z } from "zod";
import { canonicalBytes } from "../core/canonical_json.ts";
import { type Digest, digestOf, hexOf } from "../core/digest.ts";
import { EMPTY_CONFIG, indexBytes, MANIFEST_MEDIA_TYPE, TITLE } from "./_oci.ts";
import { digestSchema } from "./action_record.ts";
import { badManifest, type DagManifest, parseStrictJson } from "./manifest.ts";

/** `artifactType` of a run. */
export const RUN_ARTIFACT_TYPE = "application/vnd.tracewright.run.v1+json";
/** Media type of layer 0, the DAG manifest. */
export const DAG_MEDIA_TYPE = "application/vnd.tracewright.dag.v1+json";
/** Media type of the configuration's layer. */
export const CONFIG_MEDIA_TYPE = "application/json";
/** Media type of a layer for content from outside, whose type no record states. */
export const SOURCE_MEDIA_TYPE = "application/octet-stream";
/** One blob of a run as the OCI manifest lists it. */
export interface RunLayer {
  readonly digest: Digest;
  readonly size: number;
  readonly mediaType: string;
  /** `dag.json`, `config.json`, `<node>/<output>` or `source/<node>/<input>`; the first of them in sorted order. */
  readonly title: string;
}

const layerSchema = z.strictObject({
  mediaType: z.string(),
  digest: digestSchema,
  size: z.int().nonnegative(),
  annotations: z.strictObject({ [TITLE]: z.string() }),
});
const manifestSchema = z.strictObject({
  schemaVersion: z.literal(2),
  mediaType: z.literal(MANIFEST_MEDIA_TYPE),
  artifactType: z.literal(RUN_ARTIFACT_TYPE),
  config: z.strictObject({
    mediaType: z.literal(EMPTY_CONFIG.mediaType),
    digest: z.literal(EMPTY_CONFIG.digest),
    size: z.literal(EMPTY_CONFIG.size),
  }),
  layers: z.array(layerSchema).min(1),
});

/**
 * The layers of a run: the DAG manifest, then each distinct digest it reaches, sorted by first title.
 *
 * @param sizeOf size in bytes of what the DAG states no size for: the configuration and content from outside
 */
export function runLayers(
  dag: DagManifest,
  dagBytes: Uint8Array,
  sizeOf: (digest: Digest) => number,
): RunLayer[] {
  const first = new Map<Digest, { title: string; mediaType: string; size: number | undefined }>();
  const offer = (digest: Digest, title: string, mediaType: string, size?: number) => {
    const known = first.get(digest);
    if (known === undefined || title < known.title) {
      first.set(digest, { title, mediaType, size: size ?? known?.size });
    } else known.size ??= size;
  };
  offer(dag.config, "config.json", CONFIG_MEDIA_TYPE);
  for (const node of dag.nodes) {
    for (const [name, { digest, producer }] of Object.entries(node.inputs)) {
      if (producer === "source") offer(digest, `source/${node.id}/${name}`, SOURCE_MEDIA_TYPE);
    }
    for (const [name, { digest, size, media_type }] of Object.entries(node.outputs)) {
      offer(digest, `${node.id}/${name}`, media_type, size);
    }
  }
  const rest = [...first].map(([digest, { title, mediaType, size }]): RunLayer => {
    return { digest, title, mediaType, size: size ?? sizeOf(digest) };
  }).sort((a, b) => (a.title < b.title ? -1 : 1));
  const layer0 = {
    digest: digestOf(dagBytes),
    size: dagBytes.length,
    mediaType: DAG_MEDIA_TYPE,
    title: "dag.json",
  };
  return [layer0, ...rest];
}

/** The bytes of the OCI manifest that names these layers; their digest is the run's identity. */
export function runManifestBytes(layers: readonly RunLayer[]): Uint8Array<ArrayBuffer> {
  return canonicalBytes({
    schemaVersion: 2,
    mediaType: MANIFEST_MEDIA_TYPE,
    artifactType: RUN_ARTIFACT_TYPE,
    config: EMPTY_CONFIG,
    layers: layers.map(({ digest, size, mediaType, title }) => {
      return { digest, size, mediaType, annotations: { [TITLE]: title } };
    }),
  });
}

/** The bytes of a run's `index.json`: one descriptor, which names the manifest. */
export function runIndexBytes(manifest: Uint8Array): Uint8Array<ArrayBuffer> {
  return indexBytes(manifest, { artifactType: RUN_ARTIFACT_TYPE, name: runFolderName(digestOf(manifest)) });
}

/** The name of a run's folder: the first 16 hexadecimal digits of its identity. */
export function runFolderName(runId: Digest): string {
  return hexOf(runId).slice(0, 16);
}

/**
 * Reads an OCI manifest of a run strictly.
 *
 * @throws TracewrightError "too_large", "not_canonical", "bad_manifest"
 */
export function parseRunManifest(bytes: Uint8Array): RunLayer[] {
  const value = parseStrictJson(bytes, "run manifest");
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) {
    throw badManifest("the run manifest does not have the right form", parsed.error, value);
  }
  return parsed.data.layers.map(({ digest, size, mediaType, annotations }) => {
    return { digest, size, mediaType, title: annotations[TITLE] };
  });
}
