import { deepEqual, equal, throws } from "node:assert/strict";
import { canonicalBytes, canonicalJson } from "../core/canonical_json.ts";
import { type Digest, digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { keyOf } from "./action_record.ts";
import {
  actionOf,
  DAG_SCHEMA,
  type DagManifest,
  dagManifestBytes,
  type DagNode,
  MAX_MANIFEST,
  parseDagManifest,
  resultId,
} from "./manifest.ts";
import type { StoreCode } from "./store_error.ts";

const CONFIG = digestOf("{}");
const NUMERICS = ["exact-f64-v1"];

function node(id: string, inputs: DagNode["inputs"], outputs: { [name: string]: string }): DagNode {
  const descriptors = Object.fromEntries(
    Object.entries(outputs).map(([name, text]) => [name, {
      digest: digestOf(text),
      size: text.length,
      media_type: "text/plain",
    }]),
  );
  const stage = { name: id.split("/")[0]!, version: 1, code: digestOf("code") };
  const draft = { id, key: keyOf as never, stage, params: {}, inputs, outputs: descriptors };
  return { ...draft, key: keyOf(actionOf(draft, NUMERICS)) };
}

function dag(change: Partial<DagManifest> = {}): DagManifest {
  return {
    schema: DAG_SCHEMA,
    config: CONFIG,
    numerics: NUMERICS,
    nodes: [
      node("data", { config: { digest: CONFIG, producer: "config" } }, { train: "rows", test: "more" }),
      node("bc/17", {
        train: { digest: digestOf("rows"), producer: "data" },
        prior: { digest: digestOf("outside"), producer: "source" },
      }, { checkpoint: "weights" }),
    ],
    roots: ["bc/17"],
    views: { "report.html": null, "rows.txt": digestOf("rows") },
    ...change,
  };
}

function refuses(value: unknown, code: StoreCode): void {
  throws(() => parseDagManifest(canonicalBytes(value)), (error) => hasCode(error, code));
}

/** The same manifest with one node changed. */
function edited(index: number, change: { [field: string]: unknown }): unknown {
  return { ...dag(), nodes: dag().nodes.map((old, i) => i === index ? { ...old, ...change } : old) };
}

Deno.test("parseDagManifest() reads what dagManifestBytes() writes", () => {
  deepEqual(parseDagManifest(dagManifestBytes(dag())), dag());
});

Deno.test("resultId() is the digest of canonical {config, output digests by name}, whatever the code", () => {
  const text = `{"config":"${CONFIG}","outputs":{"bc/17/checkpoint":"${digestOf("weights")}",` +
    `"data/test":"${digestOf("more")}","data/train":"${digestOf("rows")}"}}`;
  equal(resultId(dag()), digestOf(text));
  const other = { name: "data", version: 1, code: digestOf("other code") };
  const changed = dag({ nodes: dag().nodes.map((old, i) => i === 0 ? { ...old, stage: other } : old) });
  equal(resultId(changed), digestOf(text));
});

Deno.test("actionOf() gives the action whose digest is the node's key", () => {
  for (const entry of dag().nodes) equal(keyOf(actionOf(entry, NUMERICS)), entry.key);
});

Deno.test("parseDagManifest() refuses bytes that are not canonical", () => {
  const text = canonicalJson(dag());
  const encoder = new TextEncoder();
  for (
    const bytes of [
      text + "\n",
      text.replace('{"config"', '{ "config"'),
      "",
      "\ufeff" + text,
      text.slice(0, -1),
    ]
  ) {
    throws(() => parseDagManifest(encoder.encode(bytes)), (error) => hasCode(error, "not_canonical"));
  }
  const twice = text.replace('"roots":', '"roots":["x"],"roots":');
  throws(() => parseDagManifest(encoder.encode(twice)), (error) => hasCode(error, "not_canonical"));
});

Deno.test("parseDagManifest() refuses a manifest that is too large or nested too deeply", () => {
  throws(() => parseDagManifest(new Uint8Array(MAX_MANIFEST + 1)), (error) => hasCode(error, "too_large"));
  const deep = new TextEncoder().encode("[".repeat(65) + "]".repeat(65));
  throws(() => parseDagManifest(deep), (error) => hasCode(error, "not_canonical"));
});

Deno.test("parseDagManifest() refuses missing, unknown and mistyped fields and names the place", () => {
  const { roots: _roots, ...incomplete } = dag();
  refuses(incomplete, "bad_manifest");
  refuses({ ...dag(), created: "today" }, "bad_manifest");
  refuses({ ...dag(), schema: "tracewright.dag.v2" }, "bad_manifest");
  refuses({ ...dag(), config: "sha256:00" }, "bad_manifest");
  refuses([], "bad_manifest");
  refuses(edited(0, { host: "x" }), "bad_manifest");
  refuses(edited(0, { params: [] }), "bad_manifest");
  refuses(edited(0, { stage: { name: "data", version: 0, code: CONFIG } }), "bad_manifest");
  throws(
    () => parseDagManifest(canonicalBytes(edited(1, { key: 7 }))),
    (error) => hasCode(error, "bad_manifest") && error.details["field"] === "nodes.1.key",
  );
});

Deno.test("parseDagManifest() refuses more than 10,000 nodes", () => {
  const one = node("x", {}, { out: "o" });
  const many = Array.from({ length: 10_001 }, (_, i) => ({ ...one, id: `x${i}` }));
  refuses(dag({ nodes: many, roots: [], views: {} }), "bad_manifest");
});

Deno.test("parseDagManifest() refuses names that are not the same path everywhere", () => {
  const output = { digest: CONFIG, size: 2, media_type: "text/plain" };
  refuses(edited(1, { id: "../bc" }), "path_not_allowed");
  refuses(edited(1, { id: "BC/17" }), "path_not_allowed");
  refuses(edited(1, { outputs: { "a\\b": output } }), "path_not_allowed");
  refuses(edited(1, { inputs: { "/etc": { digest: CONFIG, producer: "config" } } }), "path_not_allowed");
  refuses(dag({ views: { "/report.md": null } }), "path_not_allowed");
  refuses(dag({ views: { "nul.txt": null } }), "path_not_allowed");
  const proto = canonicalJson(dag()).replace('"views":{', '"views":{"__proto__":null,');
  throws(() => parseDagManifest(new TextEncoder().encode(proto)), (error) => hasCode(error, "bad_manifest"));
});

Deno.test("parseDagManifest() refuses an order or reference that does not hold together", () => {
  const [data, bc] = dag().nodes as [DagNode, DagNode];
  const input = (digest: Digest, producer: string) => edited(1, { inputs: { train: { digest, producer } } });
  refuses(dag({ nodes: [bc, data] }), "bad_manifest");
  refuses(dag({ nodes: [data, data, bc] }), "bad_manifest");
  refuses(input(digestOf("rows"), "nobody"), "bad_manifest");
  refuses(input(digestOf("rows"), "bc/17"), "bad_manifest");
  refuses(input(digestOf("forged"), "data"), "bad_manifest");
  refuses(input(digestOf("forged"), "config"), "bad_manifest");
  refuses(edited(1, { id: "config" }), "bad_manifest");
  refuses(edited(1, { id: "source/bc" }), "bad_manifest");
  refuses(dag({ roots: ["nobody"] }), "bad_manifest");
  refuses(dag({ roots: ["data", "bc/17"] }), "bad_manifest");
  refuses(dag({ roots: ["bc/17", "bc/17"] }), "bad_manifest");
  refuses(dag({ numerics: ["b", "a"] }), "bad_manifest");
});

Deno.test("parseDagManifest() refuses ids below the reserved ones, and two outside inputs of one title", () => {
  for (const id of ["source", "source/a", "config/a"]) {
    const alone = dag({ nodes: [node(id, {}, { out: "1" })], roots: [id], views: {} });
    throws(
      () => parseDagManifest(canonicalBytes(alone)),
      (error) => hasCode(error, "bad_manifest") && error.details.message === "an id is reserved",
      id,
    );
  }
  const outside = (text: string) => ({ digest: digestOf(text), producer: "source" });
  const nodes = [
    node("a", { "b/c": outside("one") }, { out: "1" }),
    node("a/b", { c: outside("two") }, { out: "2" }),
  ];
  refuses(dag({ nodes, roots: ["a"], views: {} }), "bad_manifest");
});

Deno.test("parseDagManifest() refuses two outputs of one name", () => {
  const nodes = [node("a", {}, { "b/c": "1" }), node("a/b", {}, { c: "2" })];
  refuses(dag({ nodes, roots: ["a"], views: {} }), "bad_manifest");
});

Deno.test("parseDagManifest() refuses views of unknown content, inside each other, or over the layout", () => {
  refuses(dag({ views: { "a.txt": digestOf("unknown") } }), "bad_manifest");
  refuses(dag({ views: { a: null, "a/b": null } }), "bad_manifest");
  for (const path of ["manifest.json", "blobs/sha256/x", "blobs", "index.json", "oci-layout"]) {
    refuses(dag({ views: { [path]: null } }), "bad_manifest");
  }
});
