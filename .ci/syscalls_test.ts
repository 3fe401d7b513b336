import assert from "node:assert/strict";
import { parseTrace } from "./_system_calls.ts";
import { traceable, tracedDeno } from "./_traced_deno.ts";

/**
 * What the smoke experiment and its verification ask of the kernel: no socket, no other program, and nothing written
 * outside of the output folder and Deno's own caches. Deno's sandbox cannot promise this for a native library; the trace can
 * show it.
 */

/** Runs Deno under strace and checks what it did. */
async function quiet(args: readonly string[], output: string): Promise<void> {
  const { code, out, err, network, executed, unseen, elsewhere } = await tracedDeno(args);
  assert.equal(code, 0, out + err);
  assert.deepEqual({ network, unseen }, { network: [], unseen: [] });
  assert.deepEqual(executed, [Deno.execPath()]);
  assert.deepEqual(elsewhere.filter((path) => path !== output && !path.startsWith(`${output}/`)), []);
}

Deno.test("parseTrace() tells sockets from socket pairs, writing from reading, and sees programs and rings", () => {
  const { network, written, executed, unseen } = parseTrace(
    `12 execve("/bin/deno", ["deno", "run"], 0x7ffd /* 9 vars */) = 0
12 execve("/usr/bin/git", ["git"], 0x7ffd /* 9 vars */) = -1 ENOENT (No such file or directory)
12 socketpair(AF_UNIX, SOCK_STREAM, 0, [6, 7]) = 0
12 socket(AF_INET, SOCK_DGRAM|SOCK_CLOEXEC, IPPROTO_IP) = 9
13 openat(AT_FDCWD, "/a/read", O_RDONLY|O_CLOEXEC) = 3
13 openat(AT_FDCWD, "/a/made", O_RDWR|O_CREAT|O_CLOEXEC, 0644 <unfinished ...>
14 <... openat resumed>) = 9
14 rename("b/from", "b/to") = 0
14 fchmodat(AT_FDCWD, "/a/open", 0777) = 0
14 utimensat(AT_FDCWD, "/a/old", [UTIME_NOW, UTIME_NOW], 0) = 0
14 io_uring_setup(64, {flags=0}) = 5
14 --- SIGCHLD {si_signo=SIGCHLD} ---
14 recvfrom(6, 0x7f, 1024, 0, NULL, NULL) = -1 EAGAIN
14 +++ exited with 0 +++`,
  );
  assert.deepEqual(network, ["12 socket(AF_INET, SOCK_DGRAM|SOCK_CLOEXEC, IPPROTO_IP) = 9"]);
  assert.deepEqual(written, ["/a/made", "b/from", "b/to", "/a/open", "/a/old"]);
  assert.deepEqual(executed, ["/bin/deno"]);
  assert.deepEqual(unseen, ["14 io_uring_setup(64, {flags=0}) = 5"]);
});

Deno.test({
  name: "a trace shows a socket, a write and a program where there are some",
  ignore: !traceable,
  fn: async () => {
    const folder = await Deno.makeTempDir();
    const refused = async (permission: string, program: string, shown: RegExp) => {
      const file = `${folder}/program.ts`;
      await Deno.writeTextFile(file, program);
      await assert.rejects(quiet([permission, file], `${folder}/output`), shown);
    };
    try {
      const other = `${folder}/output-of-another`;
      await refused(
        "--allow-write",
        `Deno.writeTextFileSync("${other}", "x");`,
        /deep-equal[^]*output-of-another/,
      );
      await refused("--allow-write", `Deno.utimeSync("${folder}", 1, 1);`, /deep-equal/);
      const listen = `Deno.listen({ hostname: "127.0.0.1", port: 0 }).close();`;
      await refused("--allow-net", listen, /deep-equal[^]*socket\(AF_INET/);
      await refused("--allow-run", `new Deno.Command("true").outputSync();`, /deep-equal[^]*\/true/);
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
      await quiet([...smoke, "cli/smoke.ts", ...places, "--json"], folder);
      const [run] = [...Deno.readDirSync(`${folder}/runs`)].filter(({ name }) => /^[0-9a-f]{16}$/.test(name));
      assert.ok(run, "smoke wrote no run");
      const manifest = `${folder}/runs/${run.name}/manifest.json`;
      await quiet(["--allow-read", "cli/verify.ts", "--manifest", manifest, "--json"], `${folder}/nothing`);
      const judged = ["--allow-read", "--allow-ffi", "cli/verify.ts", "--require", "sql"];
      await quiet([...judged, "--manifest", manifest, "--json"], `${folder}/nothing`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
