import { deepEqual, equal, notEqual, ok, rejects } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { digestOf, hexOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { attestationsPath, readAttestations, writeAttestation } from "./attestations.ts";
import type { BundleCode } from "./bundle_error.ts";
import { signEnvelope } from "./dsse.ts";
import { exampleRun, soundLayer } from "./example_run.ts";
import { CHANGES, FaultyLayer } from "./faulty_layer.ts";
import { diskLayer } from "./file_layer.ts";
import { packBundle, type PackOptions } from "./pack_bundle.ts";
import { checkRunBlobs, checkRunViews, readRun } from "./read_run.ts";
import { generateKeyFiles, readSigningKey } from "./signing_key.ts";
import { provenanceStatement } from "./statement.ts";
import { type StoreCode, storeError } from "./store_error.ts";
import { TarReader } from "./tar_reader.ts";
import { TarWriter } from "./tar_writer.ts";
import { unpackBundle, type UnpackOptions } from "./unpack_bundle.ts";

const key = await readSigningKey((await generateKeyFiles()).privateKey);

type Files = Map<string, Uint8Array>;

/** A run with an attestation beside it, and a folder for bundles. */
async function signedRun() {
  const example = exampleRun();
  const run = readRun(example.path);
  const envelope = await signEnvelope(provenanceStatement(run, { version: "0.1.0" }), key);
  writeAttestation(run, envelope, { layer: soundLayer });
  const folder = example.directory.replace(/runs$/, "bundles");
  Deno.mkdirSync(folder);
  return {
    run,
    folder,
    root: hexOf(run.runId).slice(0, 16),
    pack: (name: string, options: Partial<PackOptions> = {}) =>
      packBundle(run, {
        target: `${folder}/${name}`,
        transport: "plain",
        attestations: "included",
        layer: soundLayer,
        ...options,
      }),
    unpack: (name: string, options: Partial<UnpackOptions> = {}) =>
      unpackBundle({ bundle: `${folder}/${name}`, target: `${folder}/out`, layer: soundLayer, ...options }),
    [Symbol.dispose]: () => example[Symbol.dispose](),
  };
}

function filesOf(path: string): Files {
  const files: Files = new Map();
  const reader = new TarReader(({ name }) => {
    const parts: Uint8Array[] = [];
    return { write: (part) => parts.push(part.slice()), end: () => files.set(name, Buffer.concat(parts)) };
  });
  reader.push(Deno.readFileSync(path));
  reader.finish();
  return files;
}

function writeArchive(path: string, files: Files): void {
  const parts: Uint8Array[] = [];
  const writer = new TarWriter((bytes) => parts.push(bytes.slice()));
  for (const name of [...files.keys()].sort()) {
    const content = files.get(name) ?? new Uint8Array();
    writer.add({ name, size: content.length }, [content]);
  }
  writer.finish();
  Deno.writeFileSync(path, Buffer.concat(parts));
}

Deno.test("packBundle() gives the same file twice, sorted, without what no digest covers", async () => {
  using signed = await signedRun();
  const first = await signed.pack("a.tar");
  const second = await signed.pack("b.tar");
  deepEqual({ ...second, path: "" }, { ...first, path: "" });
  const bytes = Deno.readFileSync(first.path);
  deepEqual(Deno.readFileSync(second.path), bytes);
  deepEqual([first.digest, first.size], [digestOf(bytes), bytes.length]);
  const names = [...filesOf(first.path).keys()];
  equal(first.members, names.length);
  deepEqual(names, names.toSorted());
  ok(names.includes(`${signed.root}/report.md`) && !names.includes(`${signed.root}/report.html`));
  equal(names.filter((name) => name.startsWith(`${signed.root}.attestations/`)).length, 7);
  deepEqual(diskLayer.list(`${signed.folder}/.tmp`), []);
  const bare = await signed.pack("c.tar", { attestations: "left-out" });
  notEqual(bare.digest, first.digest);
  equal(bare.attestations, 0);
});

Deno.test("unpackBundle() gives the same run back, from a plain and from a compressed bundle", async () => {
  using signed = await signedRun();
  const plain = await signed.pack("a.tar");
  const packed = await signed.pack("a.tar.zst", { transport: "zstd" });
  equal(packed.digest, plain.digest);
  ok(Deno.statSync(packed.path).size < plain.size / 2);
  deepEqual(zstdDecompressSync(Deno.readFileSync(packed.path)), Buffer.from(Deno.readFileSync(plain.path)));
  for (const name of ["a.tar", "a.tar.zst"]) {
    const out = await signed.unpack(name, { target: `${signed.folder}/${name}.out/` });
    deepEqual([out.runId, out.resultId], [signed.run.runId, signed.run.resultId]);
    equal(out.archive.digest, plain.digest);
    equal(out.path, `${signed.folder}/${name}.out`);
    const run = readRun(out.path);
    checkRunBlobs(run);
    checkRunViews(run);
    deepEqual(readAttestations(run), readAttestations(signed.run));
    const again = await packBundle(run, {
      target: `${signed.folder}/again.tar`,
      transport: "plain",
      attestations: "included",
    });
    equal(again.digest, plain.digest);
  }
  deepEqual(diskLayer.list(`${signed.folder}/.tmp`), []);
});

Deno.test("the system's tar unpacks a bundle to folders that are read as they are", async () => {
  const found = await new Deno.Command("tar", { args: ["--version"] }).output().catch(() => undefined);
  if (found === undefined || Deno.build.os === "windows") return;
  using signed = await signedRun();
  const { path } = await signed.pack("a.tar");
  Deno.mkdirSync(`${signed.folder}/runs`);
  const { success } = await new Deno.Command("tar", { args: ["-xf", path, "-C", `${signed.folder}/runs`] })
    .output();
  ok(success);
  const run = readRun(signed.root, { directory: `${signed.folder}/runs` });
  checkRunBlobs(run);
  equal(readAttestations(run).length, 1);
});

Deno.test("packBundle() refuses a damaged run and leaves an older bundle as it is", async () => {
  using signed = await signedRun();
  const { run, folder } = signed;
  await signed.pack("a.tar");
  const before = Deno.readFileSync(`${folder}/a.tar`);
  const refused = async (path: string, content: string, code: StoreCode | BundleCode) => {
    const good = Deno.readFileSync(path);
    Deno.writeTextFileSync(path, content);
    await rejects(signed.pack("a.tar"), (error) => hasCode(error, code), path);
    Deno.writeFileSync(path, good);
  };
  await refused(`${run.path}/report.md`, "# Better\n", "view_mismatch");
  await refused(`${run.path}/blobs/sha256/${hexOf(digestOf("1\n2\n"))}`, "1\n3\n", "blob_damaged");
  const [attestation] = readAttestations(run);
  await refused(`${attestationsPath(run.path)}/${attestation?.name}/envelope.json`, "{}", "bad_envelope");
  deepEqual(Deno.readFileSync(`${folder}/a.tar`), before);
  deepEqual(diskLayer.list(`${folder}/.tmp`), []);
});

Deno.test("unpackBundle() refuses a target that exists, and a bundle that is none", async () => {
  using signed = await signedRun();
  const { folder, root } = signed;
  await signed.pack("a.tar");
  const refused = async (
    code: StoreCode | BundleCode,
    name = "a.tar",
    options: Partial<UnpackOptions> = {},
  ) => {
    await rejects(signed.unpack(name, options), (error) => hasCode(error, code), `${name} ${code}`);
  };
  for (const name of ["out", "out.attestations"]) {
    Deno.mkdirSync(`${folder}/${name}`);
    await refused("folder_exists");
    Deno.removeSync(`${folder}/${name}`);
    Deno.writeTextFileSync(`${folder}/${name}`, "mine");
    await refused("folder_exists");
    equal(Deno.readTextFileSync(`${folder}/${name}`), "mine");
    Deno.removeSync(`${folder}/${name}`);
  }
  await refused("no_such_file", "absent.tar");
  await refused("unexpected_file", "../bundles");
  const { size } = Deno.statSync(`${folder}/a.tar`);
  const limits = { size, members: 1000, file: size };
  await signed.unpack("a.tar", { limits, target: `${folder}/fits` });
  await refused("too_large", "a.tar", { limits: { ...limits, file: size - 1 } });
  await refused("archive_too_large", "a.tar", { limits: { ...limits, size: size - 1 } });
  await refused("archive_too_many_members", "a.tar", { limits: { ...limits, members: 5 } });
  if (Deno.build.os !== "windows") {
    Deno.symlinkSync(`${folder}/a.tar`, `${folder}/link.tar`);
    await refused("symlink_not_allowed", "link.tar");
  }
  Deno.writeTextFileSync(`${folder}/text.tar`, "no archive".repeat(100));
  await refused("archive_checksum", "text.tar");
  Deno.writeTextFileSync(`${folder}/empty.tar`, "");
  await refused("archive_truncated", "empty.tar");
  const tar = Deno.readFileSync(`${folder}/a.tar`);
  const zstd = zstdCompressSync(tar);
  Deno.writeFileSync(`${folder}/short.tar.zst`, zstd.subarray(0, zstd.length - 50));
  await refused("archive_truncated", "short.tar.zst");
  Deno.writeFileSync(`${folder}/broken.tar.zst`, zstd.map((byte, i) => i > 3 && i < 20 ? byte ^ 255 : byte));
  await refused("archive_compression", "broken.tar.zst");
  // Seen only after the decoder has given out more than it gives at once.
  ok(tar.length > 16_384);
  const sum = zstdCompressSync(tar, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
  Deno.writeFileSync(`${folder}/sum.tar.zst`, sum.map((byte, i) => i === sum.length - 1 ? byte ^ 1 : byte));
  await refused("archive_compression", "sum.tar.zst");
  const wide = zstdCompressSync(Buffer.alloc(1 << 25), { params: { [constants.ZSTD_c_windowLog]: 25 } });
  Deno.writeFileSync(`${folder}/wide.tar.zst`, wide);
  await refused("archive_compression", "wide.tar.zst");
  Deno.writeFileSync(`${folder}/twice.tar.zst`, Buffer.concat([zstd, zstd]));
  await refused("archive_trailing_data", "twice.tar.zst");
  deepEqual(diskLayer.list(folder).filter(({ name }) => name.startsWith("out") || name === root), []);
  deepEqual(diskLayer.list(`${folder}/.tmp`), []);
});

Deno.test("unpackBundle() stops a bomb at the limit, and keeps nothing of it", async () => {
  using signed = await signedRun();
  const { folder, root } = signed;
  const files: Files = new Map([[`${root}/blobs/sha256/${"0".repeat(64)}`, new Uint8Array(32 << 20)]]);
  writeArchive(`${folder}/bomb.tar`, files);
  const bomb = zstdCompressSync(Deno.readFileSync(`${folder}/bomb.tar`));
  Deno.removeSync(`${folder}/bomb.tar`);
  ok(bomb.length < 10_000);
  // The header of the member tells the truth: refused before a byte of it is written.
  Deno.writeFileSync(`${folder}/bomb.tar.zst`, bomb);
  let created = 0;
  const counting = new FaultyLayer((operation, path) => {
    if (operation === "create" && path.includes("blobs")) created++;
    return undefined;
  });
  const limits = { size: 1 << 20, members: 10, file: 1 << 20 };
  await rejects(
    signed.unpack("bomb.tar.zst", { limits, layer: counting }),
    (error) => hasCode(error, "archive_too_large"),
  );
  equal(created, 0);
  // Zeros without end, as a padding that never stops.
  Deno.writeFileSync(`${folder}/zeros.tar.zst`, zstdCompressSync(Buffer.alloc(64 << 20)));
  await rejects(
    signed.unpack("zeros.tar.zst", { limits }),
    (error) => hasCode(error, "archive_trailing_data"),
  );
  deepEqual(diskLayer.list(`${folder}/.tmp`), []);
});

Deno.test("unpackBundle() takes exactly the files of one run, each with its content", async () => {
  using signed = await signedRun();
  const { folder, root } = signed;
  await signed.pack("a.tar");
  const original = filesOf(`${folder}/a.tar`);
  const text = (content: string) => new TextEncoder().encode(content);
  const attestation = [...original.keys()].find((name) => name.endsWith("/envelope.json")) ?? "";
  const refused = async (code: StoreCode | BundleCode, edit: (files: Files) => void, note = "") => {
    const files = new Map(original);
    edit(files);
    writeArchive(`${folder}/forged.tar`, files);
    await rejects(signed.unpack("forged.tar"), (error) => hasCode(error, code), `${code} ${note}`);
    const left = diskLayer.list(folder).map(({ name }) => name);
    deepEqual(left, [".tmp", "a.tar", "forged.tar"], `${code} ${note}`);
    deepEqual(diskLayer.list(`${folder}/.tmp`), []);
  };
  for (const name of original.keys()) {
    const code = name.includes(".attestations/")
      ? "bad_attestation"
      : name.includes("/blobs/")
      ? "missing_blob"
      : "missing_file";
    await refused(code, (files) => files.delete(name), `without ${name}`);
  }
  for (const [name, content] of original) {
    if (!name.includes("/blobs/")) continue;
    await refused("blob_damaged", (files) => files.set(name, content.with(0, (content[0] ?? 0) ^ 1)), name);
  }
  await refused("view_mismatch", (files) => files.set(`${root}/report.md`, text("# Better\n")));
  await refused("bad_manifest", (files) => files.set(`${root}/index.json`, text("{}")));
  await refused("not_canonical", (files) => files.set(`${root}/manifest.json`, text("{ }")));
  await refused("bad_envelope", (files) => files.set(attestation, text("{}")));
  await refused("unexpected_file", (files) => files.set(`${root}/notes.txt`, text("")));
  await refused("unexpected_file", (files) => files.set(`${root}/report.html`, text("<script>")));
  await refused(
    "unexpected_file",
    (files) => files.set(`${root}/blobs/sha256/${hexOf(digestOf("x"))}`, text("x")),
  );
  await refused("bad_attestation", (files) => files.set(`${attestation}.txt`, text("")));
  for (
    const name of [
      "notes.txt",
      `${root}x/a`,
      "0123456789abcdef/a",
      `${root}/A`,
      `${root}/.hidden`,
      `${root}.other/a`,
    ]
  ) {
    await refused("archive_root", (files) => files.set(name, text("")), name);
  }
  const capital = (files: Files) => {
    files.clear();
    files.set("0123456789ABCDEF/manifest.json", text("{}"));
  };
  await refused("archive_root", capital, "a root in capitals");
  const renamed = (files: Files) => {
    files.clear();
    for (const [name, content] of original) files.set(name.replace(root, "0123456789abcdef"), content);
  };
  await refused("archive_root", renamed, "another root");
  await refused("missing_file", (files) => files.clear(), "nothing at all");
});

Deno.test("unpackBundle() shows the whole run or none, whatever operation fails", async () => {
  using signed = await signedRun();
  const { folder } = signed;
  await signed.pack("a.tar.zst", { transport: "zstd" });
  let total = Infinity;
  let wholes = 0;
  for (let end = 0; end < total; end += 3) {
    let count = 0;
    let dead = false;
    const layer = new FaultyLayer((operation) => {
      if (!CHANGES.has(operation)) return undefined;
      dead ||= count++ >= end && operation !== "removeTree";
      return dead ? storeError("disk_full", { message: "no room" }) : undefined;
    });
    try {
      await signed.unpack("a.tar.zst", { layer });
      total = end;
    } catch (error) {
      ok(hasCode(error, "disk_full"));
    }
    layer.die();
    for (const { name } of diskLayer.list(folder).filter(({ name }) => name === "out")) {
      equal(readRun(`${folder}/${name}`).runId, signed.run.runId);
      equal(readAttestations(readRun(`${folder}/${name}`)).length, 1);
      wholes++;
    }
    for (const name of ["out", "out.attestations"]) diskLayer.removeTree(`${folder}/${name}`);
  }
  ok(total > 60 && total < 300 && wholes >= 1);
  await signed.unpack("a.tar.zst");
  deepEqual(diskLayer.list(`${folder}/.tmp`), []); // what the dead left is gone
});
