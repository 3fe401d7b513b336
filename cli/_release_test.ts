import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { canonicalBytes, canonicalJson } from "../lib/core/canonical_json.ts";
import { digestOf } from "../lib/core/digest.ts";
import { hasCode, TracewrightError } from "../lib/core/error.ts";
import { attestationsPath, writeAttestation } from "../lib/store/attestations.ts";
import { signEnvelope } from "../lib/store/dsse.ts";
import { exampleRun, soundLayer } from "../lib/store/example_run.ts";
import { packBundle } from "../lib/store/pack_bundle.ts";
import { readRun } from "../lib/store/read_run.ts";
import { generateKeyFiles, readSigningKey, type SigningKey } from "../lib/store/signing_key.ts";
import { provenanceStatement, testResultStatement } from "../lib/store/statement.ts";
import type { VerifyResult } from "../lib/verify/verify_run.ts";
import { checkRelease, pinsOf, type ReleasePins } from "./_release.ts";
import { verifyRelease } from "./verify_release.ts";
import { run as runCommand } from "./_test_bed.ts";

const key = await readSigningKey((await generateKeyFiles()).privateKey);
const other = await readSigningKey((await generateKeyFiles()).privateKey);

const VERDICT = {
  version: "0.1.0",
  runtime: "wasm",
  codes: digestOf("codes"),
  decisions: 12,
  passed: ["structure"],
  skipped: [],
  otherCode: [],
};

/** A release in a folder of its own, as the repository holds it, and what `verify` would say of it. */
async function release(
  { signer = key, kinds = "both" }: { signer?: SigningKey; kinds?: "both" | "one" } = {},
) {
  const example = exampleRun();
  const run = readRun(example.path);
  const statements = [provenanceStatement(run, { version: "0.1.0" }), testResultStatement(run, VERDICT)];
  for (const statement of kinds === "both" ? statements : statements.slice(1)) {
    writeAttestation(run, await signEnvelope(statement, signer), { layer: soundLayer });
  }
  const folder = example.directory.replace(/runs$/, "release");
  Deno.mkdirSync(folder);
  const file = `${folder}/small.tar.zst`;
  const { digest, size, members } = await packBundle(run, {
    target: file,
    transport: "zstd",
    attestations: "included",
    layer: soundLayer,
  });
  Deno.removeSync(`${folder}/.tmp`);
  Deno.writeTextFileSync(`${folder}/small.pub.pem`, key.verifying.pem);
  const bytes = Deno.readFileSync(file);
  const pins: ReleasePins = {
    bundle: {
      name: "small.tar.zst",
      size_bytes: bytes.length,
      digest: digestOf(bytes),
      archive: { digest, size_bytes: size, members },
    },
    run: { run_id: run.runId, result_id: run.resultId },
    signer: { name: "small.pub.pem", digest: digestOf(key.verifying.pem) },
    verification: { steps: ["structure"], decisions: 12 },
  };
  const list = (
    value: unknown = { "schema": "tracewright.release-allowlist.v1", "releases": { small: pins } },
  ) => Deno.writeFileSync(`${folder}/allowlist.json`, canonicalBytes(value));
  list();
  const result = {
    run_id: run.runId,
    result_id: run.resultId,
    runtime: "wasm",
    steps: [{ step: "structure", checked: "" }],
    skipped: [],
    other_code: [],
    decisions: 12,
  } as unknown as VerifyResult;
  const workspace = `${folder}/../workspace`;
  let verified = 0;
  return {
    folder,
    file,
    run,
    pins,
    list,
    pinned: (edited: unknown) =>
      list({ schema: "tracewright.release-allowlist.v1", releases: { small: edited } }),
    check: async (verdict: Partial<VerifyResult> = {}, name = "small") => {
      try {
        return await checkRelease({
          release: name,
          folder,
          workspace,
          layer: soundLayer,
          verify: (manifest) => {
            verified++;
            equal(readRun(manifest).runId, run.runId);
            return Promise.resolve({ ...result, ...verdict });
          },
        });
      } finally {
        throws(() => Deno.statSync(workspace), Deno.errors.NotFound);
      }
    },
    verified: () => verified,
    [Symbol.dispose]: () => example[Symbol.dispose](),
  };
}

Deno.test("checkRelease() accepts a release that is what the list says, and leaves nothing behind", async () => {
  using small = await release();
  const checked = await small.check();
  deepEqual(checked.pins, small.pins);
  equal(checked.key_id, key.verifying.id);
  equal(small.verified(), 1);
});

Deno.test("pinsOf() takes exactly the fields of the list, once each, at every level", async () => {
  using small = await release();
  const { pins } = small;
  const text = canonicalJson({ schema: "tracewright.release-allowlist.v1", releases: { small: pins } });
  const bytes = (content: string) => new TextEncoder().encode(content);
  deepEqual(pinsOf("small", bytes(text)), pins);
  const refuses = (content: string) =>
    throws(() => pinsOf("small", bytes(content)), (error) => hasCode(error, "bad_allowlist"), content);
  // One more field in each of the eight objects of the list, sorted in so that the form stays canonical.
  const opened = [...text.matchAll(/\{/g)].map(({ index }) => index);
  equal(opened.length, 8);
  for (const at of opened) {
    const edited = text.slice(0, at + 1) + '"a":1,' + text.slice(at + 1);
    refuses(canonicalJson(JSON.parse(edited)));
  }
  for (const field of ["url", "download_url"]) {
    refuses(
      canonicalJson({
        schema: "tracewright.release-allowlist.v1",
        releases: { small: { ...pins, bundle: { ...pins.bundle, [field]: "https://example.org/" } } },
      }),
    );
  }
  refuses(text + "\n");
  refuses(text.replace('"decisions":12', '"decisions":12,"decisions":12'));
  refuses(text.replace('"small":', '"small":{},"small":'));
  refuses(text.replace('"decisions":12', '"decisions":12.5'));
  refuses(text.replace('"decisions":12', '"decisions":true'));
  refuses(text.replace("small.tar.zst", "../small.tar.zst"));
  refuses(text.replace("small.pub.pem", "/small.pub.pem"));
  refuses(text.replace("allowlist.v1", "allowlist.v2"));
  refuses(text.replace(/sha256:./, "sha256:G"));
  refuses("{}");
  refuses("");
  for (const name of ["other", "", "__proto__", "constructor", "toString"]) {
    throws(() => pinsOf(name, bytes(text)), (error) => hasCode(error, "unknown_release"), name);
  }
});

Deno.test("checkRelease() looks at size and digest of the file before it decompresses a byte", async () => {
  using small = await release();
  const good = Deno.readFileSync(small.file);
  const refused = async (field: string) => {
    await rejects(
      small.check(),
      (error) => hasCode(error, "release_mismatch") && error.details["field"] === field,
      field,
    );
  };
  const longer = new Uint8Array(good.length + 1);
  longer.set(good);
  Deno.writeFileSync(small.file, longer);
  await refused("bundle.size_bytes");
  Deno.writeFileSync(small.file, good.subarray(1));
  await refused("bundle.size_bytes");
  Deno.writeFileSync(small.file, good.with(good.length - 1, good.at(-1)! ^ 1));
  await refused("bundle.digest");
  Deno.removeSync(small.file);
  await refused("bundle");
  Deno.mkdirSync(small.file);
  await refused("bundle");
  Deno.removeSync(small.file);
  if (Deno.build.os !== "windows") {
    Deno.writeFileSync(`${small.folder}/elsewhere`, good);
    Deno.symlinkSync(`${small.folder}/elsewhere`, small.file);
    await refused("bundle");
  }
  equal(small.verified(), 0);
});

Deno.test("checkRelease() holds each thing that is pinned against what is there", async () => {
  using small = await release();
  const { pins } = small;
  const zero = digestOf("another");
  const { bundle, run, signer, verification } = pins;
  const cases: [string, unknown][] = [
    ["bundle.digest", { ...pins, bundle: { ...bundle, digest: zero } }],
    ["bundle.archive", { ...pins, bundle: { ...bundle, archive: { ...bundle.archive, digest: zero } } }],
    ["run.run_id", { ...pins, run: { ...run, run_id: zero } }],
    ["run.result_id", { ...pins, run: { ...run, result_id: zero } }],
    ["signer.digest", { ...pins, signer: { ...signer, digest: zero } }],
    ["verification", { ...pins, verification: { ...verification, decisions: 13 } }],
    ["verification", { ...pins, verification: { ...verification, steps: ["structure", "policy"] } }],
  ];
  for (const [field, edited] of cases) {
    small.pinned(edited);
    await rejects(
      small.check(),
      (error) => hasCode(error, "release_mismatch") && error.details["field"] === field,
      field,
    );
  }
  const archive = (change: object) => ({
    ...pins,
    bundle: { ...bundle, archive: { ...bundle.archive, ...change } },
  });
  const { size_bytes, members } = bundle.archive;
  const limits: [string, unknown][] = [
    ["archive_too_large", archive({ size_bytes: size_bytes - 1 })],
    ["archive_too_many_members", archive({ members: members - 1 })],
    ["release_mismatch", archive({ size_bytes: size_bytes + 1 })],
    ["release_mismatch", archive({ members: members + 1 })],
  ];
  for (const [code, edited] of limits) {
    small.pinned(edited);
    await rejects(small.check(), (error) => hasCode(error, code), code);
  }
});

Deno.test("checkRelease() refuses a verifier that saw something else, and passes on what it found", async () => {
  using small = await release();
  const verdicts: Partial<VerifyResult>[] = [
    { run_id: digestOf("another") },
    { result_id: digestOf("another") },
    { decisions: 11 },
    { steps: [] },
  ];
  for (const verdict of verdicts) {
    await rejects(small.check(verdict), (error) => hasCode(error, "release_mismatch"));
  }
  equal(small.verified(), verdicts.length);
  const failing = checkRelease({
    release: "small",
    folder: small.folder,
    workspace: `${small.folder}/../w`,
    layer: soundLayer,
    verify: () => Promise.reject(new TracewrightError("trace_policy_mismatch")),
  });
  await rejects(failing, (error) => hasCode(error, "trace_policy_mismatch"));
  throws(() => Deno.statSync(`${small.folder}/../w`), Deno.errors.NotFound);
});

Deno.test("checkRelease() asks for both statements, signed with the pinned key", async () => {
  using foreign = await release({ signer: other });
  await rejects(foreign.check(), (error) => hasCode(error, "unknown_signer"));
  using half = await release({ kinds: "one" });
  await rejects(half.check(), (error) => hasCode(error, "missing_attestation"));
  using small = await release();
  Deno.writeTextFileSync(`${small.folder}/small.pub.pem`, other.verifying.pem);
  await rejects(
    small.check(),
    (error) => hasCode(error, "release_mismatch") && error.details["field"] === "signer.digest",
  );
  Deno.removeSync(`${small.folder}/small.pub.pem`);
  await rejects(small.check(), (error) => hasCode(error, "bad_allowlist"));
  ok(attestationsPath(small.run.path).endsWith(".attestations"));
  deepEqual([foreign.verified(), half.verified(), small.verified()], [0, 0, 0]);
});

Deno.test("verify-release takes a name, and no option that could weaken it", async () => {
  const bypasses = [
    "--allowlist=mine.json",
    "--folder=.",
    "--url=https://example.org/",
    "--key=mine.pem",
    "--skip-signature",
    "--no-verify",
    "--other-code",
    "--runtime=native",
    "--level=structure",
  ];
  for (const bypass of bypasses) {
    const { exit, err } = await runCommand(verifyRelease, "--release", "x", bypass);
    equal(exit, 2);
    ok(err.includes("unknown option"), err);
  }
  equal((await runCommand(verifyRelease)).exit, 2);
});
