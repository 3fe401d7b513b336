import { parseTrace, type SystemCalls, TRACED } from "./_system_calls.ts";

/** The repository's root, without a `/` at its end. */
export const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
/** What every process gets that is held to account for its system calls. */
export const ENV = { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
/** Nothing may be fetched, and nothing asked. */
export const OFFLINE = ["--cached-only", "--frozen", "--no-remote", "--no-prompt"] as const;

/** Whether a program is there and ends well. */
export async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, { args: [...args], stdout: "null", stderr: "null" })
      .output();
    return success;
  } catch {
    return false; // no such program
  }
}

/** Whether `strace` is there and may trace. */
export const traceable: boolean = Deno.build.os === "linux" &&
  await succeeds("strace", ["-f", "-o", "/dev/null", "true"]);
if (!traceable) console.log("no strace that may trace here: the system-call tests are left out");

async function denoFolder(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], env: ENV }).output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout)) as { denoDir: string };
  return denoDir;
}

/** What a traced process did and said. */
export interface TracedRun extends SystemCalls {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** What of `written` lies outside of Deno's own folders, the devices and the process's own files. */
  readonly elsewhere: readonly string[];
}

/** Runs `deno run` under strace, without a network of its own accord. */
export async function tracedDeno(args: readonly string[], cwd: string = ROOT): Promise<TracedRun> {
  const log = await Deno.makeTempFile();
  try {
    const traced = ["--seccomp-bpf", "-f", "-o", log, "-e", `trace=${TRACED}`];
    const { code, stdout, stderr } = await new Deno.Command("strace", {
      args: [...traced, Deno.execPath(), "run", ...OFFLINE, ...args],
      cwd,
      env: ENV,
    }).output();
    const calls = parseTrace(await Deno.readTextFile(log));
    const own = [await denoFolder(), `${ROOT}/node_modules/.deno`, "/dev/", "/proc/self/"];
    const elsewhere = calls.written.map((path) => path.startsWith("/") ? path : `${cwd}/${path}`)
      .filter((path) => !own.some((folder) => path.startsWith(folder)));
    const decoder = new TextDecoder();
    return { code, out: decoder.decode(stdout), err: decoder.decode(stderr), elsewhere, ...calls };
  } finally {
    await Deno.remove(log);
  }
}
