import assert from "node:assert/strict";
import { digestOf } from "../lib/core/digest.ts";
import { generateSplit } from "../lib/benchmark/generate.ts";
import { writeTaskLines } from "../lib/benchmark/task_lines.ts";
import { contentOf, documented, run, TestBed } from "./_test_bed.ts";
import { audit } from "./audit.ts";

const bed = new TestBed();
const config = bed.config("tiny");
const output = `${bed.folder}/audit`;
const NAME = "v1.3-public-ready-audit";
const [TRACE, MANIFEST, VERIFICATION] = [
  `${NAME}.jsonl`,
  `${NAME}.manifest.json`,
  `${NAME}.verification.json`,
];
const call = (...args: readonly string[]) => run(audit, "-c", config, "-o", output, ...args);

/** Runs something with one file of the audit changed, and puts it back. */
async function edited(
  name: string,
  change: (text: string) => string,
  then: () => Promise<void>,
): Promise<void> {
  const path = `${output}/${name}`;
  const before = Deno.readTextFileSync(path);
  Deno.writeTextFileSync(path, change(before));
  try {
    await then();
  } finally {
    Deno.writeTextFileSync(path, before);
  }
}

Deno.test({
  name: "audit plays every test case by the public rule, plays it again, and only then says that it passed",
  permissions: documented(audit.spec, bed.folder),
  fn: async () => {
    const { exit, out } = await call("--json");
    assert.equal(exit, 0);
    const { passed, replayed, manifest } = JSON.parse(out);
    assert.deepEqual([passed, replayed.cases, manifest.successful_cases, manifest.task_success_rate], [
      true,
      10,
      10,
      1,
    ]);
    const files = contentOf(output);
    assert.deepEqual(Object.keys(files).sort(), [TRACE, MANIFEST, VERIFICATION].sort());
    assert.deepEqual(JSON.parse(files[VERIFICATION]!), {
      schema: "tracewright.public-audit-verification.v1",
      passed: true,
      state: "passed",
      trace_sha256: digestOf(files[TRACE]!),
      manifest_sha256: digestOf(files[MANIFEST]!),
    });
    assert.equal((await call()).exit, 0);
    assert.deepEqual(contentOf(output), files);
  },
});

Deno.test({
  name: "audit --verify-only checks what is there, reads only and writes nothing",
  permissions: { read: true, env: ["LOG_STREAM", "LOG_TOKENS"] },
  fn: async () => {
    const before = contentOf(output);
    const { exit, out } = await call("--verify-only");
    assert.equal(exit, 0);
    assert.match(out, /^R1-public-ready-greedy-v1: 10 of 10 cases succeeded/);
    assert.deepEqual(contentOf(output), before);
  },
});

Deno.test("audit --verify-only finds an edited trace, manifest and verdict", async () => {
  const finds = async (where: RegExp) => {
    const { exit, out, err } = await call("--verify-only");
    assert.deepEqual([exit, out], [1, ""]);
    assert.match(err, /\[audit_mismatch\]/);
    assert.match(err, where);
  };
  await edited(
    TRACE,
    (text) => text.replace('"success":true', '"success":false'),
    () => finds(/trace:1, case test-.*, field decisions\.\d+\.success/),
  );
  await edited(
    MANIFEST,
    (text) => text.replace('"successful_cases":10', '"successful_cases":9'),
    () => finds(/manifest, field successful_cases/),
  );
  await edited(VERIFICATION, (text) => text.replace("passed", "pending"), () => finds(/verification file/));
  assert.equal((await call("--verify-only")).exit, 0);
});

Deno.test("audit of an edited folder repairs nothing quietly: it is written anew as a whole", async () => {
  const before = contentOf(output);
  await edited(TRACE, (text) => text + "{}\n", async () => {
    assert.equal((await call()).exit, 0);
    assert.deepEqual(contentOf(output), before);
  });
});

Deno.test("audit refuses tasks of another seed, another size, or none", async () => {
  const file = `${bed.folder}/test.jsonl`;
  Deno.writeFileSync(file, writeTaskLines(generateSplit({ split: "test", size: 10, baseSeed: 5 })));
  const before = contentOf(output);
  const wrong = await call("--benchmark-test", file);
  assert.equal(wrong.exit, 1);
  assert.match(wrong.err, /\[other_benchmark\]\n.*case test-/);
  assert.match(
    (await call("--benchmark-test", file, "--base-seed", "5", "--size", "11")).err,
    /\[other_benchmark\]/,
  );
  assert.match((await call("--verify-only", "--base-seed", "5")).err, /\[audit_mismatch\]/);
  assert.equal((await call("--benchmark-test", `${bed.folder}/none`)).exit, 2);
  assert.deepEqual(contentOf(output), before);
  const other = `${bed.folder}/other`;
  assert.equal((await call("--benchmark-test", file, "--base-seed", "5", "-o", other)).exit, 0);
  assert.equal((await run(audit, "-c", config, "-o", `${bed.folder}/nothing`, "--verify-only")).exit, 2);
});
