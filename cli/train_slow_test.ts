import assert from "node:assert/strict";
import { documented, run, TestBed } from "./_test_bed.ts";
import { explain } from "./explain.ts";
import { train } from "./train.ts";

const bed = new TestBed();
const config = bed.config("tiny");
const common = ["--store", bed.store, "-o", bed.runs, "--workers", "1", "--runtime", "reference", "--json"];

Deno.test({
  name: "train runs one cell, prints the ids of its run, and takes it from the store the second time",
  permissions: documented(train.spec, bed.folder),
  fn: async () => {
    const { exit, out, err } = await run(train, "-c", config, "--variant", "b", "--seed", "5", ...common);
    assert.equal(exit, 0, err);
    const first = JSON.parse(out);
    assert.deepEqual([first.stages, first.cached, first.ran], [5, 0, 5]);
    assert.match(err, /^benchmark {2}[\d.]+ s\nbc\/5 /);
    const again = JSON.parse(
      (await run(train, "-c", config, "--variant", "B", "--seed", "5", ...common)).out,
    );
    assert.deepEqual([again.run_id, again.result_id, again.cached], [first.run_id, first.result_id, 5]);
    assert.equal(first.path, `${bed.runs}/${first.run_id.slice(7, 23)}`);
  },
});

Deno.test({
  name: "explain says why a stage ran and what made its key another one",
  permissions: documented(explain.spec, bed.folder),
  fn: async () => {
    const of = (...args: string[]) => run(explain, "--store", bed.store, ...args);
    const cell = bed.folder + "/cell.yaml";
    const { exit, out, err } = await of("-c", cell, "BC/5");
    assert.equal(exit, 0, err);
    assert.match(out, /^stage +bc, version 1\nnode +bc\/5\nkey +sha256:/);
    assert.match(out, /It ran because nothing of this stage had been recorded before\.\n$/);
    const digest = /output policy\.onnx +sha256:(\w+)/.exec(out)?.[1];
    assert.ok(digest);
    assert.equal((await of("-c", cell, digest.slice(0, 12))).out, out);

    const changed = await of("-c", bed.folder + "/slower.yaml", "bc/5");
    assert.match(changed.out, /It has to run because its key was new\. 1 field differs[^]*learning_rate/);
    const { nearest } = JSON.parse((await of("-c", bed.folder + "/slower.yaml", "bc/5", "--json")).out);
    assert.deepEqual(nearest.differences, [
      { field: "params.behaviour_cloning.learning_rate", earlier: "0.003", here: "0.002" },
    ]);
    const waits = await of("-c", bed.folder + "/slower.yaml", "evaluate/b/5");
    assert.equal(waits.exit, 2);
    assert.match(waits.err, /\[no_key_yet\]\n.*node evaluate\/b\/5, input policy\n[^]*hint: +explain bc\/5/);
  },
});
bed.config("cell", ["[17]", "[5]"]);
bed.config("slower", ["[17]", "[5]"], ["learning_rate: 0.003", "learning_rate: 0.002"]);

Deno.test("explain knows the ids that a run prints, and the nearest stage of a name that is nearly one", async () => {
  const of = (...args: string[]) => run(explain, "--store", bed.store, "-c", config, ...args);
  const trained = JSON.parse(
    (await run(train, "-c", config, "--variant", "b", "--seed", "5", ...common)).out,
  );
  for (const [id, is] of [[trained.run_id, "run"], [trained.result_id, "result"]] as const) {
    const { exit, out } = await of(id.slice(7, 19), "--json");
    assert.equal(exit, 0);
    const said = JSON.parse(out);
    assert.deepEqual([said.is, said.run, said.result], [is, trained.run_id, trained.result_id]);
  }
  const { exit, err } = await of("bc17");
  assert.deepEqual([exit, /did you mean bc\/\d+\?/.test(err)], [2, true], err);
});

Deno.test("explain exits 2 for what is nowhere, for nothing, and for too much", async () => {
  const of = (...args: string[]) => run(explain, "--store", bed.store, "-c", config, ...args);
  for (
    const [args, code] of [
      [["no/such/stage"], "reference_not_found"],
      [["ffff0000"], "reference_not_found"],
      [[], "bad_command_line"],
      [["bc/17", "--seeds"], "bad_command_line"],
    ] as const
  ) {
    const { exit, out, err } = await of(...args);
    assert.deepEqual([exit, out], [2, ""]);
    assert.ok(err.includes(`[${code}]`), err);
  }
});

Deno.test("explain --seeds prints the roots of the config with the paths below them", async () => {
  const { exit, out } = await run(explain, "-c", bed.folder + "/cell.yaml", "--seeds");
  assert.equal(exit, 0);
  assert.match(
    out,
    /\nbenchmark_seed 20260808\n[^]*\nrun_seeds 5\n[^]*\n {2}rollout \/ <iteration> \/ <episode> /,
  );
  const { roots } = JSON.parse((await run(explain, "--seeds", "--json")).out);
  assert.deepEqual(roots.map(({ root }: { root: string }) => root), [
    "benchmark_seed",
    "run_seeds",
    "bootstrap_seed",
  ]);
});

Deno.test("train exits 2 for an unknown variant or a bad config, before anything is written", async () => {
  const nowhere = ["--store", `${bed.folder}/none`, "-o", `${bed.folder}/none`];
  const variant = await run(train, ...nowhere, "--variant", "B-BC-Maks");
  assert.deepEqual([variant.exit, variant.out], [2, ""]);
  assert.match(variant.err, /did you mean B-BC-Mask/);
  const bad = bed.config("bad", ["gamma:", "gama:"]);
  assert.equal((await run(train, ...nowhere, "-c", bad)).exit, 2);
  assert.throws(() => Deno.statSync(`${bed.folder}/none`), Deno.errors.NotFound);
});
