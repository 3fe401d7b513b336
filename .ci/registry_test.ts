import assert from "node:assert/strict";
import { attestationsPath, readAttestations, writeAttestation } from "../lib/store/attestations.ts";
import { digestOf, hexOf } from "../lib/core/digest.ts";
import { signEnvelope } from "../lib/store/dsse.ts";
import { exampleRun } from "../lib/store/example_run.ts";
import { importLayout } from "../lib/store/import_layout.ts";
import { checkRunBlobs, checkRunViews, readRun } from "../lib/store/read_run.ts";
import { generateKeyFiles, readSigningKey } from "../lib/store/signing_key.ts";
import { provenanceStatement } from "../lib/store/statement.ts";

/**
 * A run and its attestation on their way through a real registry and back, moved by skopeo: every digest stays what it was.
 * Needs `apt-get install skopeo docker-registry`, and talks to localhost only.
 */

async function present(...programs: readonly string[]): Promise<boolean> {
  for (const program of programs) {
    try {
      await new Deno.Command(program, { args: ["--version"], stdout: "null", stderr: "null" }).output();
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  }
  return true;
}

const runnable = Deno.build.os === "linux" && await present("skopeo", "docker-registry");
if (!runnable) console.log("no skopeo and docker-registry here: the registry test is left out");

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** A registry with its data in a folder; gone at the end of the scope. */
async function registry(folder: string): Promise<AsyncDisposable & { readonly host: string }> {
  const host = `127.0.0.1:${freePort()}`;
  await Deno.writeTextFile(
    `${folder}/registry.yml`,
    `version: 0.1\nlog: {level: info, accesslog: {disabled: true}}\n` +
      `storage: {filesystem: {rootdirectory: "${folder}/registry"}}\nhttp: {addr: "${host}"}\n`,
  );
  const child = new Deno.Command("docker-registry", {
    args: ["serve", `${folder}/registry.yml`],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let log = "";
  for await (
    const chunk of child.stderr.pipeThrough(new TextDecoderStream()).values({ preventCancel: true })
  ) {
    log += chunk;
    if (log.includes("listening on")) break;
  }
  const stop = async () => {
    child.kill("SIGKILL");
    await child.stderr.cancel().catch(() => {});
    await child.status;
  };
  if (log.includes("listening on")) return { host, [Symbol.asyncDispose]: stop };
  await stop();
  throw new Error(`the registry did not start: ${log}`);
}

async function skopeo(folder: string, from: string, to: string): Promise<void> {
  const policy = `${folder}/policy.json`;
  await Deno.writeTextFile(policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
  const { success, stderr } = await new Deno.Command("skopeo", {
    args: ["--policy", policy, "copy", "--src-tls-verify=false", "--dest-tls-verify=false", from, to],
    stdout: "null",
    env: { XDG_RUNTIME_DIR: folder },
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

function blobs(layout: string): string[] {
  return [...Deno.readDirSync(`${layout}/blobs/sha256`)].map(({ name }) => {
    const digest = digestOf(Deno.readFileSync(`${layout}/blobs/sha256/${name}`));
    assert.equal(digest, `sha256:${name}`);
    return digest;
  }).sort();
}

Deno.test({
  name: "a run and its attestation keep every digest through skopeo and a registry and back",
  ignore: !runnable,
  fn: async () => {
    using example = exampleRun();
    const folder = await Deno.makeTempDir();
    try {
      await using server = await registry(folder);
      const run = readRun(example.path);
      const key = await readSigningKey((await generateKeyFiles()).privateKey);
      const envelope = await signEnvelope(provenanceStatement(run, { version: "0.1.0" }), key);
      const attestation = writeAttestation(run, envelope);
      const [read] = readAttestations(run);
      assert.ok(read);

      const name = `docker://${server.host}/tracewright/run`;
      const runTag = run.runId.slice("sha256:".length, "sha256:".length + 16);
      await skopeo(folder, `oci:${run.path}:${runTag}`, `${name}:${runTag}`);
      await skopeo(folder, `oci:${attestation}:${read.name}`, `${name}:${read.name}`);
      await skopeo(folder, `${name}:${runTag}`, `oci:${folder}/run:${runTag}`);
      await skopeo(folder, `${name}:${read.name}`, `oci:${folder}/attestation:${read.name}`);

      assert.deepEqual(blobs(`${folder}/run`), blobs(run.path));
      assert.deepEqual(blobs(`${folder}/attestation`), blobs(attestation));
      for (const [tag, digest] of [[runTag, run.runId], [read.name, read.digest]]) {
        const answer = await fetch(`http://${server.host}/v2/tracewright/run/manifests/${tag}`, {
          headers: { accept: "application/vnd.oci.image.manifest.v1+json" },
        });
        assert.equal(answer.headers.get("docker-content-digest"), digest);
        assert.equal(digestOf(new Uint8Array(await answer.arrayBuffer())), digest);
      }

      const back = importLayout(`${folder}/run`, { directory: `${folder}/runs` });
      assert.deepEqual([back.runId, back.resultId], [run.runId, run.resultId]);
      const imported = readRun(back.path);
      checkRunBlobs(imported);
      checkRunViews(imported);
      const fetched = Deno.readFileSync(`${folder}/attestation/blobs/sha256/${hexOf(digestOf(envelope))}`);
      writeAttestation(imported, fetched);
      assert.deepEqual(readAttestations(imported), readAttestations(run));
      assert.ok(attestationsPath(imported.path).startsWith(Deno.realPathSync(folder)));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
