import { deepEqual, ok, throws } from "node:assert/strict";
import { digestOf, hexOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { ACTION_SCHEMA, type ActionRecord, keyOf } from "./action_record.ts";
import { checkStore } from "./check_store.ts";
import { collectGarbage } from "./collect_garbage.ts";
import { soundLayer } from "./example_run.ts";
import { FaultyLayer, type Operation } from "./faulty_layer.ts";
import { diskLayer } from "./file_layer.ts";
import { scratchFolder } from "./scratch_folder.ts";
import { Store } from "./store.ts";
import { storeError } from "./store_error.ts";

const posix = Deno.build.os !== "windows";
const bytes = (text: string) => new TextEncoder().encode(text);
const TERABYTE = 2 ** 40;

const record: ActionRecord = {
  schema: ACTION_SCHEMA,
  stage: { name: "s", version: 1, code: digestOf("s") },
  numerics: ["n"],
  params: {},
  inputs: {},
};

/** A store with a blob that is the output of an action and has a name, and where these lie. */
function smallStore() {
  const folder = scratchFolder();
  const path = `${folder.path}/store`;
  {
    using store = Store.open(path, { layer: soundLayer });
    const out = { ...store.blobs.put(bytes("content")), media_type: "text/plain" };
    store.actions.publish(record, { out });
    store.refs.set("pins/x", out.digest);
  }
  const blob = `blobs/sha256/${hexOf(digestOf("content"))}`;
  return {
    path,
    outside: folder.path,
    blob,
    action: `actions/${hexOf(keyOf(record))}.json`,
    ref: "refs/pins/x",
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

/** What a check names, as `code path`, the path relative to the store. */
function named(
  path: string,
  { depth = "content", fault = () => undefined }: {
    depth?: "structure" | "content";
    fault?: (operation: Operation, path: string) => Error | undefined;
  } = {},
): string[] {
  const store = Store.open(path, { layer: new FaultyLayer(fault) });
  return checkStore(store, { depth }).problems.map((problem) => {
    ok(problem.message.startsWith(problem.code), problem.message);
    return `${problem.code} ${problem.path.slice(path.length + 1)}`;
  });
}

Deno.test("checkStore() names a folder where a file belongs, and a file where a folder does", () => {
  using store = smallStore();
  const { path, blob, action } = store;
  deepEqual(named(path), []);
  const replaced = (name: string, by: (path: string) => void, expected: readonly string[]) => {
    const aside = `${store.outside}/aside`;
    Deno.renameSync(`${path}/${name}`, aside);
    by(`${path}/${name}`);
    deepEqual(named(path), expected, name);
    Deno.removeSync(`${path}/${name}`, { recursive: true });
    Deno.renameSync(aside, `${path}/${name}`);
    deepEqual(named(path), []);
  };
  const folder = (target: string) => Deno.mkdirSync(target);
  const file = (target: string) => Deno.writeTextFileSync(target, "x");
  const missing = [`missing_blob ${action}`, "dangling_ref refs/pins/x"];
  for (const name of ["oci-layout", "index.json", "lock", action]) {
    replaced(name, folder, [`unexpected_file ${name}`]);
  }
  replaced(blob, folder, [
    `unexpected_file ${blob}`,
    `missing_blob ${action}`,
    "unexpected_file refs/pins/x",
  ]);
  for (const name of ["actions", "refs", "tmp"]) replaced(name, file, [`unexpected_file ${name}`]);
  replaced("blobs/sha256", file, [
    "unexpected_file blobs/sha256",
    `missing_blob ${action}`,
    "no_such_file refs/pins/x",
  ]);
  replaced("blobs", file, [
    "no_such_file blobs/sha256",
    "unexpected_file blobs",
    `missing_blob ${action}`,
    "no_such_file refs/pins/x",
  ]);
  replaced("blobs", folder, missing);
});

Deno.test("checkStore() names links and pipes and waits for none of them", { ignore: !posix }, () => {
  using store = smallStore();
  const { path, blob, action, ref } = store;
  const replaced = (
    name: string,
    by: (target: string, aside: string) => void,
    expected: readonly string[],
  ) => {
    const aside = `${store.outside}/aside`;
    Deno.renameSync(`${path}/${name}`, aside);
    by(`${path}/${name}`, aside);
    deepEqual(named(path), expected, name);
    const opened = Store.open(path, { layer: soundLayer });
    if (expected.length > 0) throws(() => collectGarbage(opened), name);
    Deno.removeSync(`${path}/${name}`);
    Deno.renameSync(aside, `${path}/${name}`);
    deepEqual(named(path), []);
  };
  const symlink = (target: string, aside: string) => Deno.symlinkSync(aside, target);
  const nowhere = (target: string) => Deno.symlinkSync(`${store.outside}/nowhere`, target);
  const pipe = (target: string) => {
    ok(new Deno.Command("mkfifo", { args: [target] }).outputSync().success);
  };
  for (const link of [symlink, nowhere]) {
    replaced(blob, link, [
      `symlink_not_allowed ${blob}`,
      `missing_blob ${action}`,
      `symlink_not_allowed ${ref}`,
    ]);
    replaced(action, link, [`symlink_not_allowed ${action}`]);
    replaced(ref, link, [`symlink_not_allowed ${ref}`]);
    replaced("refs/pins", link, ["symlink_not_allowed refs/pins"]);
  }
  replaced(blob, pipe, [`unexpected_file ${blob}`, `missing_blob ${action}`, `unexpected_file ${ref}`]);
  replaced(action, pipe, [`unexpected_file ${action}`]);
  replaced(ref, pipe, [`unexpected_file ${ref}`]);
  for (const name of ["oci-layout", "index.json"]) {
    Deno.renameSync(`${path}/${name}`, `${store.outside}/aside`);
    pipe(`${path}/${name}`);
    deepEqual(named(path), [`unexpected_file ${name}`]);
    Deno.removeSync(`${path}/${name}`);
    Deno.renameSync(`${store.outside}/aside`, `${path}/${name}`);
  }
  for (const folder of ["blobs/sha256", "actions", "refs", "tmp"]) {
    Deno.renameSync(`${path}/${folder}`, `${store.outside}/aside`);
    Deno.symlinkSync(`${store.outside}/aside`, `${path}/${folder}`);
    ok(named(path).includes(`symlink_not_allowed ${folder}`), folder);
    Deno.removeSync(`${path}/${folder}`);
    Deno.renameSync(`${store.outside}/aside`, `${path}/${folder}`);
  }
  deepEqual(named(path), []);
});

Deno.test(
  "checkStore() names a blob that can be changed by another name of its file",
  { ignore: !posix },
  () => {
    using store = smallStore();
    const { path, blob } = store;
    Deno.linkSync(`${path}/${blob}`, `${store.outside}/second`);
    deepEqual(named(path, { depth: "structure" }), [`blob_shared ${blob}`]);
    Deno.chmodSync(`${path}/${blob}`, 0o444); // what `--link` does
    deepEqual(named(path), []);
    Deno.chmodSync(`${path}/${blob}`, 0o464);
    deepEqual(named(path), [`blob_shared ${blob}`]);
    Deno.removeSync(`${store.outside}/second`);
    deepEqual(named(path), []);
    // One file under two digests is the wrong content for one of them.
    const other = `blobs/sha256/${"f".repeat(64)}`;
    Deno.linkSync(`${path}/${blob}`, `${path}/${other}`);
    deepEqual(
      named(path).sort(),
      [`blob_damaged ${other}`, ...[blob, other].map((name) => `blob_shared ${name}`)].sort(),
    );
  },
);

Deno.test("checkStore() names blobs and results whose names are spelt otherwise", () => {
  using store = smallStore();
  const { path } = store;
  const hex = hexOf(digestOf("another"));
  for (
    const name of [
      `blobs/sha256/${hex.toUpperCase()}`,
      `blobs/sha256/${hex.slice(1)}`,
      `blobs/sha256/${hex}0`,
      `blobs/sha256/${hex}.part`,
      `blobs/sha256/sha256-${hex}`,
      `blobs/SHA512`,
      `actions/${hex.toUpperCase()}.json`,
      `actions/${hex}`,
      `actions/${hex}.JSON`,
      "Index.json",
    ]
  ) {
    if (diskLayer.facts(`${path}/${name}`) !== undefined) continue; // where case does not count
    Deno.writeTextFileSync(`${path}/${name}`, "another");
    deepEqual(named(path), [`unexpected_file ${name}`]);
    Deno.removeSync(`${path}/${name}`);
  }
});

Deno.test("checkStore() names every name that leads elsewhere or is not the same on all systems", () => {
  using store = smallStore();
  const { path } = store;
  const odd = ["..x", ".hidden", "Pins2", "a b", "x".repeat(201), "-x", "é"];
  if (posix) odd.push("con", "a.", "a\\..\\b", "a\nb", "c:", "a\u202eb", "nul.txt", "*");
  for (const name of odd) {
    if (name !== "con" && name !== "nul.txt" && name.length < 200) {
      Deno.mkdirSync(`${path}/refs/${name}`);
      deepEqual(named(path), [`path_not_allowed refs/${name}`], "an empty folder");
      Deno.removeSync(`${path}/refs/${name}`);
    }
    for (const below of ["", "pins/"]) {
      Deno.writeTextFileSync(`${path}/refs/${below}${name}`, digestOf("content") + "\n");
      deepEqual(named(path), [`path_not_allowed refs/${below}${name}`]);
      const opened = Store.open(path, { layer: soundLayer });
      throws(() => collectGarbage(opened), (error) => hasCode(error, "path_not_allowed"));
      Deno.removeSync(`${path}/refs/${below}${name}`);
    }
  }
  // A name that holds a path: no digest, whatever lies there.
  for (const text of ["../../blobs\n", "sha256:../../../etc\n", `${digestOf("content")}\n\n`, "\0"]) {
    Deno.writeTextFileSync(`${path}/refs/odd`, text);
    deepEqual(named(path), ["bad_ref refs/odd"]);
  }
});

Deno.test("checkStore() names what cannot be read and goes on", () => {
  using store = smallStore();
  const { path, blob, action, ref } = store;
  const unreadable = (name: string) => (operation: Operation, at: string) =>
    at === `${path}/${name}` && (operation === "read" || operation === "list")
      ? storeError("not_readable", { message: "permission denied", path: at })
      : undefined;
  const finds = (name: string, ...expected: string[]) =>
    deepEqual(
      named(path, { fault: unreadable(name) }),
      expected.map((words) => `not_readable ${words}`),
      name,
    );
  finds(blob, ref, blob);
  finds(action, action);
  finds(ref, ref);
  for (const name of ["oci-layout", "index.json", "actions", "refs", "refs/pins", "tmp"]) finds(name, name);
  const hidden = named(path, { fault: unreadable("blobs/sha256") });
  deepEqual(hidden, ["not_readable blobs/sha256", `missing_blob ${action}`, `missing_blob ${ref}`]);
  // Of a store that cannot be listed nothing can be said.
  const closed = (_operation: Operation, at: string) =>
    at === path ? storeError("not_readable", { message: "permission denied" }) : undefined;
  throws(() => named(path, { fault: closed }), (error) => hasCode(error, "not_readable"));
});

Deno.test("checkStore() reads no record that is too large to be one", { ignore: !posix }, () => {
  using store = smallStore();
  const { path, action, ref } = store;
  for (
    const [name, code] of [[action, "bad_action"], [ref, "bad_ref"], ["index.json", "bad_manifest"]] as const
  ) {
    const content = Deno.readFileSync(`${path}/${name}`);
    Deno.truncateSync(`${path}/${name}`, TERABYTE);
    const read = (operation: Operation, at: string) => {
      ok(operation !== "read" || at !== `${path}/${name}`, "it was read");
      return undefined;
    };
    deepEqual(named(path, { fault: read }), [`${code} ${name}`]);
    Deno.truncateSync(`${path}/${name}`, 0);
    Deno.writeFileSync(`${path}/${name}`, content);
  }
});
