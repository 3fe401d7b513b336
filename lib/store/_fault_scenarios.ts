import { deepEqual, equal, ok } from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import { ACTION_SCHEMA, type ActionRecord, keyOf } from "./action_record.ts";
import { readAttestations, writeAttestation } from "./attestations.ts";
import { collectGarbage } from "./collect_garbage.ts";
import { signEnvelope } from "./dsse.ts";
import { exampleExperiment } from "./example_run.ts";
import type { Operation } from "./faulty_layer.ts";
import type { FileLayer } from "./file_layer.ts";
import { packBundle } from "./pack_bundle.ts";
import { checkRunBlobs, checkRunViews, readRun } from "./read_run.ts";
import { generateKeyFiles, readSigningKey } from "./signing_key.ts";
import { provenanceStatement } from "./statement.ts";
import { Store } from "./store.ts";
import { unpackBundle } from "./unpack_bundle.ts";
import { writeRun, type WriteRunOptions } from "./write_run.ts";

/** Where scenarios work. */
export const STORE = "/disk/store";
/** Where their runs lie. */
export const RUNS = "/disk/runs";

const BUNDLE = "/disk/bundle";

/** Something that is done to a store or to run folders, while the disk fails or the process dies. */
export interface FaultScenario {
  readonly name: string;
  /** Whether a run lies there from the beginning that is not complete. */
  readonly incomplete?: true;
  /** The operations that this scenario has over another one; all of its own if not given. */
  readonly only?: (operation: Operation, path: string) => boolean;
  /** What lies there before. */
  prepare(layer: FileLayer): void | Promise<void>;
  /** The work; what it returns must be the same whenever it succeeds. */
  work(layer: FileLayer): unknown;
  /** Throws unless all that the work promises is there. */
  holds(layer: FileLayer): void;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const large = new Uint8Array(700_000).map((_, i) => i % 251);
const key = await readSigningKey((await generateKeyFiles()).privateKey);

const record: ActionRecord = {
  schema: ACTION_SCHEMA,
  stage: { name: "s", version: 1, code: digestOf("s") },
  numerics: ["n"],
  params: {},
  inputs: { input: digestOf("first") },
};

/** Lets a store be used and put away. */
function withStore<T>(layer: FileLayer, use: (store: Store) => T): T {
  using store = Store.open(STORE, { layer });
  return use(store);
}

function requireBlobs(layer: FileLayer, ...contents: (string | Uint8Array)[]): void {
  withStore(layer, ({ blobs }) => {
    for (const content of contents) deepEqual(blobs.read(digestOf(content)).length, content.length);
  });
}

function publishRun(layer: FileLayer, options: Partial<WriteRunOptions> = {}) {
  return withStore(layer, (store) => {
    const { runId, resultId } = writeRun(exampleExperiment(store), {
      store: store.blobs,
      directory: RUNS,
      uncoveredViews: [{ path: "report.html", bytes: bytes("<p>") }],
      ...options,
    });
    store.refs.set("runs/example", runId);
    return { runId, resultId };
  });
}

/** The one run there is, read from end to end. */
function wholeRun(layer: FileLayer) {
  const [folder] = layer.list(RUNS).filter(({ name }) => /^[0-9a-f]{16}$/.test(name));
  const run = readRun(`${RUNS}/${folder?.name}`, { layer });
  checkRunBlobs(run);
  checkRunViews(run, { layer });
  return run;
}

function requireRun(layer: FileLayer): void {
  const run = wholeRun(layer);
  equal(withStore(layer, ({ refs }) => refs.get("runs/example")), run.runId);
}

/** Packs the run, with an attestation, and takes everything away but the bundle. */
async function onlyBundle(layer: FileLayer, transport: "zstd" | "plain"): Promise<void> {
  publishRun(layer);
  const run = wholeRun(layer);
  writeAttestation(run, await signEnvelope(provenanceStatement(run, { version: "0.1.0" }), key), { layer });
  await packBundle(run, { target: BUNDLE, transport, attestations: "included", layer });
  for (const path of [STORE, RUNS]) layer.removeTree(path);
}

async function unpack(layer: FileLayer) {
  const target = `${RUNS}/0123456789abcdef`;
  // A folder that is there is whole, also after an attempt that ended with an error once it was.
  if (layer.facts(target) === undefined) {
    const { runId, attestations } = await unpackBundle({ bundle: BUNDLE, target, layer });
    return { runId, attestations: attestations.map(({ name }) => name) };
  }
  const run = wholeRun(layer);
  return { runId: run.runId, attestations: readAttestations(run, { layer }).map(({ name }) => name) };
}

function unpackScenario(transport: "zstd" | "plain"): FaultScenario {
  return {
    ...transport === "zstd" && { only: (_operation, path) => path === BUNDLE },
    name: `unpack a ${transport} bundle`,
    prepare: (layer) => onlyBundle(layer, transport),
    work: unpack,
    holds: (layer) => equal(readAttestations(wholeRun(layer), { layer }).length, 1),
  };
}

/** A named run, a pin, and a blob and a result that nothing needs. */
function withGarbage(layer: FileLayer): void {
  publishRun(layer);
  withStore(layer, (store) => {
    store.refs.set("pins/first", store.blobs.put(bytes("first")).digest);
    const kept = { ...store.blobs.put(bytes("1\n2\n")), media_type: "text/plain" };
    store.actions.publish(record, { kept });
    const loose = { ...store.blobs.put(bytes("loose")), media_type: "text/plain" };
    store.actions.publish({ ...record, params: { other: 1 } }, { kept, loose });
    store.blobs.put(large);
  });
}

/** All of them. */
export const faultScenarios: readonly FaultScenario[] = [
  {
    name: "put blobs",
    prepare: () => {},
    work: (layer) =>
      withStore(layer, ({ blobs }) => ["first", "second", "first"].map((text) => blobs.put(bytes(text)))),
    holds: (layer) => requireBlobs(layer, "first", "second"),
  },
  {
    name: "put a stream",
    prepare: (layer) => withStore(layer, ({ blobs }) => void blobs.put(bytes("first"))),
    work: (layer) =>
      withStore(layer, ({ blobs }) => {
        using writer = blobs.writer();
        for (let at = 0; at < large.length; at += 200_000) writer.write(large.subarray(at, at + 200_000));
        return writer.finish();
      }),
    holds: (layer) => requireBlobs(layer, "first", large),
  },
  {
    name: "record an action",
    prepare: () => {},
    work: (layer) =>
      withStore(layer, ({ blobs, actions }) => {
        const out = { ...blobs.put(bytes("first")), media_type: "text/plain" };
        actions.publish(record, { out });
        return actions.find(keyOf(record));
      }),
    holds: (layer) => ok(withStore(layer, ({ actions }) => actions.find(keyOf(record)))),
  },
  {
    name: "set and take away names",
    prepare: (layer) =>
      withStore(layer, ({ blobs, refs }) => {
        for (const text of ["first", "second"]) refs.set("runs/x", blobs.put(bytes(text)).digest);
        refs.set("runs/old", digestOf("first"));
      }),
    work: (layer) =>
      withStore(layer, ({ refs }) => {
        refs.set("runs/x", digestOf("first"));
        refs.set("pins/deep/y", digestOf("second"));
        refs.remove("runs/old");
        return refs.list();
      }),
    holds: (layer) =>
      deepEqual(withStore(layer, ({ refs }) => refs.list().map(({ name }) => name)), [
        "pins/deep/y",
        "runs/x",
      ]),
  },
  {
    name: "publish a run",
    prepare: () => {},
    work: (layer) => publishRun(layer),
    holds: requireRun,
  },
  {
    name: "publish a run with links",
    only: (operation) => operation === "link" || operation === "makeReadOnly",
    prepare: () => {},
    work: (layer) => publishRun(layer, { blobs: "link" }),
    holds: requireRun,
  },
  {
    name: "complete a run",
    incomplete: true,
    prepare: (layer) => {
      publishRun(layer);
      const { path } = wholeRun(layer);
      for (const name of ["manifest.json", "traces", `blobs/sha256/${digestOf("1\n2\n").slice(7)}`]) {
        layer.removeTree(`${path}/${name}`);
      }
    },
    work: (layer) => publishRun(layer),
    holds: requireRun,
  },
  unpackScenario("plain"),
  unpackScenario("zstd"),
  {
    name: "collect garbage",
    prepare: withGarbage,
    // What there is to remove depends on what was removed before; what is kept does not.
    work: (layer) => withStore(layer, (store) => collectGarbage(store).kept),
    holds: (layer) => {
      requireRun(layer);
      requireBlobs(layer, "first", "1\n2\n");
      withStore(layer, ({ blobs, actions }) => {
        deepEqual(actions.list().map(({ key }) => key), [keyOf(record)]);
        ok(!blobs.has(digestOf("loose")) && !blobs.has(digestOf(large)));
      });
    },
  },
];
