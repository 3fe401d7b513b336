import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { diskLayer, toStoreError } from "./file_layer.ts";
import { scratchFolder } from "./scratch_folder.ts";
import { isIoError } from "./store_error.ts";

const encoder = new TextEncoder();
const posix = Deno.build.os !== "windows";

function write(path: string, text: string): void {
  using file = diskLayer.create(path);
  file.write(encoder.encode(text));
  file.sync();
}

Deno.test("diskLayer reports absence as a result and not as an error", () => {
  using folder = scratchFolder();
  const path = `${folder.path}/nothing`;
  equal(diskLayer.read(path), undefined);
  equal(diskLayer.open(path), undefined);
  equal(diskLayer.facts(path), undefined);
  deepEqual(diskLayer.list(path), []);
  equal(diskLayer.lock(path, "existing"), "absent");
  equal(diskLayer.share(path, "existing"), "absent");
  diskLayer.remove(path);
  diskLayer.removeTree(path);
});

Deno.test("diskLayer.create() refuses a file that exists", () => {
  using folder = scratchFolder();
  write(`${folder.path}/a`, "first");
  throws(() => diskLayer.create(`${folder.path}/a`), (error) => hasCode(error, "io_error"));
});

Deno.test("diskLayer.link() gives a second name once and leaves a taken name alone", () => {
  using folder = scratchFolder();
  write(`${folder.path}/a`, "a");
  write(`${folder.path}/b`, "b");
  equal(diskLayer.link(`${folder.path}/a`, `${folder.path}/c`), true);
  equal(diskLayer.link(`${folder.path}/b`, `${folder.path}/c`), false);
  equal(new TextDecoder().decode(diskLayer.read(`${folder.path}/c`)), "a");
});

Deno.test("diskLayer.lock() is held by one handle at a time", () => {
  using folder = scratchFolder();
  const path = `${folder.path}/lock`;
  const first = diskLayer.lock(path, "create");
  ok(typeof first !== "string");
  equal(diskLayer.lock(path, "create"), "busy");
  equal(diskLayer.lock(path, "existing"), "busy");
  first[Symbol.dispose]();
  const second = diskLayer.lock(path, "existing");
  ok(typeof second !== "string");
  second[Symbol.dispose]();
});

Deno.test("diskLayer.share() is held by many and excludes lock()", () => {
  using folder = scratchFolder();
  const path = `${folder.path}/lock`;
  equal(diskLayer.share(path, "existing"), "absent");
  const first = diskLayer.share(path, "create");
  const second = diskLayer.share(path, "existing");
  ok(first !== "absent" && second !== "absent");
  equal(diskLayer.lock(path, "existing"), "busy");
  first[Symbol.dispose]();
  equal(diskLayer.lock(path, "existing"), "busy");
  second[Symbol.dispose]();
  const alone = diskLayer.lock(path, "existing");
  ok(typeof alone !== "string");
  alone[Symbol.dispose]();
});

Deno.test(
  "diskLayer.list() sorts by code units and facts() does not follow links",
  { ignore: !posix },
  () => {
    using folder = scratchFolder();
    for (const name of ["b", "a", "B"]) write(`${folder.path}/${name}`, name);
    Deno.symlinkSync(`${folder.path}/a`, `${folder.path}/c`);
    deepEqual(diskLayer.list(folder.path), [
      { name: "B", kind: "file" },
      { name: "a", kind: "file" },
      { name: "b", kind: "file" },
      { name: "c", kind: "symlink" },
    ]);
    equal(diskLayer.facts(`${folder.path}/c`)?.kind, "symlink");
  },
);

Deno.test("diskLayer.makeReadOnly() takes the write permission away", { ignore: !posix }, () => {
  using folder = scratchFolder();
  write(`${folder.path}/a`, "a");
  diskLayer.makeReadOnly(`${folder.path}/a`);
  equal((Deno.statSync(`${folder.path}/a`).mode ?? 0) & 0o222, 0);
});

Deno.test("diskLayer names a full disk", { ignore: Deno.build.os !== "linux" }, () => {
  using folder = scratchFolder();
  write(`${folder.path}/a`, "a");
  const full = Deno.openSync("/dev/full", { write: true });
  try {
    full.writeSync(encoder.encode("x"));
  } catch (cause) {
    const error = toStoreError(cause, { operation: "write", path: "/dev/full", intent: "write" });
    equal(error.code, "disk_full");
    ok(isIoError(error));
  } finally {
    full.close();
  }
});

Deno.test("toStoreError() maps what the platform throws to closed codes", () => {
  const code = (cause: unknown, intent: "read" | "write") =>
    toStoreError(cause, { operation: "write", path: "x", intent }).code;
  const errno = (name: string) => Object.assign(new Error(name), { code: name });
  equal(code(errno("ENOSPC"), "write"), "disk_full");
  equal(code(errno("EDQUOT"), "write"), "disk_full");
  equal(code(errno("EROFS"), "write"), "read_only");
  equal(code(errno("EACCES"), "write"), "read_only");
  equal(code(errno("EACCES"), "read"), "not_readable");
  equal(code(new Deno.errors.PermissionDenied("x"), "write"), "read_only");
  equal(code(new Deno.errors.NotCapable("x"), "read"), "not_readable");
  equal(code(errno("ENOENT"), "read"), "no_such_file");
  equal(code(new Deno.errors.NotFound("x"), "read"), "no_such_file");
  equal(code(errno("EIO"), "write"), "io_error");
  equal(code("a string", "write"), "io_error");
  equal(isIoError(new Error("x")), false);
});

Deno.test("toStoreError() passes on an error that has a code already, and names path and hint", () => {
  const first = toStoreError(new Deno.errors.NotFound("gone"), {
    operation: "open",
    path: "p",
    intent: "read",
  });
  equal(toStoreError(first, { operation: "read", path: "q", intent: "write" }), first);
  equal(first.details["path"], "p");
  ok(first.details.hint);
});
