import assert from "node:assert/strict";
import { digestOf, hexOf } from "../lib/core/digest.ts";
import { Store } from "../lib/store/store.ts";
import { contentOf, documented, run, TestBed } from "./_test_bed.ts";
import { evaluate } from "./evaluate.ts";

const bed = new TestBed();
const config = bed.config("tiny");
const policy = bed.policy("policy", 1);
const output = `${bed.folder}/evaluation`;
const common = ["--store", bed.store, "-o", output, "--runtime", "reference", "--variant", "B"];

Deno.test({
  name: "evaluate writes traces, metrics and what they were made from, and the same bytes again",
  permissions: documented(evaluate.spec, bed.folder),
  fn: async () => {
    const args = [...common, "-c", config, "--checkpoint", policy];
    const { exit, out, err } = await run(evaluate, ...args, "--json");
    assert.equal(exit, 0, err);
    const result = JSON.parse(out);
    assert.equal(result.status, "written");
    const files = contentOf(output);
    assert.deepEqual(Object.keys(files).sort(), ["evaluation.json", "metrics.json", "traces.jsonl"]);
    assert.equal(files["traces.jsonl"]?.split("\n").length, 11);
    assert.deepEqual(JSON.parse(files["metrics.json"]!), result.metrics);
    assert.deepEqual(JSON.parse(files["evaluation.json"]!), result.evaluation);
    assert.equal(result.evaluation.inputs.policy, digestOf(Deno.readFileSync(policy)));

    const again = await run(evaluate, ...args, "--runtime", "native", "--json");
    assert.equal(JSON.parse(again.out).status, "unchanged");
    Deno.removeSync(`${output}/metrics.json`);
    const mended = await run(evaluate, ...args, "--json");
    assert.equal(JSON.parse(mended.out).status, "written");
    assert.deepEqual(contentOf(output), files);
  },
});

Deno.test("evaluate refuses a folder that holds the evaluation of other inputs, and leaves it as it is", async () => {
  const before = contentOf(output);
  const cases: readonly [string, string, RegExp][] = [
    [config, bed.policy("other", 2), /field inputs\.policy/],
    [bed.config("timeout", ["timeout_s: 80", "timeout_s: 79"]), policy, /field inputs\.config/],
    [bed.config("seed", [/benchmark_seed: \d+/, "benchmark_seed: 5"]), policy, /field inputs\.benchmark/],
    [bed.config("tests", ["test_tasks: 10", "test_tasks: 11"]), policy, /field inputs\.benchmark/],
  ];
  for (const [otherConfig, checkpoint, place] of cases) {
    const { exit, err } = await run(evaluate, ...common, "-c", otherConfig, "--checkpoint", checkpoint);
    assert.equal(exit, 2, err);
    assert.match(err, /\[other_inputs\]/);
    assert.match(err, place);
    assert.deepEqual(contentOf(output), before);
  }
  const foreign = `${bed.folder}/foreign`;
  Deno.mkdirSync(foreign);
  Deno.writeTextFileSync(`${foreign}/notes.txt`, "mine");
  const { exit, err } = await run(evaluate, ...common, "-c", config, "--checkpoint", policy, "-o", foreign);
  assert.equal(exit, 2, err);
  assert.deepEqual(contentOf(foreign), { "notes.txt": "mine" });
});

Deno.test("evaluate finds an edited trace, exits 1 and repairs nothing", async () => {
  const path = `${output}/traces.jsonl`;
  const traces = Deno.readTextFileSync(path);
  Deno.writeTextFileSync(path, traces.replace(/"success":(true|false)/, '"success":1'));
  const edited = contentOf(output);
  const { exit, err } = await run(evaluate, ...common, "-c", config, "--checkpoint", policy);
  assert.equal(exit, 1);
  assert.match(err, /\[evaluation_mismatch\]\n.*traces\.jsonl\n {2}seen: +sha256:\w+\n {2}expected: sha256:/);
  assert.deepEqual(contentOf(output), edited);
  Deno.writeTextFileSync(path, traces);
});

Deno.test("evaluate takes a checkpoint from the store by a unique prefix of its digest", async () => {
  using store = Store.open(bed.store);
  const { digest } = store.blobs.put(Deno.readFileSync(policy));
  const args = [...common, "-c", config, "--checkpoint"];
  for (const name of [digest, hexOf(digest), hexOf(digest).slice(0, 6)]) {
    const { exit, out } = await run(evaluate, ...args, name);
    assert.equal(exit, 0);
    assert.match(out, /the folder held the same bytes already/);
  }
  Deno.writeTextFileSync(store.blobs.blobPath(digest), "damaged");
  const damaged = await run(evaluate, ...args, digest);
  assert.equal(damaged.exit, 1);
  assert.match(damaged.err, /\[blob_damaged\]/);
});
