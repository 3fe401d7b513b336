import type { RandomStream } from "../../lib/core/random_stream.ts";
import { EDGE_INTEGERS } from "./mutate_bytes.ts";

/** Which fields of a message are messages, by number. */
export interface MessageShape {
  readonly [field: number]: MessageShape;
}

interface Field {
  number: number;
  wire: number;
  /** A number, plain bytes, or a message. */
  value: bigint | Uint8Array | Field[];
  /** Added to the length or number of bytes that is written. */
  lie: number;
}

function varint(value: bigint, atLeast = 1): number[] {
  const bytes: number[] = [];
  for (; value > 127n || bytes.length + 1 < atLeast; value >>= 7n) bytes.push(Number(value & 127n) | 128);
  return [...bytes, Number(value)];
}

/** Reads a message of ours, without any check. */
function parse(bytes: Uint8Array, shape: MessageShape): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const number = () => {
    let value = 0n;
    for (let shift = 0n;; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = Number(number());
    const field: Field = { number: tag >> 3, wire: tag & 7, value: 0n, lie: 0 };
    if (field.wire === 0) field.value = number();
    else {
      const length = Number(number());
      const content = bytes.subarray(at, at += length);
      const inner = shape[field.number];
      field.value = inner === undefined ? content : parse(content, inner);
    }
    fields.push(field);
  }
  return fields;
}

function write(fields: readonly Field[]): number[] {
  return fields.flatMap(({ number, wire, value, lie }) => {
    const tag = varint(BigInt(number * 8 + wire));
    if (typeof value === "bigint") return [...tag, ...varint(value, 1 + Math.min(9, Math.abs(lie)))];
    const content = value instanceof Uint8Array ? [...value] : write(value);
    const length = BigInt(Math.max(0, content.length + lie));
    return [...tag, ...varint(length), ...content];
  });
}

function copy(field: Field): Field {
  return { ...field, value: Array.isArray(field.value) ? field.value.map(copy) : field.value };
}

function messages(fields: Field[]): Field[][] {
  return [fields, ...fields.flatMap(({ value }) => Array.isArray(value) ? messages(value) : [])];
}

const DOUBLES = [0, -0, NaN, Infinity, 1, 0.5, 2 ** -16, 2 ** 19, 2 ** 32, 2 ** 53, 5e-324, 1e308] as const;

function changeBytes(value: Uint8Array, random: RandomStream): Uint8Array {
  const changed = value.slice();
  switch (random.integer(4)) {
    case 0:
      if (changed.length >= 8) {
        const place = 8 * random.integer(changed.length >> 3);
        const number = random.pick(DOUBLES) * random.pick([1, -1]);
        new DataView(changed.buffer).setFloat64(place, number, true);
      }
      return changed;
    case 1:
      if (changed.length > 0) changed[random.integer(changed.length)] = random.integer(256);
      return changed;
    case 2:
      return changed.subarray(0, random.integer(changed.length + 1));
    default:
      return Uint8Array.from(
        { length: random.pick([0, 1, 8, 64, 65, 4096]) },
        () => random.pick([0, 65, 255]),
      );
  }
}

function changeOnce(root: Field[], random: RandomStream): void {
  const all = messages(root);
  const list = random.pick(all);
  if (list.length === 0) return;
  const index = random.integer(list.length);
  const field = list[index]!;
  switch (random.integer(10)) {
    case 0:
      field.number = random.pick([
        0,
        field.number + 1,
        field.number - 1,
        1 + random.integer(30),
        2 ** 29 - 1,
      ]);
      return;
    case 1:
      field.wire = random.integer(8);
      return;
    case 2:
      field.lie = random.pick([-8, -1, 1, 2, 4, 8, 9, 2 ** 31, 2 ** 40]);
      return;
    case 3:
      list.splice(index, 1);
      return;
    case 4:
      for (let many = random.pick([1, 1, 3, 70]); many > 0; many--) list.splice(index, 0, copy(field));
      return;
    case 5:
      random.shuffle(list);
      return;
    case 6:
      list.splice(index, 0, copy(random.pick(random.pick(all.filter((other) => other.length > 0)))));
      return;
    case 7:
      if (typeof field.value === "bigint") field.value = BigInt(random.pick(EDGE_INTEGERS));
      return;
    default:
      if (typeof field.value === "bigint") field.value += random.pick([1n, 2n]);
      else if (field.value instanceof Uint8Array) field.value = changeBytes(field.value, random);
  }
}

/** Changes the fields of a message, and writes it with the lengths that follow, unless one of them is to lie. */
export function mutateProtobuf(
  bytes: Uint8Array,
  shape: MessageShape,
  random: RandomStream,
): Uint8Array<ArrayBuffer> {
  const root = parse(bytes, shape);
  for (let left = 1 + random.integer(random.pick([1, 1, 2, 5])); left > 0; left--) changeOnce(root, random);
  return Uint8Array.from(write(root).slice(0, 2 ** 20));
}
