import type { RandomStream } from "../../lib/core/random_stream.ts";
import { joined } from "./joined.ts";
import { EDGE_INTEGERS } from "./mutate_bytes.ts";

/** A member as it is written, header and all. */
interface Member {
  readonly header: Uint8Array;
  content: Uint8Array;
}

const BLOCK = 512;
/** Offset and length of the fields of `ustar` (POSIX.1-1988). */
const FIELDS = [
  [0, 100],
  [100, 8],
  [108, 8],
  [116, 8],
  [124, 12],
  [136, 12],
  [148, 8],
  [156, 1],
  [157, 100],
  [257, 6],
  [263, 2],
  [265, 32],
  [297, 32],
  [329, 8],
  [337, 8],
  [345, 155],
] as const;
const NAMES = [
  "..",
  "../out",
  "/etc/passwd",
  "a//b",
  "./a",
  "a/./b",
  "a/",
  "C:\\x",
  "a\\b",
  "nul",
  "aux.txt",
  "a.",
  "a\u0000b",
  "\u0001",
  "é",
  "A",
  "",
  "a/".repeat(17) + "a",
  "x".repeat(100),
] as const;

function split(archive: Uint8Array): Member[] {
  const members: Member[] = [];
  for (let at = 0; archive[at] !== 0;) {
    const header = archive.slice(at, at + BLOCK);
    const size = parseInt(new TextDecoder().decode(header.subarray(124, 135)), 8);
    members.push({ header, content: archive.slice(at + BLOCK, at + BLOCK + size) });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return members;
}

function put(header: Uint8Array, [offset, length]: readonly [number, number], text: string): void {
  header.fill(0, offset, offset + length);
  header.set(new TextEncoder().encode(text).subarray(0, length), offset);
}

function checksum(header: Uint8Array): void {
  put(header, [148, 8], "        ");
  put(header, [148, 8], header.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0") + "\0 ");
}

function changeOnce(members: Member[], random: RandomStream): void {
  if (members.length === 0) return;
  const index = random.integer(members.length);
  const { header, content } = members[index]!;
  const field = random.pick(FIELDS);
  switch (random.integer(10)) {
    case 0:
      header[field[0] + random.integer(field[1])] = random.pick([0, 32, 47, 48, 55, 57, 65, 128, 255]);
      return;
    case 1:
      return put(header, random.pick([FIELDS[0], FIELDS[15]]), random.pick(NAMES));
    case 2:
      return put(header, FIELDS[4], random.pick(EDGE_INTEGERS).toString(8).padStart(11, "0"));
    case 3: // the base-256 size of GNU tar
      header.fill(0, 124, 136);
      header[124] = 128;
      header[135] = random.integer(256);
      return;
    case 4:
      header[156] = random.pick([..."\u0000012345677gxKLSVMNDA "]).charCodeAt(0);
      return;
    case 5:
      members.splice(index, 1);
      return;
    case 6:
      members.splice(random.integer(members.length), 0, { header: header.slice(), content });
      return;
    case 7:
      random.shuffle(members);
      return;
    case 8: {
      const size = random.pick([0, 1, 511, 512, 513, content.length]);
      const changed = new Uint8Array(size);
      changed.set(content.subarray(0, size));
      if (size > 0) changed[random.integer(size)] = random.integer(256);
      members[index]!.content = changed;
      if (random.integer(3) > 0) put(header, FIELDS[4], size.toString(8).padStart(11, "0"));
      return;
    }
    default: // moved in upper case, or into another folder
      put(
        header,
        FIELDS[0],
        random.pick([
          new TextDecoder().decode(header.subarray(0, 100)).replace(/\0+$/, "").toUpperCase(),
          new TextDecoder().decode(random.pick(members).header.subarray(0, 100)).replace(/\0+$/, "") + "/a",
        ]),
      );
  }
}

/** Changes members and headers of an archive, most of the time with sums that are right. */
export function mutateTar(archive: Uint8Array, random: RandomStream): Uint8Array<ArrayBuffer> {
  const members = split(archive);
  for (let left = 1 + random.integer(random.pick([1, 2, 4])); left > 0; left--) changeOnce(members, random);
  const honest = random.integer(20) !== 0;
  const parts = members.flatMap(({ header, content }) => {
    if (honest) checksum(header);
    const room = new Uint8Array(Math.ceil(content.length / BLOCK) * BLOCK);
    if (random.integer(40) === 0) room.fill(1);
    room.set(content);
    return [header, room];
  });
  const zeros = random.integer(20) === 0 ? random.integer(4) : 2;
  parts.push(new Uint8Array(BLOCK * zeros));
  return joined(...parts);
}
