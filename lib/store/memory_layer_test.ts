import { deepEqual, equal, ok, throws } from "node:assert/strict";
import fc from "fast-check";
import { TracewrightError } from "../core/error.ts";
import { diskLayer, type FileLayer } from "./file_layer.ts";
import { MemoryLayer } from "./memory_layer.ts";
import { scratchFolder } from "./scratch_folder.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array | undefined) => content && new TextDecoder().decode(content);

/** Writes a file; what is not told to be synchronised is not. */
function write(layer: FileLayer, path: string, content: string, { sync = true } = {}): void {
  using file = layer.create(path);
  file.write(bytes(content));
  if (sync) file.sync();
}

type Step = (layer: FileLayer, folder: string) => unknown;
const name = fc.constantFrom("a", "b", "a/c", "b/c", "a/c/d");
const step: fc.Arbitrary<readonly [string, Step]> = fc.oneof(
  fc.tuple(name, fc.string({ maxLength: 3 })).map(([path, content]): [string, Step] => [
    `write ${path}`,
    (layer, folder) => write(layer, `${folder}/${path}`, content),
  ]),
  ...(["rename", "link"] as const).map((operation) =>
    fc.tuple(name, name).map(([from, to]): [string, Step] => [
      `${operation} ${from} ${to}`,
      (layer, folder) => layer[operation](`${folder}/${from}`, `${folder}/${to}`),
    ])
  ),
  ...(["remove", "removeTree", "makeDirectory", "makeReadOnly", "syncDirectory", "list"] as const).map((
    operation,
  ) =>
    name.map((path): [string, Step] => [
      `${operation} ${path}`,
      (layer, folder) => layer[operation](`${folder}/${path}`),
    ])
  ),
  name.map((
    path,
  ): [string, Step] => [`read ${path}`, (layer, folder) => text(layer.read(`${folder}/${path}`))]),
);

/** What an operation came to: its result, or that it was refused. Which code it has differs between systems in places. */
function outcome(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    ok(error instanceof TracewrightError, String(error));
    return "refused";
  }
}

Deno.test(
  "MemoryLayer does what the machine's own disk does",
  { ignore: Deno.build.os === "windows" },
  () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        using folder = scratchFolder();
        const memory = new MemoryLayer();
        memory.makeDirectory(folder.path);
        const tree = (layer: FileLayer, path: string): unknown =>
          layer.list(path).map((entry) => {
            const below = `${path}/${entry.name}`;
            const { kind, size, links, writable } = layer.facts(below)!;
            return kind === "directory"
              ? [entry.name, tree(layer, below)]
              : [entry.name, kind, size, links, writable, text(layer.read(below))];
          });
        for (const [what, act] of steps) {
          // No business of a store: a directory moved into itself, links to directories and their permissions.
          if (/^rename (\S+) \1\//.test(what)) continue;
          const [operation, path] = what.split(" ");
          const isDirectory = outcome(() => memory.facts(`${folder.path}/${path}`)?.kind) === "directory";
          if ((operation === "makeReadOnly" || operation === "link") && isDirectory) continue;
          deepEqual(
            outcome(() => act(memory, folder.path)),
            outcome(() => act(diskLayer, folder.path)),
            what,
          );
          deepEqual(tree(memory, folder.path), tree(diskLayer, folder.path), what);
        }
      }),
      { numRuns: 60 },
    );
  },
);

Deno.test("MemoryLayer.lock() and share() exclude each other, and copy() forgets them", () => {
  const layer = new MemoryLayer();
  equal(layer.lock("/lock", "existing"), "absent");
  equal(layer.share("/lock", "existing"), "absent");
  const [first, second] = [layer.share("/lock", "create"), layer.share("/lock", "existing")];
  equal(layer.lock("/lock", "create"), "busy");
  for (const share of [first, second]) if (share !== "absent") share[Symbol.dispose]();
  const alone = layer.lock("/lock", "existing");
  ok(typeof alone !== "string");
  equal(layer.lock("/lock", "existing"), "busy");
  throws(() => layer.share("/lock", "existing"), /wait for itself/);
  ok(typeof layer.copy().lock("/lock", "existing") !== "string");
  alone[Symbol.dispose]();
});

Deno.test("MemoryLayer.powerCut() keeps what was brought to the disk and may lose everything else", () => {
  const layer = new MemoryLayer();
  layer.makeDirectory("/d");
  layer.syncDirectory("/");
  write(layer, "/d/named", "content");
  layer.syncDirectory("/d");
  write(layer, "/d/unnamed", "content");
  write(layer, "/d/unsynced", "content", { sync: false });
  layer.rename("/d/named", "/d/renamed");
  const worst = layer.powerCut(() => 0);
  deepEqual([...worst.paths()].map(({ path }) => path), ["/d", "/d/named"]);
  equal(text(worst.read("/d/named")), "content");
  const best = layer.powerCut((choices) => Math.min(1, choices - 1));
  deepEqual([...best.paths()].map(({ path }) => path), ["/d", "/d/renamed", "/d/unnamed", "/d/unsynced"]);
  equal(text(best.read("/d/unsynced")), "content");
  // The names are there and the bytes are not: what a journal of names alone gives.
  const torn = layer.powerCut((choices) => choices - 1);
  equal(text(torn.read("/d/unsynced")), "\0".repeat(7));
  equal(text(torn.read("/d/unnamed")), "content");
  deepEqual([...best.powerCut(() => 0).paths()], [...best.paths()]);
});
