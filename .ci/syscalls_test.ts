import assert from "node:assert/strict";
import { parseTrace, TRACED } from "./_system_calls.ts";

/**
 * What the smoke experiment and its verification ask of the kernel: no socket, and nothing written outside of the
 * output folder and Deno's own caches. Deno's sandbox cannot promise this for a native library; the trace can show it.
 */

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const ENV = { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
const OFFLINE = ["--cached-only", "--frozen", "--no-remote", "--no-prompt"];

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, { args: [...args], stdout: "null", stderr: "null" })
      .output();
    return success;
  } catch {
    return false; // no such program
  }
}

const traceable = Deno.build.os === "linux" && await succeeds("strace", ["-f", "-o", "/dev/null", "true"]);
if (!traceable) console.log("no strace that may trace here: the system-call tests are left out");

async function denoFolder(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], env: ENV }).output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout)) as { denoDir: string };
  return denoDir;
}

/** Runs Deno under strace and checks what it did. Returns standard output. */
async function traced(args: readonly string[], output: string): Promise<string> {
  const log = await Deno.makeTempFile();
  try {
    const { code, stdout, stderr } = await new Deno.Command("strace", {
      args: [
        "--seccomp-bpf",
        "-f",
        "-o",
        log,
        "-e",
        `trace=${TRACED}`,
        Deno.execPath(),
        "run",
        ...OFFLINE,
        ...args,
      ],
      cwd: ROOT,
      env: ENV,
    }).output();
    const out = new TextDecoder().decode(stdout);
    assert.equal(code, 0, out + new TextDecoder().decode(stderr));
    const { network, written } = parseTrace(await Deno.readTextFile(log));
    assert.deepEqual(network, []);
    const own = [await denoFolder(), `${ROOT}/node_modules/.deno`, output, "/dev/", "/proc/self/"];
    const elsewhere = written.filter((path) => {
      const absolute = path.startsWith("/") ? path : `${ROOT}/${path}`;
      return !own.some((folder) => absolute.startsWith(folder));
    });
    assert.deepEqual(elsewhere, []);
    return out;
  } finally {
    await Deno.remove(log);
  }
}

Deno.test("parseTrace() tells sockets from socket pairs and writing from reading", () => {
  const { network, written } = parseTrace(
    `12 socketpair(AF_UNIX, SOCK_STREAM, 0, [6, 7]) = 0
12 socket(AF_INET, SOCK_DGRAM|SOCK_CLOEXEC, IPPROTO_IP) = 9
13 openat(AT_FDCWD, "/a/read", O_RDONLY|O_CLOEXEC) = 3
13 openat(AT_FDCWD, "/a/made", O_RDWR|O_CREAT|O_CLOEXEC, 0644 <unfinished ...>
14 <... openat resumed>) = 9
14 rename("b/from", "b/to") = 0
14 --- SIGCHLD {si_signo=SIGCHLD} ---
14 recvfrom(6, 0x7f, 1024, 0, NULL, NULL) = -1 EAGAIN
14 +++ exited with 0 +++`,
  );
  assert.deepEqual(network, ["12 socket(AF_INET, SOCK_DGRAM|SOCK_CLOEXEC, IPPROTO_IP) = 9"]);
  assert.deepEqual(written, ["/a/made", "b/from", "b/to"]);
});

Deno.test({
  name: "a trace shows a socket and a write where there are some",
  ignore: !traceable,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    try {
      const write = `${folder}/write.ts`;
      await Deno.writeTextFile(write, `Deno.writeTextFileSync("${folder}/other", "x");`);
      await assert.rejects(traced(["--allow-write", write], `${folder}/output`), /deep-equal[^]*\/other/);
      const listen = `${folder}/listen.ts`;
      await Deno.writeTextFile(listen, `Deno.listen({ hostname: "127.0.0.1", port: 0 }).close();`);
      await assert.rejects(traced(["--allow-net", listen], folder), /deep-equal[^]*socket\(AF_INET/);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "smoke and verify open no socket and write nothing but their output",
  ignore: !traceable,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    try {
      const smoke = [
        "--allow-read",
        `--allow-write=${folder}`,
        "--allow-ffi",
        "--allow-env=LOG_STREAM,LOG_TOKENS",
      ];
      const places = ["--store", `${folder}/store`, "--output", `${folder}/runs`];
      await traced([...smoke, "cli/smoke.ts", ...places, "--json"], folder);
      const [run] = [...Deno.readDirSync(`${folder}/runs`)].filter(({ name }) => /^[0-9a-f]{16}$/.test(name));
      assert.ok(run, "smoke wrote no run");
      const manifest = `${folder}/runs/${run.name}/manifest.json`;
      await traced(["--allow-read", "cli/verify.ts", "--manifest", manifest, "--json"], `${folder}/nothing`);
      const judged = ["--allow-read", "--allow-ffi", "cli/verify.ts", "--require", "sql"];
      await traced([...judged, "--manifest", manifest, "--json"], `${folder}/nothing`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
