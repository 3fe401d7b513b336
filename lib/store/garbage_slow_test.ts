import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { type Digest, digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { ACTION_SCHEMA, type ActionRecord, keyOf, type Outputs } from "./action_record.ts";
import type { BundleCode } from "./bundle_error.ts";
import { checkStore } from "./check_store.ts";
import { collectGarbage, planGarbage } from "./collect_garbage.ts";
import { exampleRun, soundLayer } from "./example_run.ts";
import { CHANGES, FaultyLayer } from "./faulty_layer.ts";
import { diskLayer } from "./file_layer.ts";
import { actionOf, DAG_SCHEMA, type DagManifest, dagManifestBytes, type DagNode } from "./manifest.ts";
import { readRun } from "./read_run.ts";
import { runLayers, runManifestBytes } from "./run_manifest.ts";
import { scratchFolder } from "./scratch_folder.ts";
import { Store } from "./store.ts";
import { type StoreCode, storeError } from "./store_error.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const codes = (store: Store, depth: "structure" | "content" = "structure") =>
  checkStore(store, { depth }).problems.map(({ code }) => code);

function action(stage: string, input: Digest): ActionRecord {
  return {
    schema: ACTION_SCHEMA,
    stage: { name: stage, version: 1, code: digestOf(stage) },
    numerics: ["n"],
    params: {},
    inputs: { input },
  };
}

/** What a store holds, for comparison. */
function contents(store: Store) {
  return {
    blobs: store.blobs.list(),
    actions: store.actions.list().map(({ key }) => key),
    refs: store.refs.list().map(({ name }) => name),
  };
}

/**
 * A store made from numbers: run r is a chain of stages whose outputs are the texts it is given; runs may share any of
 * them. Beside them lie blobs and actions of no run. Returns what must stay.
 */
function planned(
  store: Store,
  { runs, named, pinned, loose }: {
    runs: readonly (readonly number[])[];
    named: ReadonlySet<number>;
    pinned: readonly number[];
    loose: readonly number[];
  },
) {
  const keep = new Set<Digest>();
  const produced: { key: Digest; outputs: Digest[] }[] = [];
  const put = (text: string) => store.blobs.put(bytes(text));
  runs.forEach((texts, r) => {
    const config = put(`{"run":${r}}`).digest;
    let [input, producer] = [config, "config"];
    const nodes: DagNode[] = texts.map((text, i) => {
      const inputs = { input: { digest: input, producer } };
      const outputs: Outputs = { out: { ...put(`text ${text}`), media_type: "text/plain" } };
      const draft = { id: `s${i}`, stage: action(`s${i}`, input).stage, params: {}, inputs, outputs };
      const record = actionOf({ ...draft, key: keyOf as never }, ["n"]);
      // The law of the cache: one key, one output. The same stage on the same input is left as it was first recorded.
      const known = store.actions.get(keyOf(record))?.outputs ?? outputs;
      store.actions.publish(record, known);
      produced.push({ key: keyOf(record), outputs: Object.values(known).map(({ digest }) => digest) });
      [input, producer] = [known["out"]?.digest ?? input, `s${i}`];
      return { ...draft, outputs: known, key: keyOf(record) };
    });
    const dag: DagManifest = {
      schema: DAG_SCHEMA,
      config,
      numerics: ["n"],
      nodes,
      roots: nodes.slice(-1).map(({ id }) => id),
      views: {},
    };
    const dagBytes = dagManifestBytes(dag);
    const manifest = runManifestBytes(runLayers(dag, dagBytes, () => store.blobs.read(config).length));
    const all = [dagBytes, manifest, bytes("{}")].map((content) => store.blobs.put(content).digest);
    if (!named.has(r)) return;
    store.refs.set(`runs/r${r}`, digestOf(manifest));
    for (const digest of [...all, config, ...nodes.flatMap(({ outputs }) => outputs["out"]?.digest ?? [])]) {
      keep.add(digest);
    }
  });
  for (const text of loose) {
    const { digest } = put(`text ${text}`);
    const record = action("loose", digest);
    const output = put(`made of ${text}`);
    store.actions.publish(record, { out: { ...output, media_type: "text/plain" } });
    produced.push({ key: keyOf(record), outputs: [output.digest] });
  }
  for (const text of pinned) {
    const { digest } = put(`text ${text}`);
    store.refs.set(`pins/p${text}`, digest);
    keep.add(digest);
  }
  return {
    blobs: [...keep].sort(),
    actions: [
      ...new Set(
        produced.filter(({ outputs }) => outputs.every((digest) => keep.has(digest)))
          .map(({ key }) => key),
      ),
    ].sort(),
  };
}

const text = fc.nat(7);
const shape = fc.record({
  runs: fc.array(fc.array(text, { minLength: 1, maxLength: 4 }), { maxLength: 4 }),
  named: fc.uniqueArray(fc.nat(3)).map((numbers) => new Set(numbers)),
  pinned: fc.uniqueArray(text, { maxLength: 2 }),
  loose: fc.uniqueArray(text, { maxLength: 3 }),
});

Deno.test("collectGarbage() keeps exactly what names reach, and the actions that made only that", () => {
  fc.assert(
    fc.property(shape, (numbers) => {
      using folder = scratchFolder();
      {
        using store = Store.open(folder.path, { layer: soundLayer });
        store.blobs.prepare();
        planned(store, numbers);
      }
      using store = Store.open(folder.path, { layer: soundLayer });
      // Counted again from the numbers, in a store of its own: not by the code under test.
      using model = scratchFolder();
      using second = Store.open(model.path, { layer: soundLayer });
      const expected = planned(second, numbers);
      const before = contents(store);
      const plan = planGarbage(store);
      deepEqual(contents(store), before); // a dry run
      deepEqual(collectGarbage(store), plan);
      deepEqual(contents(store), { ...expected, refs: before.refs });
      deepEqual(codes(store, "content"), []);
      const again = collectGarbage(store);
      deepEqual([again.actions, again.blobs, again.bytes], [[], [], 0]);
      deepEqual([again.kept.blobs, again.kept.actions], [expected.blobs.length, expected.actions.length]);
    }),
    { numRuns: 40 },
  );
});

Deno.test("collectGarbage() leaves a sound store, whatever operation the process ends before", () => {
  const numbers = {
    runs: [[0, 1, 2], [0, 3, 4], [5]],
    named: new Set([1]),
    pinned: [2],
    loose: [6, 7],
  };
  let total = Infinity;
  for (let end = 0; end < total; end++) {
    using folder = scratchFolder();
    let expected;
    {
      using store = Store.open(folder.path, { layer: soundLayer });
      expected = planned(store, numbers);
    }
    let count = 0;
    const layer = new FaultyLayer((operation) => {
      if (CHANGES.has(operation)) count++;
      return count > end ? storeError("io_error", { message: "the process has ended" }) : undefined;
    });
    try {
      collectGarbage(Store.open(folder.path, { layer }));
      total = end;
    } catch (error) {
      ok(hasCode(error, "io_error"));
    }
    layer.die();
    using store = Store.open(folder.path, { layer: soundLayer });
    deepEqual(codes(store, "content"), []);
    collectGarbage(store);
    deepEqual(contents(store), { ...expected, refs: ["pins/p2", "runs/r1"] });
  }
  ok(total > 10 && total < 60, String(total));
});

Deno.test("collectGarbage() keeps nothing where nothing is named, and works on a store that is not there", () => {
  using folder = scratchFolder();
  using store = Store.open(`${folder.path}/none`, { layer: soundLayer });
  deepEqual(collectGarbage(store).kept, { actions: 0, blobs: 0, bytes: 0 });
  deepEqual(diskLayer.list(folder.path), []);
  {
    using writing = Store.open(`${folder.path}/none`, { layer: soundLayer });
    writing.blobs.put(bytes("x"));
  }
  const { blobs, bytes: freed } = collectGarbage(store);
  deepEqual([blobs, freed], [[digestOf("x")], 1]);
  deepEqual(store.blobs.list(), []);
});

Deno.test("collectGarbage() refuses a store that somebody is writing to, and clears up after the dead", () => {
  using folder = scratchFolder();
  const writing = Store.open(folder.path, { layer: soundLayer });
  writing.blobs.put(bytes("x"));
  using store = Store.open(folder.path, { layer: soundLayer });
  throws(() => collectGarbage(store), (error) => hasCode(error, "store_in_use"));
  deepEqual(planGarbage(store).blobs, [digestOf("x")]); // looking is always allowed
  writing[Symbol.dispose]();
  Deno.writeTextFileSync(`${folder.path}/tmp/dead.0`, "half");
  equal(collectGarbage(store).blobs.length, 1);
  deepEqual(diskLayer.list(`${folder.path}/tmp`), []);
});

Deno.test("collectGarbage() removes nothing where it cannot say what is needed", () => {
  using run = exampleRun();
  const { store, runId } = run;
  store[Symbol.dispose]();
  store.refs.set("runs/r", runId);
  store[Symbol.dispose]();
  const manifest = store.blobs.blobPath(runId);
  const dag = store.blobs.blobPath(readRun(run.path).layers[0]?.digest ?? runId);
  const refuses = (code: StoreCode | BundleCode, spoil: () => void, repair: () => void) => {
    spoil();
    const before = diskLayer.list(`${store.path}/blobs/sha256`);
    throws(() => collectGarbage(store), (error) => hasCode(error, code), code);
    deepEqual(diskLayer.list(`${store.path}/blobs/sha256`), before);
    ok(codes(store).includes(code), code);
    repair();
    deepEqual(codes(store, "content"), []);
  };
  const moved = (path: string): [() => void, () => void] => [
    () => Deno.renameSync(path, `${folder.path}/aside`),
    () => Deno.renameSync(`${folder.path}/aside`, path),
  ];
  const edited = (path: string): [() => void, () => void] => {
    const good = Deno.readFileSync(path);
    return [() => Deno.writeFileSync(path, good.with(0, 0)), () => Deno.writeFileSync(path, good)];
  };
  using folder = scratchFolder();
  refuses("dangling_ref", ...moved(manifest));
  refuses("missing_blob", ...moved(dag));
  refuses("blob_damaged", ...edited(manifest));
  refuses("blob_damaged", ...edited(dag));
  refuses("bad_ref", ...edited(`${store.path}/refs/runs/r`));
  const stray = `${store.path}/actions/${"0".repeat(64)}.json`;
  refuses("bad_action", () => Deno.writeTextFileSync(stray, "{}"), () => Deno.removeSync(stray));
});

Deno.test("checkStore() is content with a good store and counts what is in it", () => {
  using run = exampleRun();
  const { store, runId } = run;
  store.refs.set("runs/r", runId);
  const out = { out: { ...store.blobs.put(bytes("1\n2\n")), media_type: "text/plain" } };
  store.actions.publish(action("s", digestOf("x")), out);
  let last = 0;
  const check = checkStore(store, { depth: "content", onBlob: ({ done, total }) => last = done / total });
  deepEqual(check, { blobs: 6, bytes: check.bytes, actions: 1, refs: 1, leftovers: 0, problems: [] });
  equal(last, 1);
  equal(check.bytes, store.blobs.list().reduce((sum, digest) => sum + store.blobs.read(digest).length, 0));
  deepEqual(codes(Store.open(`${run.directory}/none`)), []);
});

Deno.test("checkStore() names every kind of damage, writes nothing and goes on to the next", () => {
  using run = exampleRun();
  const { store, runId } = run;
  store.refs.set("runs/r", runId);
  const out = { out: { ...store.blobs.put(bytes("1\n2\n")), media_type: "text/plain" } };
  store.actions.publish(action("s", digestOf("x")), out);
  store[Symbol.dispose]();
  const row = store.blobs.blobPath(digestOf("1\n2\n"));
  const changed: string[] = [];
  const looking = Store.open(store.path, {
    layer: new FaultyLayer((operation) => {
      if (CHANGES.has(operation)) changed.push(operation);
      return undefined;
    }),
  });
  const finds = (expected: readonly string[], path: string, edit: (path: string) => void) => {
    const good = diskLayer.read(path);
    edit(path);
    deepEqual(codes(looking, "content"), expected, path);
    if (good === undefined) Deno.removeSync(path, { recursive: true });
    else {
      diskLayer.removeTree(path);
      Deno.writeFileSync(path, good);
    }
    deepEqual(codes(looking, "content"), []);
  };
  const write = (text: string) => (path: string) => Deno.writeTextFileSync(path, text);
  for (
    const name of [
      "notes.txt",
      "blobs/x",
      "blobs/sha256/x",
      `blobs/sha256/${"A".repeat(64)}`,
      "actions/x.json",
    ]
  ) {
    finds(["unexpected_file"], `${store.path}/${name}`, write(""));
  }
  finds(["unexpected_file"], `${store.path}/blobs/sha256/${"0".repeat(64)}`, (path) => Deno.mkdirSync(path));
  finds(["blob_damaged"], `${store.path}/blobs/sha256/${"0".repeat(64)}`, write("x"));
  finds(["bad_manifest"], `${store.path}/oci-layout`, write("{}"));
  finds(["missing_file"], `${store.path}/index.json`, (path) => Deno.removeSync(path));
  finds(["bad_action"], `${store.path}/actions/${"0".repeat(64)}.json`, write("{}"));
  finds(["bad_ref"], `${store.path}/refs/pins`, write("nothing"));
  finds(["path_not_allowed"], `${store.path}/refs/Pins`, write(digestOf("1\n2\n") + "\n"));
  finds(["dangling_ref"], `${store.path}/refs/pins`, write(digestOf("nothing") + "\n"));
  // The row is an output of the action and a part of the run.
  finds(["blob_damaged"], row, write("1\n3\n"));
  finds(["blob_damaged", "blob_damaged", "blob_damaged"], row, write("1\n"));
  finds(["missing_blob", "missing_blob"], row, (path) => Deno.removeSync(path));
  finds(["dangling_ref"], store.blobs.blobPath(runId), (path) => Deno.removeSync(path));
  if (Deno.build.os !== "windows") {
    finds(["symlink_not_allowed", "missing_blob", "missing_blob"], row, (path) => {
      Deno.removeSync(path);
      Deno.symlinkSync(`${run.path}/manifest.json`, path);
    });
  }
  deepEqual(codes(looking, "structure"), []);
  Deno.writeTextFileSync(row, "1\n3\n");
  deepEqual(codes(looking, "structure"), []); // same size: only hashing tells
  deepEqual(codes(looking, "content"), ["blob_damaged"]);
  deepEqual(changed, []);
});

Deno.test("checkStore() counts what killed processes left, and does not call it damage", () => {
  using folder = scratchFolder();
  const layer = new FaultyLayer(() => undefined);
  const store = Store.open(folder.path, { layer });
  const writer = store.blobs.writer();
  writer.write(bytes("half"));
  layer.die();
  const check = checkStore(Store.open(folder.path), { depth: "content" });
  deepEqual([check.leftovers, check.problems], [1, []]);
  writer[Symbol.dispose]();
});
