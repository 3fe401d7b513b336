import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { canonicalBytes, canonicalJson, type JsonObject, parseCanonical } from "../core/canonical_json.ts";
import { digestOf, hexOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { type Attestation, attestationsPath, readAttestations, writeAttestation } from "./attestations.ts";
import { toBase64 } from "./base64.ts";
import type { BundleCode } from "./bundle_error.ts";
import { parseEnvelope, signEnvelope, verifyEnvelope } from "./dsse.ts";
import { exampleRun, soundLayer } from "./example_run.ts";
import { CHANGES, FaultyLayer } from "./faulty_layer.ts";
import { diskLayer } from "./file_layer.ts";
import { readRun, type Run } from "./read_run.ts";
import { scratchFolder } from "./scratch_folder.ts";
import { generateKeyFiles, readSigningKey } from "./signing_key.ts";
import { provenanceStatement, testResultStatement } from "./statement.ts";
import { storeError } from "./store_error.ts";

const decoder = new TextDecoder();
const keyFiles = await generateKeyFiles();
const key = await readSigningKey(keyFiles.privateKey);
const other = await readSigningKey((await generateKeyFiles()).privateKey);

const VERDICT = {
  version: "0.1.0",
  runtime: "wasm",
  codes: digestOf("codes"),
  decisions: 12,
  passed: ["structure", "keys"],
  skipped: ["training"],
  otherCode: [],
};

/** A run with a provenance and a test result beside it. */
async function signedRun() {
  const example = exampleRun();
  const run = readRun(example.path);
  const provenance = await signEnvelope(provenanceStatement(run, { version: "0.1.0" }), key);
  const verdict = await signEnvelope(testResultStatement(run, VERDICT), key);
  const paths = [provenance, verdict].map((envelope) =>
    writeAttestation(run, envelope, { layer: soundLayer })
  );
  return { run, paths, provenance, verdict, [Symbol.dispose]: () => example[Symbol.dispose]() };
}

function refuses(run: Run, code: BundleCode, note = ""): void {
  throws(() => readAttestations(run), (error) => hasCode(error, code), note);
}

/** The statement of a run, changed and signed again by whoever holds a key. */
async function forgery(run: Run, edit: (statement: JsonObject) => unknown): Promise<Uint8Array<ArrayBuffer>> {
  const statement = parseCanonical(provenanceStatement(run, { version: "0.1.0" })) as JsonObject;
  return await signEnvelope(canonicalBytes(edit(statement)), key);
}

Deno.test("attestations lie beside the run, are read back, and leave the run as it was", async () => {
  using signed = await signedRun();
  const { run, paths } = signed;
  const [first, second] = readAttestations(run);
  ok(first && second);
  deepEqual([first, second].map(({ name }) => `${attestationsPath(run.path)}/${name}`), paths.toSorted());
  const kinds = [first, second].map(({ statement }) => statement.predicateType).sort();
  deepEqual(kinds, ["https://in-toto.io/attestation/test-result/v0.1", "https://slsa.dev/provenance/v1"]);
  for (const { envelope } of [first, second]) {
    await verifyEnvelope(envelope, key.verifying);
    await rejects(verifyEnvelope(envelope, other.verifying), (error) => hasCode(error, "unknown_signer"));
    await rejects(
      verifyEnvelope({ ...envelope, keyId: other.verifying.id }, other.verifying),
      (error) => hasCode(error, "bad_signature"),
    );
  }
  equal(readRun(run.path).runId, run.runId);
  equal(writeAttestation(run, signed.provenance), paths[0]); // again, and nothing changes
  equal(readAttestations(run).length, 2);
});

Deno.test("an attestation is an OCI manifest whose subject is the run's manifest", async () => {
  using signed = await signedRun();
  const [path = ""] = signed.paths;
  const manifest = Deno.readFileSync(`${path}/manifest.json`);
  const { subject, config, layers, artifactType } = parseCanonical(manifest) as Record<string, JsonObject>;
  const runManifest = Deno.readFileSync(`${signed.run.path}/manifest.json`);
  deepEqual([subject?.["digest"], subject?.["size"]], [digestOf(runManifest), runManifest.length]);
  equal(artifactType, "application/vnd.in-toto+json");
  equal(config?.["digest"], digestOf("{}"));
  equal((layers as unknown as JsonObject[])[0]?.["digest"], digestOf(signed.provenance));
  ok(path.endsWith("/" + hexOf(digestOf(manifest)).slice(0, 16)));
  const blobs = diskLayer.list(`${path}/blobs/sha256`).map(({ name }) => `sha256:${name}`);
  deepEqual(blobs, [digestOf("{}"), digestOf(signed.provenance), digestOf(manifest)].sort());
});

Deno.test("provenanceStatement() is a function of run and version, and has no clock of its own", () => {
  using example = exampleRun();
  const run = readRun(example.path);
  const statement = provenanceStatement(run, { version: "0.1.0" });
  deepEqual(statement, provenanceStatement(readRun(example.path), { version: "0.1.0" }));
  const digest = (text: string) => ({ sha256: hexOf(digestOf(text)) });
  deepEqual(parseCanonical(statement), {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: "manifest.json", digest: { sha256: hexOf(run.runId) } }],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "pkg:npm/%40tracewright/tracewright#experiment/v1",
        externalParameters: { config: digest('{"seed":17}'), roots: ["report"] },
        internalParameters: { numerics: ["n"] },
        resolvedDependencies: [
          { name: "config.json", digest: digest('{"seed":17}') },
          { name: "stage/data@1", digest: digest("data") },
          { name: "stage/report@1", digest: digest("report") },
        ],
      },
      runDetails: {
        builder: { id: "pkg:npm/%40tracewright/tracewright@0.1.0" },
        metadata: { invocationId: hexOf(run.runId) },
        byproducts: [{ name: "result_id", digest: { sha256: hexOf(run.resultId) } }],
      },
    },
  });
  const timed = provenanceStatement(run, { version: "0.1.0", finishedOn: "2026-01-02T03:04:05Z" });
  ok(decoder.decode(timed).includes('"finishedOn":"2026-01-02T03:04:05Z"'));
  throws(() => provenanceStatement(run, { version: "0.1.0", finishedOn: "yesterday" }));
});

Deno.test("testResultStatement() warns where other code gave the same bytes", () => {
  using example = exampleRun();
  const run = readRun(example.path);
  const predicate = (verdict: typeof VERDICT | Parameters<typeof testResultStatement>[1]) =>
    (parseCanonical(testResultStatement(run, verdict)) as Record<string, JsonObject>)["predicate"];
  deepEqual([predicate(VERDICT)?.["result"], predicate(VERDICT)?.["passedTests"]], [
    "PASSED",
    ["structure", "keys"],
  ]);
  const warned = predicate({ ...VERDICT, otherCode: ["ppo/e/17"] });
  deepEqual([warned?.["result"], warned?.["warnedTests"], warned?.["passedTests"]], ["WARNED", ["keys"], [
    "structure",
  ]]);
});

Deno.test("a statement that says of the run what is not so is refused, whoever signed it", async () => {
  using signed = await signedRun();
  const { run } = signed;
  const replaced = (from: RegExp | string, to: string) => (statement: JsonObject) =>
    JSON.parse(canonicalJson(statement).replaceAll(from, to));
  const edits: ((statement: JsonObject) => unknown)[] = [
    replaced(hexOf(run.runId), "0".repeat(64)),
    replaced(hexOf(run.resultId), "0".repeat(64)),
    replaced(hexOf(run.dag.config), "0".repeat(64)),
    replaced("stage/data@1", "stage/data@2"),
    replaced('"roots":["report"]', '"roots":[]'),
    replaced('"numerics":["n"]', '"numerics":[]'),
    replaced("experiment/v1", "experiment/v2"),
    replaced("%40tracewright/tracewright@0.1.0", "%40other/tracewright@0.1.0"),
    replaced("https://slsa.dev/provenance/v1", "https://slsa.dev/provenance/v2"),
    (statement) => ({ ...statement, more: 1 }),
    (statement) => ({ ...statement, subject: [] }),
    (statement) => ({ ...statement, _type: "https://in-toto.io/Statement/v0.1" }),
    () => [],
  ];
  for (const edit of edits) {
    const envelope = await forgery(run, edit);
    throws(() => writeAttestation(run, envelope), (error) => hasCode(error, "bad_attestation"), String(edit));
  }
  equal(readAttestations(run).length, 2);
});

Deno.test("parseEnvelope() takes one spelling of an envelope with one signature", async () => {
  using signed = await signedRun();
  const text = decoder.decode(signed.provenance);
  const edited = (edit: (envelope: { [name: string]: unknown }) => void) => {
    const envelope = JSON.parse(text);
    edit(envelope);
    return canonicalJson(envelope);
  };
  const [signature] = JSON.parse(text).signatures;
  const wrong = [
    "",
    "{}",
    text + "\n",
    " " + text,
    text.replace("{", '{"payload":"",'),
    text.replace("/vnd", "\\/vnd"),
    edited((envelope) => envelope["signatures"] = []),
    edited((envelope) => envelope["signatures"] = [signature, signature]),
    edited((envelope) => envelope["signatures"] = [{ ...signature, cert: "x" }]),
    edited((envelope) => envelope["signatures"] = [{ ...signature, keyid: "mine" }]),
    edited((envelope) => envelope["payloadType"] = "text/plain"),
    edited((envelope) => envelope["payload"] = `${envelope["payload"]}`.replace(/=*$/, "\n")),
    edited((envelope) => envelope["payload"] = "?"),
    edited((envelope) => envelope["more"] = 1),
    JSON.stringify({ ...JSON.parse(text), payload: toBase64(new Uint8Array(800_000)) }),
  ];
  for (const one of wrong) {
    throws(
      () => parseEnvelope(new TextEncoder().encode(one)),
      (error) => hasCode(error, "bad_envelope"),
      one,
    );
  }
});

Deno.test("readAttestations() refuses a change to any byte of any file, and whatever does not belong", async () => {
  using signed = await signedRun();
  const { run, paths: [path = ""] } = signed;
  const names = [
    "envelope.json",
    "index.json",
    "manifest.json",
    "oci-layout",
    ...diskLayer.list(`${path}/blobs/sha256`).map(({ name }) => `blobs/sha256/${name}`),
  ];
  for (const name of names) {
    const content = Deno.readFileSync(`${path}/${name}`);
    for (const edit of [content.with(0, content[0]! ^ 1), content.subarray(1)]) {
      Deno.writeFileSync(`${path}/${name}`, edit);
      refuses(run, name === "envelope.json" ? "bad_envelope" : "bad_attestation", name);
    }
    Deno.removeSync(`${path}/${name}`);
    refuses(run, "bad_attestation", `${name} is gone`);
    if (Deno.build.os !== "windows") {
      Deno.symlinkSync(`${run.path}/manifest.json`, `${path}/${name}`);
      refuses(run, "bad_attestation", `${name} is a link`);
      Deno.removeSync(`${path}/${name}`);
    }
    Deno.writeFileSync(`${path}/${name}`, content);
  }
  for (const name of ["notes.txt", "blobs/x", "blobs/sha256/x", "../notes.txt"]) {
    Deno.writeTextFileSync(`${path}/${name}`, "");
    refuses(run, "bad_attestation", name);
    Deno.removeSync(`${path}/${name}`);
  }
  Deno.renameSync(path, `${path}0`);
  refuses(run, "bad_attestation", "another name");
  Deno.renameSync(`${path}0`, path);
  equal(readAttestations(run).length, 2);
});

Deno.test("an attestation of another run is refused", async () => {
  using signed = await signedRun();
  using example = exampleRun();
  Deno.writeTextFileSync(`${example.path}/report.html`, "");
  const run = readRun(example.path);
  const moved = (run: Run): Run => ({ ...run, runId: digestOf("another run") });
  throws(
    () => writeAttestation(moved(run), signed.provenance),
    (error) => hasCode(error, "bad_attestation") && error.details["field"] === "subject",
  );
});

Deno.test("writeAttestation() leaves an attestation or none, whatever operation the process ends before", async () => {
  using signed = await signedRun();
  const { run, provenance } = signed;
  let total = Infinity;
  for (let end = 0; end < total; end++) {
    Deno.removeSync(attestationsPath(run.path), { recursive: true });
    let count = 0;
    const layer = new FaultyLayer((operation) => {
      if (CHANGES.has(operation)) count++;
      return count > end ? storeError("io_error", { message: "the process has ended" }) : undefined;
    });
    try {
      writeAttestation(run, provenance, { layer });
      total = end;
    } catch (error) {
      ok(hasCode(error, "io_error"));
    }
    layer.die();
    const found: Attestation[] = readAttestations(run);
    ok(found.length <= 1);
    equal(writeAttestation(run, provenance, { layer: soundLayer }), signed.paths[0]);
    equal(readRun(run.path).runId, run.runId);
  }
  ok(total > 20 && total < 100);
});

Deno.test({
  name: "verify-signature.sh accepts with openssl what signEnvelope() made, and refuses what was changed",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const script = decodeURIComponent(
      new URL("../../fixtures/verify-signature.sh", import.meta.url).pathname,
    );
    const present = await new Deno.Command("openssl", { args: ["version"] }).output().catch(() => undefined);
    if (present === undefined) return;
    using signed = await signedRun();
    using folder = scratchFolder();
    const [path = ""] = signed.paths;
    const at = (name: string, content: string | Uint8Array) => {
      const file = `${folder.path}/${name}`;
      Deno.writeFileSync(file, typeof content === "string" ? new TextEncoder().encode(content) : content);
      return file;
    };
    const check = async (...args: string[]) => {
      const { code, stdout } = await new Deno.Command("sh", { args: [script, ...args], stderr: "null" })
        .output();
      return { code, out: decoder.decode(stdout) };
    };
    const publicKey = at("key.pem", keyFiles.publicKey);
    const otherKey = at("other.pem", other.verifying.pem);
    const envelope = `${path}/envelope.json`;
    const manifest = `${signed.run.path}/manifest.json`;
    const statement = decoder.decode(provenanceStatement(signed.run, { version: "0.1.0" }));
    deepEqual(await check(publicKey, envelope), { code: 0, out: statement + "\n" });
    deepEqual(await check(publicKey, envelope, manifest), { code: 0, out: statement + "\n" });
    equal((await check(publicKey)).code, 2);
    const text = decoder.decode(signed.provenance);
    const resigned = await signEnvelope(provenanceStatement(signed.run, { version: "0.2.0" }), other);
    const wrong = [
      [otherKey, envelope],
      [publicKey, at("a.json", resigned)],
      [publicKey, at("b.json", decoder.decode(resigned).replace(other.verifying.id, key.verifying.id))],
      [publicKey, at("c.json", text.replace("eyJ", "eyK"))],
      [publicKey, at("d.json", text.replace('"}]}', '"},{}]}'))],
      [publicKey, at("e.json", text + "\n" + text)],
      [publicKey, at("f.json", "")],
      [publicKey, `${folder.path}/absent.json`],
      [publicKey, envelope, `${path}/manifest.json`],
    ];
    for (const args of wrong) deepEqual(await check(...args), { code: 1, out: "" }, args.join(" "));
  },
});

Deno.test("an attestation that is wrong in thousands of places is refused in a few words", async () => {
  using example = exampleRun();
  const run = readRun(example.path);
  const many = { numerics: Array(5000).fill(1) };
  const bytes = await forgery(run, (statement) => {
    const predicate = statement["predicate"] as JsonObject;
    const definition = { ...predicate["buildDefinition"] as JsonObject, internalParameters: many };
    return { ...statement, predicate: { ...predicate, buildDefinition: definition } };
  });
  const brief = (code: BundleCode, field: string) => (error: unknown) => {
    ok(hasCode(error, code), String(error));
    equal(error.details["field"], field);
    return error.message.length < 1000;
  };
  const field = "predicate.buildDefinition.internalParameters.numerics.0";
  throws(() => writeAttestation(run, bytes, { layer: soundLayer }), brief("bad_attestation", field));
  const keys = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`unknown-${i}`, i]));
  throws(() => parseEnvelope(canonicalBytes(keys)), brief("bad_envelope", "payload"));
});
