import { type Digest, digestOf, hexOf } from "../core/digest.ts";
import { keyOf } from "./action_record.ts";
import { FaultyLayer } from "./faulty_layer.ts";
import { actionOf, DAG_SCHEMA, type DagManifest, type DagNode } from "./manifest.ts";
import { scratchFolder } from "./scratch_folder.ts";
import { Store } from "./store.ts";
import { writeRun, type WrittenRun } from "./write_run.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** The disk without waiting for it. */
export const soundLayer: FaultyLayer = new FaultyLayer(() => undefined);

/** The DAG of an experiment of two stages, whose blobs are put into a store; for tests. */
export function exampleExperiment(store: Store, report = "# Report\n"): DagManifest {
  const put = (text: string, media_type: string) => ({ ...store.blobs.put(bytes(text)), media_type });
  const config = store.blobs.put(bytes('{"seed":17}')).digest;
  const stage = (name: string) => ({ name, version: 1, code: digestOf(name) });
  const node = (id: string, inputs: DagNode["inputs"], outputs: DagNode["outputs"]): DagNode => {
    const draft = { id, key: keyOf as never, stage: stage(id.split("/")[0]!), params: {}, inputs, outputs };
    return { ...draft, key: keyOf(actionOf(draft, ["n"])) };
  };
  const rows = put("1\n2\n", "application/jsonl");
  const text = put(report, "text/markdown");
  return {
    schema: DAG_SCHEMA,
    config,
    numerics: ["n"],
    nodes: [
      node("data", { config: { digest: config, producer: "config" } }, { rows }),
      node("report", { rows: { digest: rows.digest, producer: "data" } }, { "report.md": text }),
    ],
    roots: ["report"],
    views: { "report.html": null, "report.md": text.digest, "traces/e/17.jsonl": rows.digest },
  };
}

/** A finished run in a folder of its own, and the store it came from. */
export interface ExampleRun extends WrittenRun, Disposable {
  /** Where runs lie. */
  readonly directory: string;
  readonly store: Store;
  /** Writes the run again. */
  write(options?: { blobs?: "copy" | "link" }): WrittenRun;
  /** Where a blob of the run lies. */
  blob(digest: Digest): string;
}

/** A small finished run in a folder of its own, for tests; it goes away at the end of the scope. */
export function exampleRun(): ExampleRun {
  const folder = scratchFolder();
  const directory = `${folder.path}/runs`;
  const store = Store.open(`${folder.path}/store`, { layer: soundLayer });
  const dag = exampleExperiment(store);
  const write = (options: { blobs?: "copy" | "link" } = {}): WrittenRun =>
    writeRun(dag, {
      store: store.blobs,
      directory,
      uncoveredViews: [{ path: "report.html", bytes: bytes("<p>") }],
      ...options,
    });
  const run = write();
  return {
    ...run,
    directory,
    store,
    write,
    blob: (digest: Digest) => `${run.path}/blobs/sha256/${hexOf(digest)}`,
    [Symbol.dispose]: () => {
      store[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}
