import assert from "node:assert/strict";
import { digestOf } from "../lib/core/digest.ts";
import { buildPackage, type BuiltPackage } from "./_package.ts";
import { contentFaults, MAX_FILE, type PackageFiles } from "./_package_contents.ts";

/**
 * The npm package: the same bytes from any folder, nothing in it that should not be, and a program that works from an
 * empty folder.
 */

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const encoder = new TextEncoder();

let built: Promise<BuiltPackage> | undefined;
/** Every build works on a copy of the checkout, in a folder of another name. */
const firstBuild = () => built ??= buildPackage();

function faultsOf(path: string, content: string | Uint8Array = ""): string[] {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return contentFaults(new Map([[path, bytes]]));
}

Deno.test("contentFaults() refuses names that are not the same everywhere", () => {
  for (
    const path of [
      "/a",
      "../a",
      "a/../b",
      "a/./b",
      "a//b",
      "",
      "a/",
      "C:/a",
      "a\\b",
      "a\0b",
      "a b",
      "a.",
      "é.js",
    ]
  ) {
    assert.equal(faultsOf(path).length, 1, path);
  }
  assert.deepEqual(faultsOf("lib/a/b.d.ts"), []);
  const twins: PackageFiles = new Map([["a/B.js", new Uint8Array()], ["a/b.js", new Uint8Array()]]);
  assert.match(contentFaults(twins).join(), /same file as a\/B\.js/);
});

Deno.test("contentFaults() refuses keys, settings, coverage, tests and source maps by name", () => {
  const names = [
    "x.pem",
    "a/x.key",
    "a/id_rsa",
    "a/id_ed25519",
    "store.p12",
    "a.env/.env",
    ".env",
    ".env.local",
    "coverage/lcov.info",
    "a/.coverage.1",
    "a.profraw",
    "lib/a_test.ts",
    "lib/a_bench.js",
    "mod.js.map",
    ".npmrc",
  ];
  for (const name of names) assert.ok(faultsOf(name).length > 0, name);
  assert.ok(!faultsOf(".env.example").some((fault) => fault.includes("secrets")));
});

Deno.test("contentFaults() refuses private keys and paths of a machine in what is written", () => {
  const header = (kind: string) => `text\n-----BEGIN ${kind}-----\nMIG`; // put together, so that this file passes too
  for (const kind of ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"]) {
    assert.match(faultsOf("a.js", header(kind)).join(), /a private key/);
  }
  assert.deepEqual(faultsOf("a.js", header("PUBLIC KEY")), []);
  const folder = (name: string) => `const a = "/${name}/someone/x";`;
  for (const name of ["home", "Users", "tmp", "root"]) {
    assert.match(faultsOf("a.js", folder(name)).join(), /path of a machine/, name);
  }
  assert.match(faultsOf("a.js", "C:\\Us" + "ers\\me").join(), /path of a machine/);
  assert.match(faultsOf("a.js", "//# sourceMapping" + "URL=a.js.map").join(), /source map/);
  assert.deepEqual(faultsOf("a.js", "import './home/a.js'; // ~/home/x"), []);
});

Deno.test("contentFaults() refuses a file that is too large", () => {
  assert.match(faultsOf("a.wasm", new Uint8Array(MAX_FILE + 1)).join(), /larger than/);
});

Deno.test("the package is the same, byte for byte, from a checkout in another folder", async () => {
  const [one, two] = [await firstBuild(), await buildPackage()];
  const differ = [...one.files].filter(([path, bytes]) => {
    const other = two.files.get(path);
    return other === undefined || digestOf(other) !== digestOf(bytes);
  }).map(([path]) => path);
  assert.deepEqual(differ, []);
  assert.equal(digestOf(one.bytes), digestOf(two.bytes));
});

Deno.test("the package holds what it needs, pinned, and nothing that should not be there", async () => {
  const { files } = await firstBuild();
  assert.deepEqual(contentFaults(files), []);
  for (
    const path of [
      "mod.js",
      "mod.d.ts",
      "cli/main.js",
      "cli/_verify_worker.js",
      "lib/pipeline/stage_worker.js",
      "LICENSE",
    ]
  ) {
    assert.ok(files.has(path), path);
  }
  for (const name of ["smoke", "full"]) {
    const shipped = files.get(`configs/${name}.yaml`) ?? new Uint8Array();
    assert.equal(digestOf(shipped), digestOf(Deno.readFileSync(`${ROOT}/configs/${name}.yaml`)));
  }
  const manifest = JSON.parse(new TextDecoder().decode(files.get("package.json")));
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    assert.match(`${version}`, /^\d/, name);
  }
  assert.deepEqual(Object.keys(manifest.exports), [".", "./cli"]);
  for (const [path, bytes] of files) {
    if (!path.endsWith(".js")) continue;
    const code = new TextDecoder().decode(bytes);
    assert.doesNotMatch(code, /^(import|export)\b[^;]*"\.[^"]*\.ts"|import\("\.[^"]*\.ts"\)/m, path);
    assert.doesNotMatch(code, /new URL\(["`]\.[^"`]*\.ts["`?]/, path);
  }
});

Deno.test("the library can be published: no slow types, no tests, no fixtures, no keys", async () => {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["publish", "--dry-run", "--allow-dirty", "--frozen"],
    cwd: ROOT,
    env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
    stdout: "null",
  }).output();
  const said = new TextDecoder().decode(stderr);
  assert.ok(success, said);
  const paths = [...said.matchAll(/^ +file:\/\/(\S+) \(/gm)].map(([, path = ""]) =>
    path.slice(ROOT.length + 1)
  );
  assert.ok(paths.includes("mod.ts"), said);
  assert.deepEqual(paths.filter((path) => /_test\.ts$|^fixtures|^\.ci|\.pem$|\.env/.test(path)), []);
});

Deno.test("from an empty folder the package prints help, runs smoke and verifies what came out", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const modules = `${folder}/app/node_modules`;
    const { files } = await firstBuild();
    for (const [path, bytes] of files) {
      const target = `${modules}/@tracewright/tracewright/${path}`;
      await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
      await Deno.writeFile(target, bytes);
    }
    const { dependencies } = JSON.parse(new TextDecoder().decode(files.get("package.json")));
    await Deno.writeTextFile(`${folder}/app/package.json`, JSON.stringify({ private: true, dependencies }));
    for (const name of Object.keys(dependencies)) {
      await Deno.mkdir(`${modules}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.symlink(await Deno.realPath(`${ROOT}/node_modules/${name}`), `${modules}/${name}`);
    }
    const empty = `${folder}/empty`;
    await Deno.mkdir(empty);
    const run = async (permissions: readonly string[], ...args: string[]) => {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "--no-prompt",
          "--no-remote",
          "--unstable-worker-options",
          ...permissions,
          `${modules}/@tracewright/tracewright/cli/main.js`,
          ...args,
        ],
        cwd: empty,
        env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
      }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      return new TextDecoder().decode(stdout);
    };
    assert.match(await run([], "--help"), /smoke \[options\]/);
    assert.deepEqual([...Deno.readDirSync(empty)], []);
    const making = [
      "--allow-read",
      "--allow-write=artifacts",
      "--allow-ffi",
      "--allow-env=LOG_STREAM,LOG_TOKENS",
    ];
    const { path, run_id } = JSON.parse(await run(making, "smoke", "--json"));
    const verified = JSON.parse(
      await run(["--allow-read"], "verify", "--manifest", `${path}/manifest.json`, "--json"),
    );
    assert.deepEqual([verified.run_id, verified.passed], [run_id, true]);
    assert.deepEqual([...Deno.readDirSync(empty)].map(({ name }) => name), ["artifacts"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
