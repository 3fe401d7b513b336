import { deepEqual, equal, notEqual, ok, throws } from "node:assert/strict";
import { canonicalBytes, parseCanonical } from "../core/canonical_json.ts";
import { digestOf, hexOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { exampleExperiment, exampleRun, soundLayer } from "./example_run.ts";
import { factsPath, hostFacts, writeFacts } from "./facts.ts";
import { CHANGES, FaultyLayer } from "./faulty_layer.ts";
import { diskLayer } from "./file_layer.ts";
import { checkRunBlobs, checkRunViews, readRun } from "./read_run.ts";
import { scratchFolder } from "./scratch_folder.ts";
import { Store } from "./store.ts";
import { type StoreCode, storeError } from "./store_error.ts";
import { writeRun } from "./write_run.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const posix = Deno.build.os !== "windows";

function files(folder: string, prefix = ""): string[] {
  return diskLayer.list(folder).flatMap(({ name, kind }) =>
    kind === "directory" ? files(`${folder}/${name}`, `${prefix}${name}/`) : [prefix + name]
  );
}

function fullCheck(path: string): void {
  const run = readRun(path);
  checkRunBlobs(run);
  checkRunViews(run);
}

function refuses(path: string, code: StoreCode): void {
  throws(() => fullCheck(path), (error) => hasCode(error, code));
}

Deno.test("writeRun() writes the layout, the manifest and the views, and readRun() reads them", () => {
  using run = exampleRun();
  equal(run.status, "written");
  equal(run.path, `${run.directory}/${hexOf(run.runId).slice(0, 16)}`);
  equal(digestOf(Deno.readFileSync(`${run.path}/manifest.json`)), run.runId);
  equal(Deno.readTextFileSync(`${run.path}/report.md`), "# Report\n");
  equal(Deno.readTextFileSync(`${run.path}/traces/e/17.jsonl`), "1\n2\n");
  // dag.json, config, rows, report, the manifest itself and the empty config of OCI
  equal(diskLayer.list(`${run.path}/blobs/sha256`).length, 6);
  deepEqual(files(run.path).filter((name) => !name.startsWith("blobs/")), [
    "index.json",
    "manifest.json",
    "oci-layout",
    "report.html",
    "report.md",
    "traces/e/17.jsonl",
  ]);
  fullCheck(run.path);
  const read = readRun(run.path);
  equal(read.runId, run.runId);
  equal(read.resultId, run.resultId);
  deepEqual(read.dag, exampleExperiment(run.store));
  deepEqual(read.uncoveredViews, ["report.html"]);
  equal(read.open(digestOf("1\n2\n")).text(), "1\n2\n");
  deepEqual(diskLayer.list(`${run.directory}/.tmp`), []);
});

Deno.test("readRun() finds a run by folder, manifest, digest and unique prefix", () => {
  using run = exampleRun();
  const hex = hexOf(run.runId);
  const { directory } = run;
  const references = [
    run.path,
    run.path + "/",
    `${run.path}/manifest.json`,
    run.runId,
    hex,
    hex.slice(0, 20),
    hex.slice(0, 16),
    hex.slice(0, 4),
    `sha256:${hex.slice(0, 6)}`,
  ];
  for (const reference of references) equal(readRun(reference, { directory }).runId, run.runId, reference);
  for (
    const reference of ["elsewhere", hex.slice(0, 3), "0000", `${run.path}/report.md`, hex.slice(0, 63) + "x"]
  ) {
    throws(() => readRun(reference, { directory }), (error) => hasCode(error, "run_not_found"), reference);
  }
  const wrongEnd = hex.slice(0, 63) + (hex.endsWith("0") ? "1" : "0");
  throws(() => readRun(wrongEnd, { directory }), (error) => hasCode(error, "run_not_found"));
  Deno.mkdirSync(`${directory}/${hex.slice(0, 15)}${hex[15] === "0" ? "1" : "0"}`);
  throws(() => readRun(hex.slice(0, 8), { directory }), (error) => hasCode(error, "ambiguous_run"));
});

Deno.test("a run folder keeps every digest when it is moved and renamed", () => {
  using run = exampleRun();
  using elsewhere = scratchFolder();
  Deno.renameSync(run.path, `${elsewhere.path}/Mein Lauf`);
  const moved = readRun(`${elsewhere.path}/Mein Lauf`);
  equal(moved.runId, run.runId);
  equal(moved.resultId, run.resultId);
  checkRunBlobs(moved);
  checkRunViews(moved);
});

Deno.test("reading a run writes nothing", () => {
  using run = exampleRun();
  const changed: string[] = [];
  const layer = new FaultyLayer((operation) => {
    if (CHANGES.has(operation)) changed.push(operation);
    return undefined;
  });
  const read = readRun(run.runId, { directory: run.directory, layer });
  checkRunBlobs(read);
  checkRunViews(read, { layer });
  deepEqual(changed, []);
});

Deno.test("checkRunBlobs() tells how far it is", () => {
  using run = exampleRun();
  const seen: number[] = [];
  checkRunBlobs(readRun(run.path), ({ done, total }) => seen.push(done / total));
  equal(seen.length, 6);
  equal(seen.at(-1), 1);
});

Deno.test("writeRun() leaves an equal run alone, completes one with gaps and repairs nothing else", () => {
  using run = exampleRun();
  equal(run.write().status, "unchanged");
  for (const name of files(run.path)) {
    Deno.removeSync(`${run.path}/${name}`);
    equal(run.write().status, name === "report.html" ? "unchanged" : "completed", name);
    fullCheck(run.path);
  }
  Deno.writeTextFileSync(`${run.path}/report.html`, "<p>old");
  equal(run.write().status, "unchanged");
  equal(Deno.readTextFileSync(`${run.path}/report.html`), "<p>");
  Deno.writeTextFileSync(`${run.path}/report.md`, "# Better\n");
  throws(() => run.write(), (error) => hasCode(error, "view_mismatch"));
  equal(Deno.readTextFileSync(`${run.path}/report.md`), "# Better\n");
  Deno.writeTextFileSync(`${run.path}/report.md`, "# Report\n");
  Deno.writeTextFileSync(`${run.path}/notes.txt`, "mine");
  throws(() => run.write(), (error) => hasCode(error, "unexpected_file"));
  equal(Deno.readTextFileSync(`${run.path}/notes.txt`), "mine");
});

Deno.test("writeRun() refuses an uncovered view that the DAG manifest does not name", () => {
  using run = exampleRun();
  const options = { store: run.store.blobs, directory: run.directory };
  const uncoveredViews = [{ path: "other.html", bytes: bytes("x") }];
  throws(
    () => writeRun(exampleExperiment(run.store), { ...options, uncoveredViews }),
    (error) => hasCode(error, "bad_manifest"),
  );
});

Deno.test("writeRun() shares read-only files with the store when told to link", { ignore: !posix }, () => {
  using run = exampleRun();
  Deno.removeSync(run.path, { recursive: true });
  equal(run.write({ blobs: "link" }).runId, run.runId);
  const inRun = Deno.statSync(run.blob(digestOf("1\n2\n")));
  const inStore = Deno.statSync(run.store.blobs.blobPath(digestOf("1\n2\n")));
  equal(inRun.ino, inStore.ino);
  equal((inRun.mode ?? 0) & 0o222, 0);
  notEqual(Deno.statSync(`${run.path}/report.md`).ino, Deno.statSync(run.blob(digestOf("# Report\n"))).ino);
  fullCheck(run.path);
});

Deno.test("writeRun() refuses a damaged or missing blob of the store and leaves no folder", () => {
  using run = exampleRun();
  Deno.removeSync(run.path, { recursive: true });
  const path = run.store.blobs.blobPath(digestOf("1\n2\n"));
  Deno.writeTextFileSync(path, "1\n3\n");
  throws(() => run.write(), (error) => hasCode(error, "blob_damaged"));
  Deno.removeSync(path);
  throws(() => run.write(), (error) => hasCode(error, "missing_blob"));
  deepEqual(diskLayer.list(run.directory), [{ name: ".tmp", kind: "directory" }]);
  deepEqual(diskLayer.list(`${run.directory}/.tmp`), []);
});

Deno.test("writeRun() shows the whole folder or none, whatever operation the process ends before", () => {
  let total = Infinity;
  for (let end = 0; end < total; end++) {
    using folder = scratchFolder();
    const directory = `${folder.path}/runs`;
    let count = 0;
    const layer = new FaultyLayer((operation) => {
      if (CHANGES.has(operation)) count++;
      return count > end ? storeError("io_error", { message: "the process has ended" }) : undefined;
    });
    using store = Store.open(`${folder.path}/store`, { layer: soundLayer });
    const dag = exampleExperiment(store);
    const dying = Store.open(`${folder.path}/store`, { layer });
    try {
      writeRun(dag, { store: dying.blobs, directory });
      total = end;
    } catch (error) {
      ok(hasCode(error, "io_error"));
    }
    layer.die();
    const shown = diskLayer.list(directory).filter(({ name }) => name !== ".tmp");
    for (const { name } of shown) fullCheck(`${directory}/${name}`);
    fullCheck(writeRun(dag, { store: store.blobs, directory }).path);
    // A process that another test starts holds copies of our locks between fork and exec; the next write cleans up.
    for (let tries = 0; tries < 100 && diskLayer.list(`${directory}/.tmp`).length > 0; tries++) {
      writeRun(dag, { store: store.blobs, directory });
    }
    deepEqual(diskLayer.list(`${directory}/.tmp`), []);
  }
  ok(total > 30 && total < 150);
});

Deno.test("readRun() refuses anything that belongs to nothing", () => {
  using run = exampleRun();
  for (
    const name of ["notes.txt", "blobs/sha256/" + "0".repeat(64), "blobs/x", "traces/e/18.jsonl", ".hidden"]
  ) {
    Deno.writeTextFileSync(`${run.path}/${name}`, "x");
    refuses(run.path, "unexpected_file");
    Deno.removeSync(`${run.path}/${name}`);
  }
  Deno.mkdirSync(`${run.path}/empty`);
  refuses(run.path, "unexpected_file");
  Deno.removeSync(`${run.path}/empty`);
  fullCheck(run.path);
});

Deno.test("readRun() refuses links inside the folder", { ignore: !posix }, () => {
  using run = exampleRun();
  using outside = scratchFolder();
  for (const name of ["report.md", "manifest.json", "blobs/sha256", "traces", "report.html"]) {
    Deno.renameSync(`${run.path}/${name}`, `${outside.path}/moved`);
    Deno.symlinkSync(`${outside.path}/moved`, `${run.path}/${name}`);
    refuses(run.path, "symlink_not_allowed");
    Deno.removeSync(`${run.path}/${name}`);
    Deno.renameSync(`${outside.path}/moved`, `${run.path}/${name}`);
  }
  Deno.symlinkSync(run.path, `${outside.path}/link`);
  fullCheck(`${outside.path}/link`);
  fullCheck(`${outside.path}/link/manifest.json`);
});

Deno.test("a missing or changed part of a run has its own code", () => {
  using run = exampleRun();
  const { layers } = readRun(run.path);
  const cases: [path: string, missing: StoreCode, changed: StoreCode][] = [
    ["manifest.json", "missing_file", "not_canonical"],
    ["index.json", "missing_file", "bad_manifest"],
    ["oci-layout", "missing_file", "bad_manifest"],
    ["report.md", "missing_file", "view_mismatch"],
    ["traces/e/17.jsonl", "missing_file", "view_mismatch"],
    ...[...layers.map(({ digest }) => digest), run.runId, digestOf("{}")].map((digest) =>
      [`blobs/sha256/${hexOf(digest)}`, "missing_blob", "blob_damaged"] as [string, StoreCode, StoreCode]
    ),
  ];
  for (const [path, missing, changed] of cases) {
    const content = Deno.readFileSync(`${run.path}/${path}`);
    Deno.removeSync(`${run.path}/${path}`);
    refuses(run.path, missing);
    const flipped = content.slice();
    flipped[0]! ^= 1;
    Deno.writeFileSync(`${run.path}/${path}`, flipped);
    refuses(run.path, changed);
    Deno.writeFileSync(`${run.path}/${path}`, content);
  }
  Deno.removeSync(`${run.path}/report.html`);
  fullCheck(run.path);
});

Deno.test(
  "a huge file in place of a blob or a view is refused by its size, unread",
  { ignore: !posix },
  () => {
    using run = exampleRun();
    const huge = 2 ** 40;
    const { layers } = readRun(run.path);
    const swell = (name: string, code: StoreCode) => {
      const path = `${run.path}/${name}`;
      const content = Deno.readFileSync(path);
      Deno.truncateSync(path, huge);
      const layer = new FaultyLayer((operation, at) => {
        ok(at !== path || operation === "facts" || operation === "list", `${operation} of ${name}`);
        return undefined;
      });
      throws(() => {
        const opened = readRun(run.path, { layer });
        checkRunBlobs(opened);
        checkRunViews(opened, { layer });
      }, (error) => hasCode(error, code) && error.details.actual === huge);
      Deno.truncateSync(path, 0);
      Deno.writeFileSync(path, content);
      fullCheck(run.path);
    };
    for (const { digest } of [...layers, { digest: run.runId }, { digest: digestOf("{}") }]) {
      swell(`blobs/sha256/${hexOf(digest)}`, "blob_damaged");
    }
    swell("report.md", "view_mismatch");
    swell("manifest.json", "too_large");
  },
);

Deno.test("readRun() refuses a manifest that does not follow from its DAG, even with every hash renewed", () => {
  using run = exampleRun();
  type Edit = (manifest: { layers: Record<string, unknown>[] }) => void;
  const original = Deno.readFileSync(`${run.path}/manifest.json`);
  const attack = (edit: Edit) => {
    const manifest = parseCanonical(original) as unknown as Parameters<Edit>[0];
    edit(manifest);
    return canonicalBytes(manifest);
  };
  const edits: Edit[] = [
    ({ layers }) => layers.reverse(),
    ({ layers }) => layers.pop(),
    ({ layers }) => void (layers[1]!["mediaType"] = "text/html"),
    ({ layers }) => void (layers[2]!["annotations"] = { "org.opencontainers.image.title": "other" }),
    ({ layers }) => void (layers[2]!["size"] = 1),
    ({ layers }) => void layers.push({ ...layers[1] }),
  ];
  for (const edit of edits) {
    Deno.writeFileSync(`${run.path}/manifest.json`, attack(edit));
    refuses(run.path, "bad_manifest");
  }
  // The size of the configuration is stated by its layer only.
  const forged = attack(({ layers }) => {
    const config = layers.find(({ digest }) => digest === digestOf('{"seed":17}'))!;
    config["size"] = 99;
  });
  Deno.writeFileSync(`${run.path}/manifest.json`, forged);
  Deno.writeFileSync(run.blob(digestOf(forged)), forged);
  Deno.removeSync(run.blob(run.runId));
  Deno.writeTextFileSync(
    `${run.path}/index.json`,
    Deno.readTextFileSync(`${run.path}/index.json`).replaceAll(run.runId, digestOf(forged))
      .replaceAll(hexOf(run.runId).slice(0, 16), hexOf(digestOf(forged)).slice(0, 16))
      .replace(`"size":${original.length}`, `"size":${forged.length}`),
  );
  throws(
    () => fullCheck(run.path),
    (error) => hasCode(error, "bad_manifest") && error.details.expected === 99,
  );
});

Deno.test("writeFacts() puts facts beside the run folder, where they change no digest", () => {
  using run = exampleRun();
  const facts = {
    schema: "tracewright.facts.v1",
    run_id: run.runId,
    result_id: run.resultId,
    host: hostFacts(),
    wall_ms: 12,
  } as const;
  const path = writeFacts(facts, run);
  equal(path, factsPath(run.directory, run.runId));
  equal(path, `${run.path}.facts.json`);
  writeFacts({ ...facts, wall_ms: 13 }, run);
  equal(JSON.parse(Deno.readTextFileSync(path)).wall_ms, 13);
  fullCheck(run.path);
});
