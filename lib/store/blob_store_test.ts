import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { type Digest, digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { BlobStore } from "./blob_store.ts";
import { CHANGES, FaultyLayer, type Operation } from "./faulty_layer.ts";
import { diskLayer } from "./file_layer.ts";
import { scratchFolder } from "./scratch_folder.ts";
import { storeError } from "./store_error.ts";

const encoder = new TextEncoder();
const bytes = (text: string) => encoder.encode(text);
/** FIPS 180-2, appendix B.1. */
const ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

const full = () => storeError("disk_full", { message: "no space left" });
const refused = () => storeError("read_only", { message: "read-only file system" });

Deno.test("BlobStore.put() names content by its SHA-256 in an OCI image layout", () => {
  using folder = scratchFolder();
  using store = BlobStore.open(`${folder.path}/store`);
  deepEqual(store.put(bytes("abc")), { digest: `sha256:${ABC}`, size: 3 });
  const text = (path: string) => Deno.readTextFileSync(`${folder.path}/store/${path}`);
  equal(text(`blobs/sha256/${ABC}`), "abc");
  equal(text("oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  equal(
    text("index.json"),
    '{"manifests":[],"mediaType":"application/vnd.oci.image.index.v1+json","schemaVersion":2}',
  );
  deepEqual(store.list(), [`sha256:${ABC}`]);
  ok(store.has(digestOf("abc")));
  ok(store.has(digestOf("abc"), 3));
  ok(!store.has(digestOf("abc"), 4));
  ok(!store.has(digestOf("abd")));
});

Deno.test("BlobStore.open() writes nothing, and reading writes nothing", () => {
  using folder = scratchFolder();
  {
    using store = BlobStore.open(`${folder.path}/store`);
    store.put(bytes("abc"));
  }
  const layer = new FaultyLayer((operation) => CHANGES.has(operation) ? refused() : undefined);
  using store = BlobStore.open(`${folder.path}/store`, { layer });
  equal(store.open(digestOf("abc")).text(), "abc");
  deepEqual(store.put(bytes("abc")), { digest: digestOf("abc"), size: 3 });
  using absent = BlobStore.open(`${folder.path}/absent`, { layer });
  throws(() => absent.read(digestOf("abc")), (error) => hasCode(error, "missing_blob"));
  throws(() => store.put(bytes("new")), (error) => hasCode(error, "read_only"));
});

Deno.test("BlobStore never writes a blob again", () => {
  using folder = scratchFolder();
  const renamed: string[] = [];
  const layer = new FaultyLayer((operation, path) => {
    if (operation === "rename") renamed.push(path);
    return undefined;
  });
  using store = BlobStore.open(folder.path, { layer });
  store.put(bytes("abc"));
  store.put(bytes("abc"));
  using writer = store.writer();
  writer.write(bytes("abc"));
  writer.finish();
  deepEqual(renamed, [store.blobPath(digestOf("abc"))]);
  deepEqual(diskLayer.list(`${folder.path}/tmp`).filter(({ name }) => !name.endsWith(".lock")), []);
});

Deno.test("BlobStore.writer() gives the digest of all pieces together", () => {
  using folder = scratchFolder();
  using store = BlobStore.open(folder.path);
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (parts) => {
      const whole = Uint8Array.from(parts.flatMap((part) => [...part]));
      using writer = store.writer();
      for (const part of parts) writer.write(part);
      deepEqual(writer.finish(), { digest: digestOf(whole), size: whole.length });
      deepEqual([...store.read(digestOf(whole))], [...whole]);
    }),
    { numRuns: 30 },
  );
});

Deno.test("BlobStore.writer() keeps pieces in order around its buffer", () => {
  using folder = scratchFolder();
  using store = BlobStore.open(folder.path);
  const parts = [1, 300_000, 7, 262_144, 200_000, 100_000].map((size, i) => new Uint8Array(size).fill(i + 1));
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  using writer = store.writer();
  for (const part of parts) {
    writer.write(part);
    whole.set(part, at);
    at += part.length;
  }
  equal(writer.finish().digest, digestOf(whole));
});

Deno.test("BlobStore.writer() leaves nothing when it is disposed of before finish()", () => {
  using folder = scratchFolder();
  using store = BlobStore.open(folder.path);
  {
    using writer = store.writer();
    writer.write(bytes("half"));
  }
  deepEqual(store.list(), []);
  equal(diskLayer.list(`${folder.path}/tmp`).length, 1); // the lock
});

Deno.test("BlobStore.read() refuses a blob whose content changed and names both digests", () => {
  using folder = scratchFolder();
  using store = BlobStore.open(folder.path);
  const { digest } = store.put(bytes("abc"));
  Deno.writeTextFileSync(store.blobPath(digest), "abd");
  throws(
    () => store.read(digest),
    (error) =>
      hasCode(error, "blob_damaged") && error.details.expected === digest &&
      error.details.actual === digestOf("abd"),
  );
});

Deno.test("BlobStore.put() does not take a file of the wrong size for the blob", () => {
  using folder = scratchFolder();
  using store = BlobStore.open(folder.path);
  const { digest } = store.put(bytes("abc"));
  Deno.writeTextFileSync(store.blobPath(digest), "ab");
  throws(
    () => store.put(bytes("abc")),
    (error) => hasCode(error, "blob_damaged") && error.details.actual === 2,
  );
});

Deno.test("BlobStore.open() gives out text, lines, chunks and copies of a small blob", () => {
  using folder = scratchFolder();
  using store = BlobStore.open(folder.path);
  const reader = store.open(store.put(bytes("one\ntwo\n")).digest);
  equal(reader.size, 8);
  equal(reader.text(), "one\ntwo\n");
  deepEqual([...reader.lines()], ["one", "two"]);
  reader.bytes().fill(0);
  for (const chunk of reader.chunks()) chunk.fill(0);
  equal(reader.text(), "one\ntwo\n");
});

Deno.test("BlobStore.open() streams a blob too large to hold, and notices a change under way", () => {
  using folder = scratchFolder();
  using store = BlobStore.open(folder.path);
  const large = new Uint8Array(17 * 1024 * 1024);
  for (let at = 99; at < large.length; at += 100) large[at] = 10;
  const { digest } = store.put(large);
  const reader = store.open(digest);
  equal(reader.size, large.length);
  let lines = 0;
  for (const line of reader.lines()) lines += line.length > 0 ? 1 : 0;
  equal(lines, Math.ceil(large.length / 100));
  equal(digestOf(reader.bytes()), digest);
  large[5] = 1;
  Deno.writeFileSync(store.blobPath(digest), large);
  throws(() => [...reader.chunks()].length, (error) => hasCode(error, "blob_damaged"));
  throws(() => store.open(digest), (error) => hasCode(error, "blob_damaged"));
});

Deno.test(
  "BlobStore.open() refuses a link in place of a blob",
  { ignore: Deno.build.os === "windows" },
  () => {
    using folder = scratchFolder();
    using store = BlobStore.open(folder.path);
    const { digest } = store.put(bytes("abc"));
    Deno.renameSync(store.blobPath(digest), `${folder.path}/elsewhere`);
    Deno.symlinkSync(`${folder.path}/elsewhere`, store.blobPath(digest));
    throws(() => store.read(digest), (error) => hasCode(error, "symlink_not_allowed"));
  },
);

Deno.test("BlobStore.blobPath() refuses what is not a digest", () => {
  using store = BlobStore.open("store");
  throws(() => store.blobPath("sha256:../../etc" as Digest), (error) => hasCode(error, "bad_digest"));
});

Deno.test("BlobStore reports a full disk, keeps what it has and takes the rest later", () => {
  using folder = scratchFolder();
  let isFull = false;
  const layer = new FaultyLayer((operation) => isFull && operation === "write" ? full() : undefined);
  using store = BlobStore.open(folder.path, { layer });
  store.put(bytes("before"));
  isFull = true;
  throws(() => store.put(bytes("during")), (error) => hasCode(error, "disk_full"));
  {
    using writer = store.writer();
    writer.write(bytes("during"));
    throws(() => writer.finish(), (error) => hasCode(error, "disk_full"));
  }
  deepEqual(store.list(), [digestOf("before")]);
  equal(store.open(digestOf("before")).text(), "before");
  isFull = false;
  equal(store.put(bytes("during")).digest, digestOf("during"));
  deepEqual(diskLayer.list(`${folder.path}/tmp`).filter(({ name }) => !name.endsWith(".lock")), []);
});

Deno.test("BlobStore survives a process that ends before any one operation", () => {
  const work = (store: BlobStore) => {
    store.put(bytes("first"));
    using writer = store.writer();
    writer.write(bytes("second"));
    writer.finish();
  };
  let total = Infinity;
  for (let end = 0; end < total; end++) {
    using folder = scratchFolder();
    let count = 0;
    const crash = (operation: Operation) => {
      if (CHANGES.has(operation)) count++;
      return count > end ? new Error("the process has ended") : undefined;
    };
    const layer = new FaultyLayer(crash);
    const dying = BlobStore.open(folder.path, { layer });
    try {
      work(dying);
      total = end; // got through: every operation has had its turn
    } catch (error) {
      equal((error as Error).message, "the process has ended");
    }
    layer.die();
    using store = BlobStore.open(folder.path, { layer: new FaultyLayer(() => undefined) });
    for (const digest of store.list()) store.read(digest); // whole, or not there
    work(store);
    deepEqual(store.list(), [digestOf("first"), digestOf("second")].sort());
    deepEqual(diskLayer.list(`${folder.path}/tmp`).map(({ name }) => name.replace(/^[^.]*/, "")), [".lock"]);
    deepEqual(diskLayer.list(folder.path).map(({ name }) => name), [
      "actions",
      "blobs",
      "index.json",
      "lock",
      "oci-layout",
      "refs",
      "tmp",
    ]);
  }
  ok(total > 15 && total < 100);
});
