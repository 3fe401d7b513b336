import { deepEqual, equal, match, ok } from "node:assert/strict";
import { digestOf, hexOf } from "../lib/core/digest.ts";
import { exampleRun } from "../lib/store/example_run.ts";
import { scratchFolder } from "../lib/store/scratch_folder.ts";
import { run } from "./_test_bed.ts";
import { VERSION } from "./_version.ts";
import { bundle } from "./bundle.ts";
import { keygen } from "./keygen.ts";
import { sign } from "./sign.ts";
import { signatures } from "./signatures.ts";
import { store } from "./store.ts";

Deno.test("VERSION is the version of the package", () => {
  const text = Deno.readTextFileSync(new URL("../deno.json", import.meta.url));
  equal((JSON.parse(text) as { version: string }).version, VERSION);
});

Deno.test("a run is signed, packed, unpacked and its signatures checked, by commands alone", async () => {
  using example = exampleRun();
  using folder = scratchFolder();
  const at = (name: string) => `${folder.path}/${name}`;
  const keys = ["--private-key", at("key.pem"), "--public-key", at("key.pub.pem")];
  equal((await run(keygen, ...keys)).exit, 0);
  if (Deno.build.os !== "windows") equal((Deno.statSync(at("key.pem")).mode ?? 0) & 0o777, 0o600);
  const signed = await run(sign, "--run", example.path, "--key", at("key.pem"), "--json");
  equal(signed.exit, 0, signed.err);
  const packed = await run(bundle, "pack", "--run", example.path, "--file", at("a.tar.zst"), "--json");
  equal(packed.exit, 0, packed.err);
  const bare = ["--without-attestations", "--json"];
  const other = await run(bundle, "pack", "--run", example.path, "--file", at("b.tar"), ...bare);
  const { digest } = JSON.parse(other.out);
  equal(digest, digestOf(Deno.readFileSync(at("b.tar"))));
  const unpacked = await run(bundle, "unpack", "--file", at("a.tar.zst"), "--output", at("out"), "--json");
  equal(unpacked.exit, 0, unpacked.err);
  deepEqual(
    [JSON.parse(unpacked.out).digest, JSON.parse(unpacked.out).run_id, JSON.parse(unpacked.out).attestations],
    [JSON.parse(packed.out).digest, example.runId, 1],
  );
  const checked = await run(signatures, "--run", at("out"), "--key", at("key.pub.pem"));
  equal(checked.exit, 0, checked.err);
  match(checked.out, /^good {2}[0-9a-f]{16} {2}https:\/\/slsa\.dev\/provenance\/v1\n/);
  const again = await run(bundle, "unpack", "--file", at("a.tar.zst"), "--output", at("out"));
  equal(again.exit, 2);
  match(again.err, /folder_exists/);
  const second = ["--private-key", at("key2.pem"), "--public-key", at("key2.pub.pem")];
  await run(keygen, ...second);
  const stranger = await run(signatures, "--run", at("out"), "--key", at("key2.pub.pem"));
  equal(stranger.exit, 1);
  match(stranger.err, /unknown_signer/);
  const unsigned = await run(bundle, "unpack", "--file", at("b.tar"), "--output", at("bare"));
  equal(unsigned.exit, 0);
  match((await run(signatures, "--run", at("bare"), "--key", at("key.pub.pem"))).err, /missing_attestation/);
});

Deno.test("keygen replaces no file and leaves no private key in a repository", async () => {
  using folder = scratchFolder();
  const at = (name: string) => `${folder.path}/${name}`;
  const make = (privateKey: string) =>
    run(keygen, "--private-key", privateKey, "--public-key", at(`${crypto.randomUUID()}.pem`));
  Deno.writeTextFileSync(at("mine.pem"), "mine");
  match((await make(at("mine.pem"))).err, /file_exists/);
  equal(Deno.readTextFileSync(at("mine.pem")), "mine");
  const root = decodeURIComponent(new URL("..", import.meta.url).pathname);
  const inside = await make(`${root}artifacts/key.pem`);
  deepEqual([inside.exit, /key_in_repository/.test(inside.err)], [2, true]);
  Deno.mkdirSync(at("checkout/.git"), { recursive: true });
  Deno.mkdirSync(at("checkout/a/b"), { recursive: true });
  match((await make(at("checkout/a/b/key.pem"))).err, /key_in_repository/);
  deepEqual([...Deno.readDirSync(at("checkout/a/b"))], []);
});

Deno.test("sign refuses a time that it cannot read, a wrong key, and a run that is not whole", async () => {
  using example = exampleRun();
  using folder = scratchFolder();
  const at = (name: string) => `${folder.path}/${name}`;
  await run(keygen, "--private-key", at("key.pem"), "--public-key", at("key.pub.pem"));
  const signing = (...more: string[]) => run(sign, "--run", example.path, ...more);
  equal((await signing("--key", at("key.pem"), "--finished-on", "today")).exit, 2);
  const wrong = await signing("--key", at("key.pub.pem"));
  deepEqual([wrong.exit, /bad_key/.test(wrong.err)], [2, true]);
  equal((await signing("--key", at("absent.pem"))).exit, 2);
  Deno.removeSync(example.blob(digestOf("1\n2\n")));
  match((await signing("--key", at("key.pem"))).err, /missing_blob/);
  equal(
    [...Deno.readDirSync(example.directory)].filter(({ name }) => name.endsWith(".attestations")).length,
    0,
  );
});

Deno.test("bundle and store take the options of their action and no others", async () => {
  const wrong: [Parameters<typeof run>[0], string[], RegExp][] = [
    [bundle, [], /needs an action/],
    [bundle, ["unpak"], /did you mean bundle unpack\?/],
    [bundle, ["pack", "--run", "x"], /required option '-f, --file <file>'/],
    [bundle, ["pack", "--run", "x", "--file", "a.zip"], /\.tar\.zst or \.tar/],
    [bundle, ["unpack", "--file", "a.tar", "--output", "x", "--run", "y"], /takes no --run/],
    [bundle, ["import", "--layout", "x", "--without-attestations"], /takes no --without-attestations/],
    [store, ["check", "--dry-run"], /takes no --dry-run/],
    [store, ["gc", "--name", "x"], /takes no --name/],
    [store, ["forget"], /required option '--name <name>'/],
    [store, ["pin", "--name", "x", "--digest", "y"], /64 lower-case/],
  ];
  for (const [command, args, message] of wrong) {
    const { exit, err } = await run(command, ...args);
    equal(exit, 2, args.join(" "));
    match(err, message);
  }
});

Deno.test("store checks, pins, collects and forgets", async () => {
  using example = exampleRun();
  const { store: opened, runId } = example;
  opened.refs.set("runs/a", runId);
  const loose = opened.blobs.put(new TextEncoder().encode("loose")).digest;
  const kept = opened.blobs.put(new TextEncoder().encode("kept")).digest;
  opened[Symbol.dispose]();
  const call = async (...args: string[]) => {
    const { exit, out, err } = await run(store, ...args, "--store", opened.path, "--json");
    return { exit, err, json: JSON.parse(out) };
  };
  equal((await call("pin", "--name", "mine", "--digest", kept)).json.name, "pins/mine");
  match((await call("pin", "--name", "none", "--digest", digestOf("absent"))).err, /missing_blob/);
  const dry = await call("gc", "--dry-run");
  deepEqual([dry.json.blobs, dry.json.removed], [[loose], false]);
  ok(opened.blobs.has(loose));
  deepEqual((await call("gc")).json.blobs, [loose]);
  ok(!opened.blobs.has(loose) && opened.blobs.has(kept));
  deepEqual((await call("check", "--read-data")).json.problems, []);
  deepEqual((await call("names")).json.map(({ name }: { name: string }) => name), ["pins/mine", "runs/a"]);
  equal((await call("forget", "--name", "runs/b")).exit, 2);
  equal((await call("forget", "--name", "runs/a")).json.digest, runId);
  deepEqual((await call("gc")).json.kept, { actions: 0, blobs: 1, bytes: 4 });
  Deno.writeTextFileSync(`${opened.path}/blobs/sha256/${hexOf(kept)}`, "kapt");
  const damaged = await call("check", "--read-data");
  deepEqual([damaged.exit, damaged.json.problems[0].code], [1, "blob_damaged"]);
});
