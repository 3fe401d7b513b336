import assert from "node:assert/strict";
import { unpackBundle } from "../lib/store/unpack_bundle.ts";
import { ENV, OFFLINE, ROOT, succeeds, traceable, tracedDeno } from "./_traced_deno.ts";

/**
 * How little `verify` needs: reading the program and the run, and nothing else. Shown three times: by Deno, which is asked
 * to deny everything else; by the kernel, which gives it no network and a run that cannot be written to; and by a trace
 * of what it asked of the kernel. Each has a program beside it that does more and is stopped or seen.
 */

/** Everything but reading, denied by name. */
const DENIED = ["net", "write", "run", "ffi", "env", "sys", "import"].map((name) => `--deny-${name}`);
/**
 * In a network namespace without any interface, with two folders mounted read-only: the program and the run. `$1` and `$2`
 * are the folders, the rest is what runs.
 */
const CONFINED = `for folder in "$1" "$2"; do
  mount --bind "$folder" "$folder" && mount -o remount,bind,ro "$folder" || exit 70
done
shift 2
exec "$@"`;

const confined = (run: string, namespaces: readonly string[]) =>
  ["unshare", ...namespaces, "sh", "-c", CONFINED, "sh", ROOT, run] as const;

/** The namespaces that may be made here: by root, or by whoever may be root in a namespace of users. */
async function namespacesHere(): Promise<readonly string[] | undefined> {
  if (Deno.build.os !== "linux") return undefined;
  const folder = await Deno.makeTempDir();
  try {
    for (const namespaces of [["--net", "--mount"], ["--user", "--map-root-user", "--net", "--mount"]]) {
      const [program, ...args] = confined(folder, namespaces);
      if (await succeeds(program, [...args, "true"])) return namespaces;
    }
    return undefined;
  } finally {
    await Deno.remove(folder);
  }
}

const namespaces = await namespacesHere();
if (namespaces === undefined) {
  console.log("no namespaces may be made here: verify is not tried without a network");
}

/** The run of the release, in a folder of its own that nobody may write to. */
async function releasedRun(folder: string): Promise<string> {
  const run = `${folder}/run`;
  await unpackBundle({ bundle: `${ROOT}/fixtures/release/smoke-v0.1.0.tar.zst`, target: run });
  if (Deno.build.os !== "windows") {
    const lock = (path: string) => {
      for (const { name, isDirectory } of Deno.readDirSync(path)) {
        if (isDirectory) lock(`${path}/${name}`);
        else Deno.chmodSync(`${path}/${name}`, 0o444);
      }
      Deno.chmodSync(path, 0o555);
    };
    lock(run);
  }
  return run;
}

function unlock(path: string): void {
  Deno.chmodSync(path, 0o755);
  for (const { name, isDirectory } of Deno.readDirSync(path)) if (isDirectory) unlock(`${path}/${name}`);
}

/** What is proven holds for runs of other versions of the code too, so that this test does not wait for a new release. */
const verifyArgs = (run: string) => [
  `${ROOT}/cli/verify.ts`,
  "--manifest",
  `${run}/manifest.json`,
  "--runtime",
  "wasm",
  "--other-code",
  "--json",
];
const reading = (run: string) => [`--allow-read=${ROOT},${run}`, ...DENIED];

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function deno(args: readonly string[], cwd: string, around: readonly string[] = []): Promise<Ended> {
  const [program, ...rest] = [...around, Deno.execPath(), "run", ...OFFLINE, ...args] as [
    string,
    ...string[],
  ];
  const { code, stdout, stderr } = await new Deno.Command(program, { args: rest, cwd, env: ENV }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

function passed({ code, out, err }: Ended): void {
  assert.equal(code, 0, out + err);
  const { passed, runtime, decisions } = JSON.parse(out) as {
    passed: boolean;
    runtime: string;
    decisions: number;
  };
  assert.deepEqual([passed, runtime], [true, "wasm"]);
  assert.ok(decisions > 0);
}

/** Does something with the run of the release; the folder beside it is where nothing of the program lies. */
async function withRun(work: (place: { run: string; folder: string }) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await work({ run: await releasedRun(folder), folder });
  } finally {
    if (Deno.build.os !== "windows") unlock(folder);
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("verify needs to read the program and the run, and nothing else", () =>
  withRun(async ({ run, folder }) => {
    const around = namespaces === undefined ? [] : confined(run, namespaces);
    passed(await deno([...reading(run), ...verifyArgs(run)], folder, around));
    // Without the run it cannot be verified: the permissions are what the flags say.
    const blind = await deno([`--allow-read=${ROOT}`, ...DENIED, ...verifyArgs(run)], folder);
    assert.equal(blind.code, 3, blind.out + blind.err);
    assert.match(blind.err, /not_readable/);
  }));

Deno.test({
  name: "what verify runs in has no network, and folders that cannot be written to",
  ignore: namespaces === undefined,
  fn: () =>
    withRun(async ({ run, folder }) => {
      const program = `${folder}/program.ts`;
      const around = confined(run, namespaces ?? []);
      using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const does = async (text: string) => {
        await Deno.writeTextFile(program, text);
        return {
          free: await deno(["-A", program], folder),
          confined: await deno(["-A", program], folder, around),
        };
      };
      const connect = await does(`(await Deno.connect({ port: ${listener.addr.port} })).close();`);
      assert.equal(connect.free.code, 0, connect.free.err);
      assert.match(connect.confined.err, /Network is unreachable|Cannot assign requested address/);
      const write = await does(
        `const path = "${run}/extra"; Deno.chmodSync("${run}", 0o755); Deno.writeTextFileSync(path, ""); Deno.removeSync(path);`,
      );
      assert.equal(write.free.code, 0, write.free.err);
      assert.match(write.confined.err, /Read-only file system/);
    }),
});

Deno.test({
  name: "verify with these permissions opens no socket, starts no program and writes nothing of its own",
  ignore: !traceable,
  fn: () =>
    withRun(async ({ run, folder }) => {
      const traced = await tracedDeno([...reading(run), ...verifyArgs(run)], folder);
      passed(traced);
      const { network, executed, unseen, elsewhere } = traced;
      assert.deepEqual({ network, unseen, elsewhere }, { network: [], unseen: [], elsewhere: [] });
      assert.deepEqual(executed, [Deno.execPath()]);
    }),
});
