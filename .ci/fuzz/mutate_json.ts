import type { RandomStream } from "../../lib/core/random_stream.ts";
import { EDGE_INTEGERS } from "./mutate_bytes.ts";

/** Text that stands in the place of a value as it is. */
class Raw {
  constructor(readonly text: string) {}
}

type Node = null | boolean | number | string | Raw | Node[] | Fields;
/** An object as a list: a name may come twice, and be any name. */
class Fields {
  constructor(readonly list: [name: string, value: Node][]) {}
}

const NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "length",
  "schema",
  "",
  "a/b",
  "\u0000",
  "é",
  "\uffff",
  "10",
  "9",
  "0",
] as const;
const STRINGS = [
  ...NAMES,
  "..",
  "../../etc/passwd",
  "/absolute",
  "CON",
  "a".repeat(300),
  "x".repeat(70_000),
  "1",
  "true",
  "NaN",
  "\ud83d\ude00",
  "e\u0301",
  "\u2028",
  `sha256:${"0".repeat(64)}`,
  `sha256:${"F".repeat(64)}`,
  "config",
  "source",
] as const;
const RAW = [
  "-0",
  "NaN",
  "Infinity",
  "1e999",
  "-1e999",
  "1.0",
  "01",
  "1e0",
  "0x1",
  "+1",
  ".5",
  "undefined",
  '"\\ud800"',
  '"\\u0041"',
  '"\\/"',
  '"\u0001"',
  "'a'",
  "",
  "{",
  "]",
  "1,",
  "// c\n1",
  " 1",
  "123456789012345678901234567890",
] as const;
const NUMBERS = [...EDGE_INTEGERS, 0.1, 0.5, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 1 / 3] as const;

function parsed(value: unknown): Node {
  if (Array.isArray(value)) return value.map(parsed);
  if (typeof value !== "object" || value === null) return value as Node;
  return new Fields(Object.entries(value).map(([name, item]) => [name, parsed(item)]));
}

function nested(depth: number): Raw {
  return new Raw("[".repeat(depth) + "]".repeat(depth));
}

function anyValue(random: RandomStream): Node {
  switch (random.integer(9)) {
    case 0:
      return random.pick([null, true, false]);
    case 1:
    case 2:
      return random.pick(NUMBERS) * random.pick([1, 1, -1]);
    case 3:
      return random.pick(STRINGS);
    case 4:
      return new Raw(random.pick(RAW));
    case 5:
      return random.pick([[], new Fields([]), [[]], [null], new Fields([["a", 1]])]);
    case 6:
      return nested(random.pick([3, 16, 17, 61, 62, 63, 64, 65, 200, 5000]));
    case 7:
      return new Fields([[random.pick(NAMES), random.pick(NUMBERS)]]);
    default:
      return Array.from({ length: 1 << random.integer(11) }, () => random.pick(NUMBERS));
  }
}

/** A value that looks like another: what passes the first checks. */
function near(node: Node, random: RandomStream): Node {
  if (typeof node === "number") {
    return random.pick([
      node + 1,
      node - 1,
      -node,
      node / 2,
      node + 0.5,
      node * 2 ** 32,
      node * (1 + 2 ** -52),
    ]);
  }
  if (typeof node === "boolean") return !node;
  if (typeof node !== "string") return anyValue(random);
  if (node === "") return random.pick(STRINGS);
  const at = random.integer(node.length);
  return random.pick([
    node.slice(0, at) + node.slice(at + 1),
    node.slice(0, at) + random.pick(["0", "a", "A", "/", ".", "\u0000", "é", "9"]) + node.slice(at + 1),
    node + random.pick([" ", "x", "/", node]),
    node.toUpperCase(),
    node.slice(0, at),
  ]);
}

interface Slot {
  readonly get: () => Node;
  readonly set: (value: Node) => void;
  readonly list: Node[] | Fields["list"] | undefined;
  readonly index: number;
}

/** All places of a tree. */
function slots(root: { node: Node }): Slot[] {
  const found: Slot[] = [{ get: () => root.node, set: (v) => root.node = v, list: undefined, index: 0 }];
  for (let i = 0; i < found.length && found.length < 50_000; i++) {
    const node = found[i]!.get();
    if (Array.isArray(node)) {
      node.forEach((_, index) =>
        found.push({ get: () => node[index]!, set: (v) => node[index] = v, list: node, index })
      );
    } else if (node instanceof Fields) {
      node.list.forEach((field, index) =>
        found.push({ get: () => field[1], set: (v) => field[1] = v, list: node.list, index })
      );
    }
  }
  return found;
}

function copy(node: Node): Node {
  if (Array.isArray(node)) return node.map(copy);
  return node instanceof Fields ? new Fields(node.list.map(([name, value]) => [name, copy(value)])) : node;
}

function changeOnce(root: { node: Node }, other: Node, random: RandomStream): void {
  const all = slots(root);
  const slot = random.pick(all);
  const { list, index } = slot;
  const field = slot.list !== undefined && Array.isArray(slot.list[index]) &&
      typeof (slot.list[index] as unknown[])[0] === "string"
    ? slot.list[index] as [string, Node]
    : undefined;
  switch (random.integer(10)) {
    case 0:
    case 1:
      return slot.set(near(slot.get(), random));
    case 2:
      return slot.set(anyValue(random));
    case 3: // gone
      if (list !== undefined) list.splice(index, 1);
      return;
    case 4: // twice, next to each other or many times
      if (list !== undefined) {
        const many = random.pick([1, 1, 1, 50]);
        for (let i = 0; i < many; i++) {
          (list as unknown[]).splice(
            index,
            0,
            field === undefined ? copy(slot.get()) : [field[0], copy(field[1])],
          );
        }
      }
      return;
    case 5: // two change places
      {
        const one = random.pick(all);
        const [a, b] = [copy(slot.get()), copy(one.get())];
        slot.set(b);
        one.set(a);
      }
      return;
    case 6: // another name
      if (field !== undefined) field[0] = random.pick([...NAMES, field[0] + "_", field[0].toUpperCase()]);
      return;
    case 7: { // one more
      const node = slot.get();
      if (node instanceof Fields) node.list.push([random.pick(NAMES), anyValue(random)]);
      else if (Array.isArray(node)) node.splice(random.integer(node.length + 1), 0, anyValue(random));
      return;
    }
    case 8: { // a part of something else
      const box = { node: copy(other) };
      return slot.set(copy(random.pick(slots(box)).get()));
    }
    default:
      if (list !== undefined && list.length > 1) random.shuffle(list as unknown[]);
  }
}

interface Spelling {
  readonly sorted: boolean;
  readonly space: string;
}

function write(node: Node, spelling: Spelling): string {
  if (node instanceof Raw) return node.text;
  const { sorted, space } = spelling;
  if (Array.isArray(node)) return `[${node.map((item) => write(item, spelling)).join("," + space)}]`;
  if (node instanceof Fields) {
    const list = sorted ? [...node.list].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0) : node.list;
    return `{${
      list.map(([name, value]) => `${JSON.stringify(name)}:${space}${write(value, spelling)}`).join(",")
    }}`;
  }
  return JSON.stringify(node);
}

/**
 * Changes the tree of a JSON text, and most of the time writes it in canonical form again, so that what is tested is what
 * comes after the parser.
 */
export function mutateJson(text: string, seeds: readonly string[], random: RandomStream): string {
  const root = { node: parsed(JSON.parse(text)) };
  const other = parsed(JSON.parse(random.pick(seeds)));
  for (let left = 1 + random.integer(random.pick([1, 1, 2, 6])); left > 0; left--) {
    changeOnce(root, other, random);
  }
  return write(root.node, {
    sorted: random.integer(8) !== 0,
    space: random.integer(24) === 0 ? random.pick([" ", "\n", "\t", "\u00a0", "\ufeff"]) : "",
  });
}
