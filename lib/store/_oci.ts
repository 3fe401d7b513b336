import { canonicalBytes } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";

/** Names of the OCI image specification 1.1 that runs and attestations use. */
export const MANIFEST_MEDIA_TYPE = "application/vnd.oci.image.manifest.v1+json";
const INDEX_MEDIA_TYPE = "application/vnd.oci.image.index.v1+json";
/** Annotation that names a layer. */
export const TITLE = "org.opencontainers.image.title";
const REF_NAME = "org.opencontainers.image.ref.name";

/** The empty configuration that OCI asks for in place of an image's (image specification 1.1, "guidelines for artifact usage"). */
export const EMPTY_CONFIG_BYTES = canonicalBytes({});
/** Its descriptor. */
export const EMPTY_CONFIG = {
  mediaType: "application/vnd.oci.empty.v1+json",
  digest: digestOf(EMPTY_CONFIG_BYTES),
  size: EMPTY_CONFIG_BYTES.length,
} as const;

/** The bytes of an `index.json` with one descriptor in it: the manifest of an artifact, under the name it has in a registry. */
export function indexBytes(
  manifest: Uint8Array,
  { artifactType, name }: { artifactType: string; name: string },
): Uint8Array<ArrayBuffer> {
  return canonicalBytes({
    schemaVersion: 2,
    mediaType: INDEX_MEDIA_TYPE,
    manifests: [{
      mediaType: MANIFEST_MEDIA_TYPE,
      artifactType,
      digest: digestOf(manifest),
      size: manifest.length,
      annotations: { [REF_NAME]: name },
    }],
  });
}
