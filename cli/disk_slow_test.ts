import assert from "node:assert/strict";
import { Store } from "../lib/store/store.ts";
import { run, TestBed } from "./_test_bed.ts";
import { train } from "./train.ts";

/** Real file systems that are full or read-only. Only the system's administrator may make them. */

const bed = new TestBed();
const disk = `${bed.folder}/disk`;
const config = bed.config("tiny");

async function succeeds(...command: readonly [string, ...string[]]): Promise<boolean> {
  const [program, ...args] = command;
  try {
    return (await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false; // no such program
  }
}

Deno.mkdirSync(disk);
const mayMount = Deno.build.os === "linux" &&
  await succeeds("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk);
if (mayMount) Deno.test.afterAll(() => succeeds("umount", "--lazy", disk).then(() => {}));
else console.log("no tmpfs may be mounted here: the tests of full and read-only disks are left out");

const trained = () =>
  run(
    train,
    ...["-c", config, "--variant", "B", "--store", `${disk}/store`, "-o", `${disk}/runs`],
    ...["--workers", "1", "--runtime", "reference", "--json"],
  );

/** Every blob of the store has the content that its name stands for. */
function checkStore(): number {
  using store = Store.open(`${disk}/store`);
  const digests = store.blobs.list();
  for (const digest of digests) store.blobs.read(digest);
  store.actions.list();
  return digests.length;
}

Deno.test({
  name: "a full disk ends a run with exit 3, the store stays good, and the next run goes on from there",
  ignore: !mayMount,
  fn: async () => {
    const { exit, out, err } = await trained();
    assert.equal(exit, 3, out + err);
    assert.match(err, /\[disk_full\]\n {2}where: [^]*hint: +free some space and run the same command again/);
    const kept = checkStore();
    assert.ok(kept > 0);
    assert.ok(await succeeds("mount", "-o", "remount,size=50m", disk));
    const again = await trained();
    assert.equal(again.exit, 0, again.err);
    assert.ok(JSON.parse(again.out).cached > 0);
    assert.ok(checkStore() >= kept);
  },
});

Deno.test({
  name: "a read-only disk ends a run with exit 3 where something has to be written",
  ignore: !mayMount,
  fn: async () => {
    const files = checkStore();
    assert.ok(await succeeds("mount", "-o", "remount,ro", disk));
    const other = bed.config("other", [/benchmark_seed: \d+/, "benchmark_seed: 5"]);
    const { exit, err } = await run(
      train,
      ...["-c", other, "--variant", "B", "--store", `${disk}/store`, "-o", `${disk}/runs`, "--workers", "1"],
    );
    assert.equal(exit, 3, err);
    assert.match(err, /\[read_only\]\n {2}where: [^]*hint: +give write permission/);
    assert.equal(checkStore(), files);
  },
});
