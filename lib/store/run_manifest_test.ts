import { deepEqual, equal, throws } from "node:assert/strict";
import { canonicalBytes, canonicalJson, parseCanonical } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { keyOf } from "./action_record.ts";
import { actionOf, DAG_SCHEMA, type DagManifest, type DagNode } from "./manifest.ts";
import {
  parseRunManifest,
  runFolderName,
  runIndexBytes,
  runLayers,
  runManifestBytes,
} from "./run_manifest.ts";

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const output = (content: string, media_type: string) => ({
  digest: digestOf(content),
  size: content.length,
  media_type,
});

function node(id: string, inputs: DagNode["inputs"], outputs: DagNode["outputs"]): DagNode {
  const stage = { name: "s", version: 1, code: digestOf("code") };
  const draft = { id, key: keyOf as never, stage, params: {}, inputs, outputs };
  return { ...draft, key: keyOf(actionOf(draft, [])) };
}

const DAG: DagManifest = {
  schema: DAG_SCHEMA,
  config: digestOf("{}"),
  numerics: [],
  nodes: [
    node("z", { from: { digest: digestOf("outside"), producer: "source" } }, {
      b: output("x", "text/plain"),
    }),
    node("a", {}, { b: output("y", "text/css"), c: output("x", "text/html") }),
  ],
  roots: [],
  views: {},
};

Deno.test("runLayers() puts the DAG first, then each digest once under its first title, sorted", () => {
  const dag = canonicalBytes(DAG);
  const layers = runLayers(DAG, dag, (digest) => digest === digestOf("{}") ? 2 : 7);
  const summary = layers.map(({ title, mediaType, size, digest }) => [title, mediaType, size, digest]);
  deepEqual(summary, [
    ["dag.json", "application/vnd.tracewright.dag.v1+json", dag.length, digestOf(dag)],
    ["a/b", "text/css", 1, digestOf("y")],
    ["a/c", "text/html", 1, digestOf("x")],
    ["config.json", "application/json", 2, digestOf("{}")],
    ["source/z/from", "application/octet-stream", 7, digestOf("outside")],
  ]);
});

Deno.test("runManifestBytes() writes an OCI artifact manifest with an empty config and no date", () => {
  const layer = { digest: digestOf("x"), size: 1, mediaType: "text/plain", title: "a/b" };
  equal(
    text(runManifestBytes([layer])),
    '{"artifactType":"application/vnd.tracewright.run.v1+json","config":{"digest":"sha256:' +
      '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","mediaType":' +
      '"application/vnd.oci.empty.v1+json","size":2},"layers":[{"annotations":{"org.opencontainers.image.title":' +
      `"a/b"},"digest":"${digestOf("x")}","mediaType":"text/plain","size":1}],"mediaType":` +
      '"application/vnd.oci.image.manifest.v1+json","schemaVersion":2}',
  );
});

Deno.test("parseRunManifest() reads what runManifestBytes() writes", () => {
  const layers = runLayers(DAG, canonicalBytes(DAG), () => 7);
  deepEqual(parseRunManifest(runManifestBytes(layers)), layers);
});

Deno.test("parseRunManifest() refuses other forms", () => {
  const good = runManifestBytes([{ digest: digestOf("x"), size: 1, mediaType: "text/plain", title: "a/b" }]);
  const value = parseCanonical(good) as Record<string, unknown>;
  const layers = value["layers"] as Record<string, unknown>[];
  const bad = [
    { ...value, annotations: {} },
    { ...value, artifactType: "application/x" },
    { ...value, schemaVersion: 1 },
    { ...value, config: { mediaType: "application/x", digest: digestOf("x"), size: 1 } },
    { ...value, layers: [] },
    { ...value, layers: [{ ...layers[0], urls: ["http://elsewhere"] }] },
    { ...value, layers: [{ ...layers[0], size: -1 }] },
  ];
  for (const other of bad) {
    throws(
      () => parseRunManifest(canonicalBytes(other)),
      (error) => hasCode(error, "bad_manifest"),
      canonicalJson(other),
    );
  }
  throws(
    () => parseRunManifest(new TextEncoder().encode(text(good) + " ")),
    (error) => hasCode(error, "not_canonical"),
  );
});

Deno.test("runIndexBytes() names the manifest, and runFolderName() is its first 16 digits", () => {
  const manifest = canonicalBytes({});
  const index = parseCanonical(runIndexBytes(manifest)) as { manifests: { digest: string; size: number }[] };
  equal(index.manifests.length, 1);
  equal(index.manifests[0]?.digest, digestOf("{}"));
  equal(index.manifests[0]?.size, 2);
  equal(runFolderName(digestOf("{}")), "44136fa355b3678a");
});
