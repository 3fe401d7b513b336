import assert from "node:assert/strict";
import { hasCode } from "../lib/core/error.ts";
import { TarReader } from "./_tar_reader.ts";

/** A header, by the fields that a reader looks at. */
function header(
  { name, size, type = "0", magic = "ustar\0", prefix = "" }: {
    readonly name: string;
    readonly size: string;
    readonly type?: string;
    readonly magic?: string;
    readonly prefix?: string;
  },
): Uint8Array {
  const block = new Uint8Array(512);
  const put = (text: string, at: number) => block.set(new TextEncoder().encode(text), at);
  put(name, 0);
  put(size, 124);
  put(" ".repeat(8), 148);
  put(type, 156);
  put(magic, 257);
  put(prefix, 345);
  put(block.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0") + "\0 ", 148);
  return block;
}

function member(
  name: string,
  content: string,
  rest: { readonly type?: string; readonly prefix?: string } = {},
) {
  const padded = new Uint8Array(Math.ceil(content.length / 512) * 512);
  padded.set(new TextEncoder().encode(content));
  return [header({ name, size: content.length.toString(8).padStart(11, "0"), ...rest }), padded];
}

const END = new Uint8Array(1024);

/** The files of an archive that is given in pieces of some bytes. */
function read(blocks: readonly Uint8Array[], piece = 100): Record<string, string> {
  const found: Record<string, string> = {};
  const ended: string[] = [];
  const reader = new TarReader((name) => {
    if (name.startsWith("skip")) return undefined;
    found[name] = "";
    return {
      write: (bytes) => void (found[name] += new TextDecoder().decode(bytes)),
      end: () => void ended.push(name),
    };
  });
  const all = new Uint8Array(blocks.reduce((sum, block) => sum + block.length, 0));
  let at = 0;
  for (const block of blocks) all.set(block, (at += block.length) - block.length);
  for (let i = 0; i < all.length; i += piece) reader.write(all.subarray(i, i + piece));
  reader.end();
  assert.deepEqual(ended, Object.keys(found));
  return found;
}

Deno.test("TarReader passes on the files that are asked for, whatever the pieces", () => {
  const archive = [
    ...member("folder/", "", { type: "5" }),
    ...member("a.csv", "x".repeat(700)),
    ...member("skip.csv", "y".repeat(513)),
    ...member("b.csv", "z".repeat(512), { prefix: "far/away" }),
    ...member("empty", ""),
    ...member("link", "", { type: "2" }),
    ...member("old", "seven", { type: "\0" }),
    END,
  ];
  for (const piece of [1, 100, 512, 10_000]) {
    assert.deepEqual(read(archive, piece), {
      "a.csv": "x".repeat(700),
      "far/away/b.csv": "z".repeat(512),
      "empty": "",
      "old": "seven",
    });
  }
});

Deno.test("TarReader takes GNU headers, whose prefix field means something else, and stops at the closing block", () => {
  const gnu = header({ name: "g", size: "00000000000", magic: "ustar ", prefix: "00000000000" });
  assert.deepEqual(read([gnu, END, new TextEncoder().encode("what comes after")]), { g: "" });
});

Deno.test("TarReader refuses what is damaged or cut short", () => {
  const fails = (blocks: readonly Uint8Array[], code: string) =>
    assert.throws(() => read(blocks), (error) => hasCode(error, code), code);
  const [head, content] = member("a", "abc") as [Uint8Array, Uint8Array];
  const damaged = head.slice();
  damaged[0] = 0x62;
  fails([damaged, content, END], "archive_damaged");
  fails([header({ name: "a", size: "9" })], "archive_damaged");
  fails([new TextEncoder().encode("a,b\n".repeat(200))], "archive_damaged");
  fails([head, content], "archive_cut_short");
  fails([head, content.subarray(0, 2)], "archive_cut_short");
  fails([head.subarray(0, 100)], "archive_cut_short");
  fails([], "archive_cut_short");
});
