/**
 * Kills the smoke experiment at random moments and goes on each time: `kill_test.ts [KILLS] [SEED] [PROCESSES]`.
 *
 * Every run works on what the killed ones before it left behind, in the same folders, and may be killed itself. When one
 * gets through, its ids must be those of a run that nobody disturbed; then the next begins from nothing. The moments are
 * drawn from the seed, evenly over the time that the undisturbed run took, so they fall into start-up, stages, writing and
 * verification alike. With several processes as many runs are at work in the same folders at the same time, and each has a
 * moment of its own. After every kill the store is checked, and every blob in it hashed.
 */
import { RandomStream } from "../lib/core/random_stream.ts";
import { checkStore } from "../lib/store/check_store.ts";
import { Store } from "../lib/store/store.ts";
import { wholeArgument } from "./_whole_argument.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname);

interface Ids {
  readonly run_id: string;
  readonly result_id: string;
  /** Stages that an earlier run had finished. */
  readonly cached: number;
}

/** How one start of the experiment ended. */
type Ended = { readonly kind: "killed"; readonly seen: string } | {
  readonly kind: "finished";
  readonly ids: Ids;
};

function smoke(folder: string): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--cached-only",
      "--frozen",
      "--no-remote",
      "--no-prompt",
      "--allow-read",
      `--allow-write=${folder}`,
      "--allow-ffi",
      "--allow-env=LOG_STREAM,LOG_TOKENS",
      "cli/smoke.ts",
      "--store",
      `${folder}/store`,
      "--output",
      `${folder}/runs`,
      "--json",
    ],
    cwd: ROOT,
    env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** What the experiment said last before it was gone: a finished stage, or a step of the verification. */
function lastSeen(stderr: string): string {
  return stderr.trimEnd().split("\n").at(-1)?.replace(/ +[\d.]+ s$/, " done") || "start-up";
}

/** Starts the experiment in a folder and kills it after some milliseconds, unless it was faster. */
async function start(folder: string, killAfter: number): Promise<Ended> {
  const child = smoke(folder);
  let killed = false;
  const timer = Number.isFinite(killAfter)
    ? setTimeout(() => {
      killed = true;
      try {
        child.kill("SIGKILL");
      } catch { /* it ended between the clock and the signal */ }
    }, killAfter)
    : undefined;
  const { code, stdout, stderr } = await child.output();
  clearTimeout(timer);
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)) as [string, string];
  if (code === 0) return { kind: "finished", ids: JSON.parse(out) as Ids };
  if (killed) return { kind: "killed", seen: lastSeen(err) };
  throw new Error(`smoke ended with ${code}, and nobody had killed it:\n${err}`);
}

/** @throws Error where a run that got through is not the undisturbed one */
function requireSame(expected: Ids, { run_id, result_id }: Ids): void {
  if (run_id === expected.run_id && result_id === expected.result_id) return;
  throw new Error(
    `another result after kills: ${result_id} of run ${run_id}, not ${expected.result_id} of run ${expected.run_id}`,
  );
}

/** @throws Error where a kill has left more than temporary files */
function requireSound(store: string): void {
  const [first] = checkStore(Store.open(store), { depth: "content" }).problems;
  if (first !== undefined) throw new Error(`the store is damaged after a kill: ${first.message}`);
}

const USAGE = "kill_test.ts [KILLS] [SEED] [PROCESSES]";
const kills = wholeArgument(0, { fallback: 5, usage: USAGE });
const seed = wholeArgument(1, { fallback: 1, usage: USAGE });
const processes = Math.max(1, wholeArgument(2, { fallback: 1, usage: USAGE }));
const base = await Deno.makeTempDir({ prefix: "tracewright-kill-" });
try {
  const began = performance.now();
  const undisturbed = await start(`${base}/undisturbed`, Infinity);
  const took = performance.now() - began;
  if (undisturbed.kind !== "finished") throw new Error("unreachable");
  console.log(`undisturbed: ${(took / 1000).toFixed(1)} s, result ${undisturbed.ids.result_id}`);
  console.log("kill  folder  after s  it had said");
  let [done, folder, through, since] = [0, 0, 0, 0];
  const closing = () => done >= kills;
  while (true) {
    const place = `${base}/${folder}`;
    const moments = Array.from({ length: processes }, (_, i) => {
      const names = i === 0 ? [done, through] : [done, through, i];
      return closing()
        ? Infinity
        : new RandomStream(seed, "kill-test", ...names).uniform() * took * processes;
    });
    const all = await Promise.all(moments.map((moment) => start(place, moment)));
    requireSound(`${place}/store`);
    for (const [i, ended] of all.entries()) {
      if (ended.kind === "finished") {
        requireSame(undisturbed.ids, ended.ids);
        continue;
      }
      done++;
      since++;
      console.log(
        `${String(done).padStart(4)}  ${String(folder).padStart(6)}  ${
          (moments[i]! / 1000).toFixed(2).padStart(7)
        }  ${ended.seen}`,
      );
    }
    const finished = all.find((ended) => ended.kind === "finished");
    if (finished === undefined) continue;
    through++;
    console.log(
      `      ${String(folder).padStart(6)}           finished after ${since} kills, ` +
        `${finished.ids.cached} stages kept: same ids`,
    );
    await Deno.remove(place, { recursive: true });
    if (closing()) break;
    folder++;
    since = 0;
  }
  console.log(
    `${done} kills, ${through} runs got through, all with the ids of the undisturbed run (seed ${seed})`,
  );
} finally {
  await Deno.remove(base, { recursive: true });
}
