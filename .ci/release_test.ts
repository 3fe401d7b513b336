import assert from "node:assert/strict";
import codes from "../lib/pipeline/codes.json" with { type: "json" };
import { checkRunBlobs, readRun } from "../lib/store/read_run.ts";
import { unpackBundle } from "../lib/store/unpack_bundle.ts";

/**
 * The release in fixtures/release, as a stranger checks it: with this program, and with openssl alone.
 */

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const FOLDER = `${ROOT}/fixtures/release`;
const AGAIN = "run: deno task release-fixture";

interface Allowlist {
  readonly releases: Readonly<
    Record<string, {
      readonly bundle: { readonly name: string };
      readonly signer: { readonly name: string };
      readonly run: { readonly run_id: string };
    }>
  >;
}

function allowlist(): Allowlist {
  const path = `${FOLDER}/allowlist.json`;
  try {
    return JSON.parse(Deno.readTextFileSync(path)) as Allowlist;
  } catch (error) {
    throw new Error(`there is no release in fixtures/release; ${AGAIN}`, { cause: error });
  }
}

async function ended(program: string, args: readonly string[]) {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd: ROOT,
    env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
  }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

Deno.test("release: the one in the fixtures was made by the code at hand", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, pins] of Object.entries(allowlist().releases)) {
      const target = `${folder}/${name}`;
      const { runId } = await unpackBundle({ bundle: `${FOLDER}/${pins.bundle.name}`, target });
      assert.equal(runId, pins.run.run_id);
      const run = readRun(target);
      checkRunBlobs(run);
      const current: Readonly<Record<string, { readonly code: string }>> = codes.stages;
      const stale = run.dag.nodes.filter(({ stage }) => current[stage.name]?.code !== stage.code)
        .map(({ id }) => id);
      assert.deepEqual(stale, [], `${name} was made by other code; ${AGAIN}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("release: verify-release accepts it with reading, and writing below artifacts, as its only permissions", async () => {
  for (const name of Object.keys(allowlist().releases)) {
    const { code, out, err } = await ended(Deno.execPath(), [
      "run",
      "--cached-only",
      "--frozen",
      "--no-remote",
      "--no-prompt",
      "--allow-read",
      "--allow-write=artifacts",
      "cli/verify_release.ts",
      "--release",
      name,
    ]);
    assert.equal(code, 0, err);
    assert.match(out, new RegExp(`\\nrelease +${name} is good\\n$`));
    const left = [...Deno.readDirSync(`${ROOT}/artifacts`)].filter((entry) =>
      entry.name.startsWith("release-")
    );
    assert.deepEqual(left, []);
  }
});

Deno.test({
  name: "release: openssl alone says who signed it, and about which run",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    const folder = await Deno.makeTempDir();
    try {
      for (const [name, pins] of Object.entries(allowlist().releases)) {
        const target = `${folder}/${name}`;
        await unpackBundle({ bundle: `${FOLDER}/${pins.bundle.name}`, target });
        const attestations = [...Deno.readDirSync(`${target}.attestations`)];
        assert.equal(attestations.length, 2);
        for (const attestation of attestations) {
          const envelope = `${target}.attestations/${attestation.name}/envelope.json`;
          const key = `${FOLDER}/${pins.signer.name}`;
          const script = [`${ROOT}/fixtures/verify-signature.sh`, key, envelope];
          const good = await ended("sh", [...script, `${target}/manifest.json`]);
          assert.equal(good.code, 0, good.err);
          assert.ok(good.out.includes(pins.run.run_id.slice("sha256:".length)));
          assert.equal((await ended("sh", [...script, `${target}/report.md`])).code, 1);
        }
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
