import assert from "node:assert/strict";
import { digestOf } from "../lib/core/digest.ts";
import { readTaskLines } from "../lib/benchmark/task_lines.ts";
import { contentOf, documented, run, TestBed } from "./_test_bed.ts";
import { generate } from "./generate.ts";

const bed = new TestBed();
const config = bed.config("tiny");
const output = `${bed.folder}/benchmark`;

Deno.test({
  name: "generate writes three splits and the manifest that it prints, and the same bytes again",
  permissions: documented(generate.spec, bed.folder),
  fn: async () => {
    const { exit, out, err } = await run(generate, "-c", config, "-o", output, "--json");
    assert.deepEqual([exit, err], [0, ""]);
    const first = contentOf(output);
    assert.deepEqual(Object.keys(first).sort(), ["dev.jsonl", "manifest.json", "test.jsonl", "train.jsonl"]);
    assert.equal(first["manifest.json"], out.trimEnd());
    const { files } = JSON.parse(out);
    for (const split of ["train", "dev", "test"]) {
      const bytes = Deno.readFileSync(`${output}/${split}.jsonl`);
      assert.equal(files[split].sha256, digestOf(bytes));
      assert.equal(readTaskLines(bytes).length, 10);
    }
    assert.equal((await run(generate, "-c", config, "-o", output)).exit, 0);
    assert.deepEqual(contentOf(output), first);
  },
});

Deno.test("generate replaces a benchmark of another seed as a whole", async () => {
  const before = contentOf(output);
  const other = bed.config("other", [/benchmark_seed: \d+/, "benchmark_seed: 5"]);
  const { exit, out } = await run(generate, "-c", other, "-o", output);
  assert.equal(exit, 0);
  assert.match(out, /, seed 5\n.*train {6}10 tasks, all solved by the oracle {2}sha256:/);
  const after = contentOf(output);
  for (const [name, text] of Object.entries(before)) assert.notEqual(after[name], text);
  assert.equal(Object.keys(after).length, 4);
});

Deno.test("generate with a bad config exits 2, says where, and writes nothing", async () => {
  for (
    const [from, to, code, hint] of [
      ["test_tasks: 10", "test_taks: 10", "unknown_key", 'did you mean "test_tasks"'],
      ["test_tasks: 10", 'test_tasks: "10"', "wrong_type", ""],
      ["timeout_s: 80", "timeout_s: .nan", "not_finite", ""],
      ["test_tasks: 10", "test_tasks: 0", "out_of_range", ""],
    ] as const
  ) {
    const bad = bed.config("bad", [from, to]);
    const { exit, out, err } = await run(generate, "-c", bad, "-o", `${bed.folder}/none`);
    assert.deepEqual([exit, out], [2, ""], err);
    assert.match(err, new RegExp(`\\[${code}\\]\n  where: .*bad\\.yaml:\\d+:\\d+`));
    assert.ok(err.includes(hint), err);
    assert.deepEqual(contentOf(`${bed.folder}/none`), {});
  }
});
