import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { ACTION_SCHEMA, type ActionRecord, keyOf } from "./action_record.ts";
import { checkStore } from "./check_store.ts";
import { collectGarbage } from "./collect_garbage.ts";
import { exampleExperiment } from "./example_run.ts";
import { FaultyLayer } from "./faulty_layer.ts";
import type { FileLayer } from "./file_layer.ts";
import { MemoryLayer } from "./memory_layer.ts";
import { Store } from "./store.ts";
import { writeRun } from "./write_run.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const record: ActionRecord = {
  schema: ACTION_SCHEMA,
  stage: { name: "s", version: 1, code: digestOf("s") },
  numerics: ["n"],
  params: {},
  inputs: { input: digestOf("first") },
};

/** What an earlier process left without a name: it was killed, or its name was given up. */
function withOrphans(): MemoryLayer {
  const layer = new MemoryLayer();
  using store = Store.open("/store", { layer });
  store.refs.set("pins/kept", store.blobs.put(bytes("kept")).digest);
  const out = { ...store.blobs.put(bytes("first")), media_type: "text/plain" };
  store.actions.publish(record, { out });
  exampleExperiment(store);
  return layer;
}

/** Processes that write, and that count on what lies there; each names in the end what it has. */
const WRITERS: Readonly<Record<string, (store: Store) => void>> = {
  "stores new content": ({ blobs, actions, refs }) => {
    const out = { ...blobs.put(bytes("new")), media_type: "text/plain" };
    actions.publish({ ...record, params: { other: 1 } }, { out });
    refs.set("pins/new", out.digest);
  },
  "stores content that is there": ({ blobs, refs }) =>
    refs.set("pins/first", blobs.put(bytes("first")).digest),
  "streams content that is there": ({ blobs, refs }) => {
    using writer = blobs.writer();
    writer.write(bytes("first"));
    refs.set("pins/first", writer.finish().digest);
  },
  "takes a result that is there": ({ blobs, actions, refs }) => {
    blobs.hold();
    const out = actions.find(keyOf(record))?.outputs["out"];
    refs.set("pins/first", out?.digest ?? blobs.put(bytes("first")).digest);
  },
  "publishes a run of content that is there": (store) => {
    const { runId } = writeRun(exampleExperiment(store), { store: store.blobs, directory: "/runs" });
    store.refs.set("runs/example", runId);
  },
};

for (const [what, write] of Object.entries(WRITERS)) {
  Deno.test(`collectGarbage() takes nothing from a process that ${what}, whenever it comes`, () => {
    const orphans = withOrphans();
    let [collected, refused] = [0, 0];
    for (let at = 0;; at++) {
      const disk = orphans.copy();
      let count = 0;
      const layer: FileLayer = new FaultyLayer(() => {
        if (count++ !== at) return undefined;
        try {
          collectGarbage(Store.open("/store", { layer: disk }));
          collected++;
        } catch (error) {
          ok(hasCode(error, "store_in_use"), String(error));
          refused++;
        }
        return undefined;
      }, { base: disk });
      {
        using store = Store.open("/store", { layer });
        write(store);
      }
      // Everything that the process named is there, and a collection keeps it.
      const after = Store.open("/store", { layer: disk });
      deepEqual(checkStore(after, { depth: "content" }).problems, [], `operation ${at}`);
      const before = after.refs.list();
      collectGarbage(after);
      deepEqual(checkStore(after, { depth: "content" }).problems, [], `operation ${at}`);
      deepEqual(after.refs.list(), before);
      if (count <= at) break;
    }
    // Only before a process has looked at anything does a collection go first.
    ok(collected >= 1 && collected <= 3, `${collected} collected`);
    ok(refused >= 5, `${refused} refused`);
  });
}

Deno.test("collectGarbage() has the store alone from its first look to its last removal", () => {
  const disk = withOrphans();
  let [alone, open] = [0, 0];
  const layer = new FaultyLayer((operation, path) => {
    const other = Store.open("/store", { layer: disk });
    if (operation === "lock" || path === "/store") return undefined;
    try {
      other.blobs.hold();
      open++;
    } catch {
      alone++; // it would wait
    }
    return undefined;
  }, { base: disk });
  const { blobs } = collectGarbage(Store.open("/store", { layer }));
  ok(blobs.length > 3);
  ok(alone > 10, String(alone));
  equal(open, 0);
  using after = Store.open("/store", { layer: disk });
  after.blobs.hold(); // and lets go of it
});

Deno.test("collectGarbage() lets go of the store where it fails", () => {
  const disk = withOrphans();
  const layer = new FaultyLayer((operation) => operation === "remove" ? new Error("no") : undefined, {
    base: disk,
  });
  throws(() => collectGarbage(Store.open("/store", { layer })), /no/);
  deepEqual(collectGarbage(Store.open("/store", { layer: disk })).kept, { actions: 0, blobs: 1, bytes: 4 });
});
