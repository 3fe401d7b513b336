import { deepEqual, equal, throws } from "node:assert/strict";
import { digestOf, hexOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { exampleRun } from "./example_run.ts";
import { CHANGES, FaultyLayer } from "./faulty_layer.ts";
import { diskLayer } from "./file_layer.ts";
import { importLayout } from "./import_layout.ts";
import { checkRunBlobs, checkRunViews, readRun } from "./read_run.ts";
import type { StoreCode } from "./store_error.ts";

/** A run as skopeo copies it: its blobs, and an index in that program's words. */
function copiedLayout() {
  const run = exampleRun();
  const layout = `${run.directory}/../layout`;
  Deno.mkdirSync(`${layout}/blobs/sha256`, { recursive: true });
  for (const { name } of diskLayer.list(`${run.path}/blobs/sha256`)) {
    Deno.copyFileSync(`${run.path}/blobs/sha256/${name}`, `${layout}/blobs/sha256/${name}`);
  }
  const index = (...digests: string[]) =>
    Deno.writeTextFileSync(
      `${layout}/index.json`,
      JSON.stringify({ schemaVersion: 2, manifests: digests.map((digest) => ({ digest, size: 1 })) }),
    );
  index(run.runId);
  return {
    run,
    layout,
    index,
    directory: `${run.directory}2`,
    [Symbol.dispose]: () => run[Symbol.dispose](),
  };
}

Deno.test("importLayout() makes the same run of what another program copied, and writes nothing into that", () => {
  using copied = copiedLayout();
  const { run, layout, directory } = copied;
  const changed: string[] = [];
  const layer = new FaultyLayer((operation, path) => {
    if (CHANGES.has(operation) && path.startsWith(layout)) changed.push(`${operation} ${path}`);
    return undefined;
  });
  const made = importLayout(layout, { directory, layer });
  deepEqual([made.runId, made.resultId, made.status], [run.runId, run.resultId, "written"]);
  deepEqual(changed, []);
  const read = readRun(made.path);
  checkRunBlobs(read);
  checkRunViews(read);
  equal(importLayout(layout, { directory }).status, "unchanged");
});

Deno.test("importLayout() refuses what does not hold exactly one whole run", () => {
  using copied = copiedLayout();
  const { run, layout, index, directory } = copied;
  const refuses = (code: StoreCode, note: string) =>
    throws(() => importLayout(layout, { directory }), (error) => hasCode(error, code), note);
  index();
  refuses("run_not_found", "no manifest");
  index(digestOf("{}"));
  refuses("run_not_found", "no run");
  index(digestOf("absent"));
  refuses("missing_blob", "an absent manifest");
  const other = Deno.readTextFileSync(`${run.path}/manifest.json`).replace("report.md", "report.md2");
  Deno.writeTextFileSync(`${layout}/blobs/sha256/${hexOf(digestOf(other))}`, other);
  index(run.runId, digestOf(other));
  refuses("run_not_found", "two runs");
  index(digestOf(other));
  refuses("bad_manifest", "a manifest with another title");
  for (const text of ["", "[]", "{}", '{"manifests":[{"digest":"sha256:../../etc/passwd"}]}']) {
    Deno.writeTextFileSync(`${layout}/index.json`, text);
    refuses("run_not_found", text);
  }
  index(run.runId);
  const row = `${layout}/blobs/sha256/${hexOf(digestOf("1\n2\n"))}`;
  Deno.writeTextFileSync(row, "1\n3\n");
  refuses("blob_damaged", "a changed blob");
  Deno.removeSync(row);
  refuses("missing_blob", "a lost blob");
  deepEqual(diskLayer.list(directory).filter(({ name }) => name !== ".tmp"), []);
});
