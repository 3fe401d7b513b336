/**
 * Makes the release that lies in fixtures/release: runs smoke in a folder of its own, signs and attests the run, packs it,
 * writes bundle, public key and the pins of the allowlist, and checks all of it with `verify-release`.
 *
 *     deno task release-fixture               signs with a new key, whose private half is gone afterwards
 *     deno task release-fixture --key FILE    signs with a private key of yours (PKCS #8 in PEM)
 *
 * Needed whenever a stage's code has changed: the release was then made by code that is no longer at hand.
 */
import { canonicalBytes, parseCanonical } from "../lib/core/canonical_json.ts";
import { digestOf } from "../lib/core/digest.ts";
import { readSigningKey } from "../lib/store/signing_key.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const FOLDER = `${ROOT}/fixtures/release`;
const NAME = "smoke-v0.1.0";
const SCHEMA = "tracewright.release-allowlist.v1";

interface Printed {
  readonly run_id: string;
  readonly result_id: string;
  readonly path: string;
  readonly digest: string;
  readonly size: number;
  readonly members: number;
  readonly verification: { readonly steps: readonly { readonly step: string }[]; readonly decisions: number };
}

/** What a command of ours prints with --json; each prints some of the fields. */
async function tracewright(...args: string[]): Promise<Printed> {
  console.log(`tracewright ${args.slice(0, 2).join(" ")}`);
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--frozen", "--no-prompt", "-A", "cli/main.ts", ...args, "--json"],
    cwd: ROOT,
    env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
    stderr: "inherit",
  }).output();
  const out = new TextDecoder().decode(stdout);
  if (code !== 0) throw new Error(`tracewright ${args.join(" ")} ended with ${code}\n${out}`);
  return JSON.parse(out);
}

function otherReleases(): Record<string, unknown> {
  try {
    const list = parseCanonical(Deno.readFileSync(`${FOLDER}/allowlist.json`)) as {
      releases: Record<string, unknown>;
    };
    return list.releases;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}

const folder = await Deno.makeTempDir();
try {
  const places = ["--store", `${folder}/store`, "--output", `${folder}/runs`];
  const { path: run, run_id, result_id } = await tracewright("smoke", ...places);
  const given = Deno.args.indexOf("--key");
  const privateKey = given >= 0 ? Deno.args[given + 1]! : `${folder}/key.pem`;
  if (given < 0) {
    await tracewright("keygen", "--private-key", privateKey, "--public-key", `${folder}/unused.pem`);
  }
  await tracewright("sign", "--run", run, "--key", privateKey);
  const { verification } = await tracewright("attest", "--run", run, "--key", privateKey);
  const file = `${folder}/${NAME}.tar.zst`;
  const packed = await tracewright("bundle", "pack", "--run", run, "--file", file);
  const { verifying } = await readSigningKey(await Deno.readTextFile(privateKey));

  const bundle = await Deno.readFile(file);
  const pins = {
    bundle: {
      name: `${NAME}.tar.zst`,
      size_bytes: bundle.length,
      digest: digestOf(bundle),
      archive: {
        digest: packed.digest,
        size_bytes: packed.size,
        members: packed.members,
      },
    },
    run: { run_id, result_id },
    signer: { name: `${NAME}.pub.pem`, digest: digestOf(verifying.pem) },
    verification: { steps: verification.steps.map(({ step }) => step), decisions: verification.decisions },
  };
  await Deno.mkdir(FOLDER, { recursive: true });
  await Deno.writeFile(`${FOLDER}/${pins.bundle.name}`, bundle);
  await Deno.writeTextFile(`${FOLDER}/${pins.signer.name}`, verifying.pem);
  const list = { schema: SCHEMA, releases: { ...otherReleases(), [NAME]: pins } };
  await Deno.writeFile(`${FOLDER}/allowlist.json`, canonicalBytes(list));
  await tracewright("verify-release", "--release", NAME);
  console.log(`fixtures/release: ${NAME}, ${bundle.length} bytes, run ${run_id}, key ${verifying.id}`);
} finally {
  await Deno.remove(folder, { recursive: true });
}
