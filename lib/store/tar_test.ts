import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import type { BundleCode } from "./bundle_error.ts";
import { scratchFolder } from "./scratch_folder.ts";
import { TAR_BLOCK, tarHeader } from "./tar_header.ts";
import { TarReader } from "./tar_reader.ts";
import { TarWriter } from "./tar_writer.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

type Files = Readonly<Record<string, string>>;

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function archive(files: Files): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const writer = new TarWriter((bytes) => parts.push(bytes.slice()));
  for (const name of Object.keys(files).sort()) {
    const content = encoder.encode(files[name]);
    writer.add({ name, size: content.length }, [content]);
  }
  const summary = writer.finish();
  const bytes = joined(parts);
  deepEqual(summary, { digest: digestOf(bytes), size: bytes.length, members: Object.keys(files).length });
  return bytes;
}

function extracted(
  bytes: Uint8Array,
  { piece = bytes.length, limits = { size: 1e6, members: 100 } }: {
    piece?: number;
    limits?: { size: number; members: number };
  } = {},
): Files {
  const files: Record<string, string> = {};
  const reader = new TarReader(({ name }) => {
    const parts: Uint8Array[] = [];
    return {
      write: (part) => parts.push(part.slice()),
      end: () => files[name] = decoder.decode(joined(parts)),
    };
  }, limits);
  for (let at = 0; at < bytes.length; at += piece) reader.push(bytes.subarray(at, at + piece));
  deepEqual(reader.finish().digest, digestOf(bytes));
  return files;
}

function refuses(bytes: Uint8Array, code: BundleCode, note = "") {
  for (const piece of [bytes.length, 100]) {
    throws(() => extracted(bytes, { piece }), (error) => hasCode(error, code), `${code} ${note}`);
  }
}

/** A header with other bytes in it, and its sum made right again. */
function forged(header: Uint8Array, edit: (header: Uint8Array) => void): Uint8Array<ArrayBuffer> {
  const copy = header.slice();
  edit(copy);
  copy.fill(32, 148, 156);
  const sum = copy.reduce((total, byte) => total + byte, 0);
  copy.set(encoder.encode(sum.toString(8).padStart(6, "0") + "\0 "), 148);
  return copy as Uint8Array<ArrayBuffer>;
}

/** An archive of one empty file whose header has been edited. */
function withHeader(edit: (header: Uint8Array) => void): Uint8Array<ArrayBuffer> {
  return joined([forged(tarHeader({ name: "a", size: 0 }), edit), new Uint8Array(2 * TAR_BLOCK)]);
}

/** An archive of empty files whose names are written as they are. */
function named(...names: readonly string[]): Uint8Array<ArrayBuffer> {
  const headers = names.map((name) =>
    forged(tarHeader({ name: "a", size: 0 }), (header) => {
      header.fill(0, 0, 100);
      header.set(encoder.encode(name), 0);
    })
  );
  return joined([...headers, new Uint8Array(2 * TAR_BLOCK)]);
}

const LONG = "blobs/" + "d".repeat(90) + "/" + "e".repeat(90);
const SAMPLE: Files = {
  "a": "",
  "b/c.txt": "hello\n",
  "b.txt": "x".repeat(512),
  "b/d": "y".repeat(513),
  [LONG]: "long",
};

Deno.test("TarWriter writes a header whose every byte is known", () => {
  const header = tarHeader({ name: "a/b.txt", size: 6 });
  const text = decoder.decode(header).replaceAll("\0", ".");
  equal(text.slice(0, 10), "a/b.txt...");
  equal(text.slice(100, 148), "0000644.0000000.0000000.00000000006.00000000000.");
  equal(text.slice(156, 265), "0" + ".".repeat(100) + "ustar.00");
  equal(text.slice(265, 345), ".".repeat(64) + "0000000.0000000.");
  // Sum by hand: the bytes above with eight spaces for the sum itself.
  const sum = [...header].reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0);
  equal(text.slice(148, 156), sum.toString(8).padStart(6, "0") + ". ");
});

Deno.test("TarWriter gives the bytes of GNU tar", async () => {
  const version = await new Deno.Command("tar", { args: ["--version"] }).output().catch(() => undefined);
  if (version === undefined || !decoder.decode(version.stdout).includes("GNU tar")) return;
  using folder = scratchFolder();
  for (const [name, content] of Object.entries(SAMPLE)) {
    const path = `${folder.path}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, content);
  }
  const { stdout, success } = await new Deno.Command("tar", {
    args: ["--format=ustar", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=0644"]
      .concat(
        ["--mtime=@0", "-b1", "--no-recursion", "-cf", "-", "-C", folder.path, ...Object.keys(SAMPLE).sort()],
      ),
    env: { LC_ALL: "C", TZ: "UTC" },
  }).output();
  ok(success);
  deepEqual(stdout, archive(SAMPLE));
});

Deno.test("TarReader gives back what TarWriter took, in pieces of any size", () => {
  const bytes = archive(SAMPLE);
  for (const piece of [1, 7, 511, 512, 513, 5000]) deepEqual(extracted(bytes, { piece }), SAMPLE);
  deepEqual(extracted(archive({})), {});
  const segment = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,8}$/).filter((name) =>
    !/^(con|prn|aux|nul|com\d|lpt\d)/.test(name)
  );
  // Files end in .f and folders do not, so that no name is both.
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/") + ".f");
  fc.assert(
    fc.property(fc.dictionary(path, fc.string({ unit: "binary", maxLength: 1100 })), (files) => {
      const ours: Files = { ...files };
      deepEqual({ ...extracted(archive(ours), { piece: 1000 }) }, ours);
    }),
    { numRuns: 50 },
  );
});

Deno.test("TarReader refuses every name that may lead elsewhere", () => {
  const names = [
    "/etc/passwd",
    "..",
    "../a",
    "a/../b",
    "a/..",
    ".",
    "./a",
    "a/./b",
    "",
    "a//b",
    "a/",
    "a\\b",
    "..\\a",
    "C:a",
    "c:/a",
    "a:stream",
    "a\nb",
    "a\x7f",
    "é",
    "a b",
    "a.",
    "con",
    "nul.txt",
    "a/LPT1",
    "x/".repeat(16) + "x",
  ];
  for (const name of names) refuses(named(name), "archive_name", name);
  refuses(withHeader((header) => header[2] = 98), "archive_name", "text after a NUL");
  throws(() => tarHeader({ name: "a".repeat(101), size: 0 }), (error) => hasCode(error, "archive_name"));
  throws(
    () => tarHeader({ name: "a".repeat(156) + "/b", size: 0 }),
    (error) => hasCode(error, "archive_name"),
  );
});

Deno.test("TarReader refuses names that are one file on some system, and any order but one", () => {
  refuses(named("a", "a"), "archive_duplicate");
  refuses(named("A", "a"), "archive_duplicate");
  refuses(named("a", "a/b"), "archive_duplicate");
  refuses(named("a/b", "a"), "archive_duplicate");
  refuses(named("A/b", "a"), "archive_duplicate");
  refuses(named("A/b", "a/c"), "archive_duplicate");
  refuses(named("a/b/c", "a/b/C"), "archive_duplicate");
  refuses(named("b", "a"), "archive_order");
  refuses(named("a/b", "a.txt"), "archive_order");
});

Deno.test("TarReader refuses every member that is no plain file", () => {
  for (const type of "1234567gxKLSVAZ") {
    refuses(withHeader((header) => header[156] = type.charCodeAt(0)), "archive_member_kind", type);
  }
});

Deno.test("TarReader refuses every byte of a header that it would not write", () => {
  const plain = tarHeader({ name: "a", size: 0 });
  for (let byte = 0; byte < TAR_BLOCK; byte++) {
    const code = byte === 156
      ? "archive_member_kind"
      : byte < 100 || (byte >= 345 && byte < 500)
      ? "archive_name"
      : byte >= 124 && byte < 135
      ? /^archive_(header|too_large|truncated)$/
      : byte >= 148 && byte < 156
      ? undefined // the sum, which the forger makes right again
      : "archive_header";
    if (code === undefined) continue;
    const bytes = withHeader((header) => header[byte]! ^= 1);
    throws(
      () => extracted(bytes),
      (error) =>
        typeof code === "string"
          ? hasCode(error, code)
          : code.test(String((error as { code: unknown }).code)),
      `byte ${byte}`,
    );
  }
  for (let byte = 0; byte < TAR_BLOCK; byte++) {
    const header = plain.slice();
    header[byte]! ^= 1;
    refuses(joined([header, new Uint8Array(2 * TAR_BLOCK)]), "archive_checksum", `byte ${byte}`);
  }
  const edits: ((header: Uint8Array) => void)[] = [
    (header) => header.set(encoder.encode("0000755"), 100),
    (header) => header.set(encoder.encode("0001750"), 108),
    (header) => header.set(encoder.encode("00000000001"), 136),
    (header) => header.set(encoder.encode("ustar  \0"), 257),
    (header) => header.set(encoder.encode("root"), 265),
    (header) => header[156] = 0,
    (header) => header[511] = 1,
    (header) => header.set(encoder.encode("          0"), 124),
    (header) => header[124] = 0x80,
  ];
  for (const edit of edits) refuses(withHeader(edit), "archive_header", String(edit));
});

Deno.test("TarReader refuses a name that stands in another place than it would be written to", () => {
  const split = withHeader((header) => {
    header.set(encoder.encode("b"), 0);
    header.set(encoder.encode("a"), 345);
  });
  refuses(split, "archive_header");
});

Deno.test("TarReader refuses an archive that ends early, goes on after its end, or hides bytes between", () => {
  const bytes = archive({ a: "content", b: "more" });
  for (const length of [0, 1, 511, 512, 515, 600, 1024, 2048, bytes.length - 512, bytes.length - 1]) {
    refuses(bytes.subarray(0, length), "archive_truncated", String(length));
  }
  for (const more of [new Uint8Array(1), new Uint8Array(512), encoder.encode("x")]) {
    refuses(joined([bytes, more]), "archive_trailing_data");
  }
  const hidden = bytes.slice();
  hidden[512 + 7] = 1;
  refuses(hidden, "archive_padding");
  refuses(joined([archive({}).subarray(0, 512), archive({ a: "" })]), "archive_header");
});

Deno.test("TarReader refuses more members and more bytes than it was told, before it takes them", () => {
  const bytes = archive({ a: "1", b: "2", c: "3" });
  const limited = (limits: { size: number; members: number }) => () =>
    extracted(bytes, { limits, piece: 512 });
  limited({ size: bytes.length, members: 3 })();
  throws(limited({ size: bytes.length, members: 2 }), (error) => hasCode(error, "archive_too_many_members"));
  throws(limited({ size: bytes.length - 1, members: 3 }), (error) => hasCode(error, "archive_too_large"));
  const begun: string[] = [];
  const reader = new TarReader(({ name }) => {
    begun.push(name);
    return { write() {}, end() {} };
  });
  throws(
    () => reader.push(tarHeader({ name: "bomb", size: 0o77777777777 })),
    (error) => hasCode(error, "archive_too_large"),
  );
  deepEqual(begun, []);
});

Deno.test("TarWriter refuses names, orders and sizes that its reader would refuse", () => {
  const writing = (...members: { name: string; size: number }[]) => () => {
    const writer = new TarWriter(() => {});
    for (const member of members) writer.add(member, []);
  };
  throws(writing({ name: "../a", size: 0 }), (error) => hasCode(error, "archive_name"));
  throws(writing({ name: "b", size: 0 }, { name: "a", size: 0 }), (error) => hasCode(error, "archive_order"));
  throws(
    writing({ name: "A", size: 0 }, { name: "a", size: 0 }),
    (error) => hasCode(error, "archive_duplicate"),
  );
  throws(writing({ name: "a", size: 1 }), (error) => hasCode(error, "archive_truncated"));
  throws(writing({ name: "a", size: 2 ** 33 }), (error) => hasCode(error, "archive_too_large"));
});

Deno.test("TarReader ends on any bytes with a code of its own", () => {
  const base = archive(SAMPLE);
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(base.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 }),
      (edits) => {
        const bytes = base.slice();
        for (const [at, value] of edits) bytes[at] = value;
        try {
          extracted(bytes);
        } catch (error) {
          ok(error instanceof Error && "code" in error && String(error.code).startsWith("archive_"));
        }
      },
    ),
    { numRuns: 200 },
  );
});
