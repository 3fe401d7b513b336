import assert from "node:assert/strict";
import { hexOf } from "../lib/core/digest.ts";
import { outputDigests } from "../lib/store/manifest.ts";
import { readRun } from "../lib/store/read_run.ts";
import { documented, run, TestBed } from "./_test_bed.ts";
import { train } from "./train.ts";
import { verify } from "./verify.ts";

const bed = new TestBed();
const common = ["--store", bed.store, "-o", bed.runs, "--workers", "1", "--runtime", "reference", "--json"];
const made = await run(train, "-c", bed.config("tiny"), "--variant", "B", ...common);
const good = made.exit === 0 ? JSON.parse(made.out).path as string : "";

function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to);
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyFolder(`${from}/${name}`, `${to}/${name}`);
    else Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

/** The file of an output's blob inside a run, by `<node>/<output>`. */
function blobOf(title: string): string {
  const digest = outputDigests(readRun(good).dag)[title];
  assert.ok(digest, title);
  return `blobs/sha256/${hexOf(digest)}`;
}

/** Changes one byte of a file in the middle. */
function flip(path: string): void {
  const bytes = Deno.readFileSync(path);
  bytes[bytes.length >> 1]! ^= 1;
  Deno.writeFileSync(path, bytes);
}

function editText(path: string, from: string | RegExp, to: string): void {
  const text = Deno.readTextFileSync(path);
  assert.notEqual(text.replace(from, to), text);
  Deno.writeTextFileSync(path, text.replace(from, to));
}

interface Damage {
  readonly name: string;
  readonly step: string;
  readonly code: string;
  /** What the message must say of the place and of both values. */
  readonly says: RegExp;
  damage(folder: string): void;
}

const BOTH = /\n {2}seen: +\S[^]*\n {2}expected: +\S/;

const DAMAGES: readonly Damage[] = [
  {
    name: "a missing blob",
    step: "completeness",
    code: "missing_blob",
    says: /blobs\/sha256\/\w{64}/,
    damage: (folder) => Deno.removeSync(`${folder}/${blobOf("bc/17/policy.onnx")}`),
  },
  {
    name: "a damaged trace blob",
    step: "completeness",
    code: "blob_damaged",
    says: BOTH,
    damage: (folder) => flip(`${folder}/${blobOf("evaluate/b/17/traces.jsonl")}`),
  },
  {
    name: "a damaged checkpoint",
    step: "completeness",
    code: "blob_damaged",
    says: BOTH,
    damage: (folder) => flip(`${folder}/${blobOf("bc/17/checkpoint.bin")}`),
  },
  {
    name: "a damaged config",
    step: "structure",
    code: "blob_damaged",
    says: BOTH,
    damage: (folder) => flip(`${folder}/blobs/sha256/${hexOf(readRun(good).dag.config)}`),
  },
  {
    name: "an edited manifest",
    step: "structure",
    code: "bad_manifest",
    says: BOTH,
    damage: (folder) => editText(`${folder}/manifest.json`, /"size":\d/, '"size":9'),
  },
  {
    name: "a manifest that is JSON in another form",
    step: "structure",
    code: "not_canonical",
    says: BOTH,
    damage: (folder) => editText(`${folder}/manifest.json`, "{", "{ "),
  },
  {
    name: "an edited trace",
    step: "completeness",
    code: "view_mismatch",
    says: /traces\/b\/17\.jsonl[^]*\n {2}seen: +sha256:\w+\n {2}expected: +sha256:/,
    damage: (folder) => editText(`${folder}/traces/b/17.jsonl`, /"success":(true|false)/, '"success":1'),
  },
  {
    name: "a missing view",
    step: "completeness",
    code: "missing_file",
    says: /report\.md/,
    damage: (folder) => Deno.removeSync(`${folder}/report.md`),
  },
  {
    name: "a file that belongs to nothing",
    step: "structure",
    code: "unexpected_file",
    says: /notes\.txt/,
    damage: (folder) => Deno.writeTextFileSync(`${folder}/notes.txt`, "mine"),
  },
];

for (const { name, step, code, says, damage } of DAMAGES) {
  Deno.test(`verify refuses ${name}, and names the step, the place and both values`, async () => {
    assert.equal(made.exit, 0, made.err);
    const folder = `${bed.folder}/damaged`;
    copyFolder(good, folder);
    try {
      damage(folder);
      const { exit, out, err } = await run(verify, "--manifest", `${folder}/manifest.json`);
      assert.deepEqual([exit, out], [1, ""], err);
      assert.ok(err.includes(`[${code}]`), err);
      assert.match(err, new RegExp(`\n  where: +verify_step ${step}\\b`));
      assert.match(err, says);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  });
}

Deno.test({
  name: "verify finds a run by a prefix of its id, reads only, and says what each step looked at",
  permissions: documented(verify.spec, bed.folder),
  fn: async () => {
    const prefix = good.slice(-16, -8);
    const { exit, out, err } = await run(verify, "--manifest", prefix, "--runs", bed.runs);
    assert.equal(exit, 0, err);
    assert.match(out, /^structure +ok {2}5 stages as the config plans them\ncompleteness +ok /);
    assert.match(out, /\nclaim +ok {2}report written again\n[^]*\nverified {2}sha256:\w{64}\n$/);
  },
});

Deno.test("verify exits 2 where there is no such run", async () => {
  for (const manifest of [`${bed.folder}/none/manifest.json`, "ffffffff", "no id"]) {
    const { exit, out, err } = await run(verify, "--manifest", manifest, "--runs", bed.runs);
    assert.deepEqual([exit, out], [2, ""], err);
    assert.match(err, /\[run_not_found\]/);
  }
});
