import { deepEqual, equal, notEqual } from "node:assert/strict";
import { Temporaries } from "./_temporaries.ts";
import { diskLayer } from "./file_layer.ts";
import { FaultyLayer } from "./faulty_layer.ts";
import { scratchFolder } from "./scratch_folder.ts";

const names = (folder: string) => diskLayer.list(folder).map(({ name }) => name);

function touch(path: string): void {
  diskLayer.create(path)[Symbol.dispose]();
}

Deno.test("Temporaries.next() gives each caller a name of its own", () => {
  using folder = scratchFolder();
  using first = new Temporaries(diskLayer, `${folder.path}/tmp`);
  using second = new Temporaries(diskLayer, `${folder.path}/tmp`);
  const given = [first.next(), first.next(), second.next(), second.next()];
  equal(new Set(given).size, 4);
});

Deno.test("Temporaries leaves the files of a living owner alone", () => {
  using folder = scratchFolder();
  using living = new Temporaries(diskLayer, `${folder.path}/tmp`);
  touch(living.next());
  const before = names(`${folder.path}/tmp`);
  using other = new Temporaries(diskLayer, `${folder.path}/tmp`);
  equal(other.removeAbandoned(), 0);
  deepEqual(names(`${folder.path}/tmp`), before);
});

Deno.test("Temporaries removes the files and folders of an owner that died, with its lock", () => {
  using folder = scratchFolder();
  const layer = new FaultyLayer(() => undefined);
  const dead = new Temporaries(layer, `${folder.path}/tmp`);
  touch(dead.next());
  const directory = dead.next();
  diskLayer.makeDirectory(`${directory}/inside`);
  layer.die();
  equal(names(`${folder.path}/tmp`).length, 3);
  using next = new Temporaries(diskLayer, `${folder.path}/tmp`);
  const mine = next.next();
  const owner = mine.slice(mine.lastIndexOf("/") + 1).split(".")[0];
  deepEqual(names(`${folder.path}/tmp`), [`${owner}.lock`]);
});

Deno.test("Temporaries removes files whose lock file is gone", () => {
  using folder = scratchFolder();
  diskLayer.makeDirectory(`${folder.path}/tmp`);
  touch(`${folder.path}/tmp/orphan.0`);
  using temporaries = new Temporaries(diskLayer, `${folder.path}/tmp`);
  equal(temporaries.removeAbandoned(), 1);
  deepEqual(names(`${folder.path}/tmp`), []);
});

Deno.test("Temporaries takes another name where a cleaner removed its lock file before it was locked", () => {
  using folder = scratchFolder();
  const removed: string[] = [];
  const layer = new FaultyLayer((operation, path) => {
    // Between locking and looking: the moment a cleaner may have used.
    if (operation === "facts" && removed.length === 0) {
      removed.push(path);
      diskLayer.remove(path);
    }
    return undefined;
  });
  using temporaries = new Temporaries(layer, `${folder.path}/tmp`);
  const path = temporaries.next();
  notEqual(path.replace(/\.0$/, ".lock"), removed[0]);
  equal(names(`${folder.path}/tmp`).length, 1);
});

Deno.test("Temporaries leaves no lock behind when it is disposed of, and discard() hides nothing", () => {
  using folder = scratchFolder();
  {
    using temporaries = new Temporaries(diskLayer, `${folder.path}/tmp`);
    const path = temporaries.next();
    touch(path);
    temporaries.discard(path);
    temporaries.discard(path);
  }
  deepEqual(names(`${folder.path}/tmp`), []);
});
