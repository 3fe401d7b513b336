import type { RandomStream } from "../../lib/core/random_stream.ts";
import { joined } from "./joined.ts";

/** Bytes that formats give a meaning. */
const TELLING = [
  0,
  1,
  0x0a,
  0x0d,
  0x20,
  0x22,
  0x2c,
  0x2e,
  0x2f,
  0x30,
  0x5c,
  0x7b,
  0x7d,
  0x7f,
  0x80,
  0xc0,
  0xed,
  0xff,
] as const;
/** Numbers at which lengths and counts go wrong. */
export const EDGE_INTEGERS = [
  0,
  1,
  2,
  7,
  63,
  64,
  65,
  127,
  128,
  255,
  256,
  257,
  511,
  512,
  4095,
  4096,
  65_535,
  65_536,
  2 ** 20,
  2 ** 24,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 35 - 1,
  2 ** 53 - 1,
  2 ** 53,
] as const;

type Bytes = Uint8Array<ArrayBuffer>;
type Change = (bytes: Bytes, random: RandomStream, other: Uint8Array) => Bytes;

/** A stretch: short ones more often. */
function stretch(length: number, random: RandomStream): [start: number, end: number] {
  const start = random.integer(length + 1);
  const most = Math.min(length - start, 1 << random.integer(14));
  return [start, start + (most > 0 ? random.integer(most + 1) : 0)];
}

function at(bytes: Bytes, random: RandomStream, change: (value: number) => number): Bytes {
  if (bytes.length === 0) return bytes;
  const changed = bytes.slice();
  const place = random.integer(bytes.length);
  changed[place] = change(bytes[place]!);
  return changed;
}

const CHANGES: readonly Change[] = [
  (bytes, random) => at(bytes, random, (value) => value ^ (1 << random.integer(8))),
  (bytes, random) => at(bytes, random, () => random.integer(256)),
  (bytes, random) => at(bytes, random, () => random.pick(TELLING)),
  (bytes, random) => at(bytes, random, (value) => value + random.pick([-1, 1])),
  // taken out, cut off, doubled, moved, put in
  (bytes, random) => {
    const [start, end] = stretch(bytes.length, random);
    return joined(bytes.subarray(0, start), bytes.subarray(end));
  },
  (bytes, random) => bytes.slice(0, random.integer(bytes.length + 1)),
  (bytes, random) => {
    const [start, end] = stretch(bytes.length, random);
    const many = 1 << random.integer(6);
    const piece = bytes.subarray(start, Math.min(end, start + 4096));
    return joined(bytes.subarray(0, end), ...Array.from({ length: many }, () => piece), bytes.subarray(end));
  },
  (bytes, random, other) => {
    const [start, end] = stretch(other.length, random);
    const place = random.integer(bytes.length + 1);
    const skipped = Math.min(bytes.length, place + random.pick([0, end - start]));
    return joined(bytes.subarray(0, place), other.subarray(start, end), bytes.subarray(skipped));
  },
  (bytes, random, other) =>
    joined(
      bytes.subarray(0, random.integer(bytes.length + 1)),
      other.subarray(random.integer(other.length + 1)),
    ),
  (bytes, random) => {
    const place = random.integer(bytes.length + 1);
    return joined(bytes.subarray(0, place), Uint8Array.of(random.pick(TELLING)), bytes.subarray(place));
  },
  // numbers of two, four and eight bytes
  (bytes, random) => {
    const width = random.pick([2, 4, 8]);
    if (bytes.length < width) return bytes;
    const changed = bytes.slice();
    const view = new DataView(changed.buffer);
    const place = random.integer(bytes.length - width + 1);
    const value = BigInt(random.pick(EDGE_INTEGERS)) * random.pick([1n, -1n]);
    const little = random.integer(2) === 0;
    if (width === 2) view.setInt16(place, Number(BigInt.asIntN(16, value)), little);
    else if (width === 4) view.setInt32(place, Number(BigInt.asIntN(32, value)), little);
    else view.setBigInt64(place, BigInt.asIntN(64, value), little);
    return changed;
  },
  // a number written in decimal
  (bytes, random) => {
    const digits: number[] = [];
    for (let i = 0; i < bytes.length; i++) if (bytes[i]! >= 0x30 && bytes[i]! <= 0x39) digits.push(i);
    if (digits.length === 0) return bytes;
    const start = random.pick(digits);
    let end = start;
    while (end < bytes.length && bytes[end]! >= 0x30 && bytes[end]! <= 0x39) end++;
    const text = random.pick([String(random.pick(EDGE_INTEGERS)), "-0", "1e999", "-1", "0.1", "1e21", "00"]);
    return joined(bytes.subarray(0, start), new TextEncoder().encode(text), bytes.subarray(end));
  },
];

/** Changes bytes that have no form, once or a few times. `seeds` lend pieces to each other. */
export function mutateBytes(bytes: Bytes, seeds: readonly Uint8Array[], random: RandomStream): Bytes {
  let changed = bytes;
  for (let left = 1 << random.integer(4); left > 0; left--) {
    changed = random.pick(CHANGES)(changed, random, random.pick(seeds));
  }
  return changed;
}
