import assert from "node:assert/strict";
import { diskLayer, type FileLayer } from "../lib/store/file_layer.ts";
import { storeError } from "../lib/store/store_error.ts";
import { hasCode } from "../lib/core/error.ts";
import { scratchFolder } from "../lib/store/scratch_folder.ts";
import { requireFreeOutput, writeFileWhole, writeWhole } from "./_output.ts";
import { contentOf, TestBed } from "./_test_bed.ts";

const bed = new TestBed();
const bytes = (text: string) => new TextEncoder().encode(text);
const files = (generation: string) =>
  ["a", "b", "manifest"].map((name) => ({ name, bytes: bytes(name + generation) }));

/** A disk that fails at the n-th call of one operation. */
function failingAt(operation: "create" | "rename", call: number): FileLayer {
  let count = 0;
  const fail = () => {
    if (++count === call) throw storeError("disk_full", { operation });
  };
  return {
    ...diskLayer,
    create: (path) => {
      if (operation === "create") fail();
      return diskLayer.create(path);
    },
    rename: (from, to) => {
      if (operation === "rename") fail();
      diskLayer.rename(from, to);
    },
  };
}

Deno.test("writeWhole() leaves what was there, and no temporary, where the disk is full", () => {
  const folder = `${bed.folder}/full`;
  writeWhole(folder, files("1"));
  const before = contentOf(folder);
  for (const call of [1, 2, 3]) {
    assert.throws(() => writeWhole(folder, files("2"), failingAt("create", call)), { code: "disk_full" });
    assert.deepEqual(contentOf(folder), before);
  }
});

Deno.test("writeWhole() keeps every file whole, and no temporary, where a name cannot be given", () => {
  const folder = `${bed.folder}/cut`;
  for (const call of [1, 2, 3]) {
    writeWhole(folder, files("1"));
    assert.throws(() => writeWhole(folder, files("2"), failingAt("rename", call)), { code: "disk_full" });
    const left = contentOf(folder);
    assert.deepEqual(Object.keys(left).sort(), ["a", "b", "manifest"]);
    assert.deepEqual(left["manifest"], "manifest1");
    assert.equal(left["a"], call === 1 ? "a1" : "a2");
  }
});

Deno.test("writeFileWhole() makes the folder, and replaces a file whole or not at all", () => {
  const path = `${bed.folder}/deep/er/file.json`;
  writeFileWhole(path, bytes("1"));
  for (const operation of ["create", "rename"] as const) {
    assert.throws(() => writeFileWhole(path, bytes("2"), failingAt(operation, 1)), { code: "disk_full" });
    assert.deepEqual(contentOf(`${bed.folder}/deep/er`), { "file.json": "1" });
  }
  writeFileWhole(path, bytes("2"));
  assert.deepEqual(contentOf(`${bed.folder}/deep/er`), { "file.json": "2" });
});

Deno.test("requireFreeOutput() keeps output away from inputs, runs, stores and things of another kind", () => {
  using folder = scratchFolder();
  const at = (name: string) => `${folder.path}/${name}`;
  Deno.mkdirSync(at("run/metrics"), { recursive: true });
  Deno.writeTextFileSync(at("run/oci-layout"), "{}");
  Deno.writeTextFileSync(at("traces.jsonl"), "{}\n");
  const refused = (output: string, kind: "file" | "folder", inputs: readonly string[] = []) =>
    assert.throws(
      () => requireFreeOutput(output, { kind, inputs }),
      (error) => hasCode(error, "output_not_allowed"),
      output,
    );
  refused(at("run"), "folder");
  refused(at("run/new"), "folder");
  refused(at("run/metrics/metrics.json"), "file");
  refused(at("traces.jsonl"), "file", [at("traces.jsonl")]);
  refused(at("run/../traces.jsonl"), "file", [at("traces.jsonl")]);
  refused(at("traces.jsonl"), "folder");
  refused(folder.path, "file");
  requireFreeOutput(at("new.json"), { kind: "file", inputs: [at("traces.jsonl")] });
  requireFreeOutput(at("traces.jsonl"), { kind: "file" });
  requireFreeOutput(at("benchmark"), { kind: "folder" });
});
