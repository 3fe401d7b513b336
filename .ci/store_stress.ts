/**
 * A store under stress: `store_stress.ts [ROUNDS] [SEED]`.
 *
 * In each round two processes run one small experiment in one store at the same time, and one of them or both are killed by
 * SIGKILL: by their own hand at an operation on the disk, drawn from the seed, with half a write where it is one; or from
 * outside, at a moment drawn from the seed. In some rounds a collection of garbage comes in between, again and again. After
 * each round nothing but temporary files may be left over: the store is checked, every blob is hashed, and every run folder
 * that is there is read through. A process that nobody killed must end as if it had been alone.
 *
 * After one to three such rounds the experiment is run again, which must give the ids of an undisturbed run and clear up. Then
 * a file of the store is damaged, which a check must name; without what was named the experiment is made whole again. In the
 * end a collection must remove what has no name, exactly.
 */
import { digestOf } from "../lib/core/digest.ts";
import { TracewrightError } from "../lib/core/error.ts";
import { RandomStream } from "../lib/core/random_stream.ts";
import { ACTION_SCHEMA, type ActionRecord, keyOf } from "../lib/store/action_record.ts";
import { checkStore } from "../lib/store/check_store.ts";
import { collectGarbage, planGarbage } from "../lib/store/collect_garbage.ts";
import { FaultyLayer } from "../lib/store/faulty_layer.ts";
import { diskLayer } from "../lib/store/file_layer.ts";
import { checkRunBlobs, checkRunViews, readRun } from "../lib/store/read_run.ts";
import { Store } from "../lib/store/store.ts";
import {
  runStressExperiment,
  STRESS_STAGES,
  type StressIds,
  type StressPlace,
} from "./_stress_experiment.ts";
import type { StressJob } from "./_stress_process.ts";
import { type Ended, WarmProcess } from "./_warm_process.ts";
import { wholeArgument } from "./_whole_argument.ts";

const USAGE = "store_stress.ts [ROUNDS] [SEED]";
/** The disk without waiting for it: whoever heals is not killed. */
const soundLayer = new FaultyLayer(() => undefined);

/** What came of all rounds. */
const counts = {
  rounds: 0,
  kills: 0,
  /** Processes that ended before their killer came. */
  escaped: 0,
  /** Rounds after which temporary files were left over, and how many of these there were. */
  littered: 0,
  leftovers: 0,
  healed: 0,
  /** Stages that were done already when the experiment was run again after kills. */
  kept: 0,
  collections: 0,
  refused: 0,
  damaged: 0,
  named: 0,
};

function warm(): WarmProcess {
  const entry = decodeURIComponent(new URL("_stress_process.ts", import.meta.url).pathname);
  return new WarmProcess(["run", "--cached-only", "--frozen", "--no-remote", "--no-prompt", "-A", entry]);
}

/** Processes that are ready before they are needed. */
class Pool implements AsyncDisposable {
  readonly #idle = Array.from({ length: 3 }, warm);

  take(): WarmProcess {
    this.#idle.push(warm());
    return this.#idle.shift()!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#idle) process.kill();
    await Promise.all(this.#idle.map((process) => process.ended()));
  }
}

/** What an undisturbed run gives, how many changes it makes on the disk and how long it takes, in milliseconds. */
interface Undisturbed {
  readonly ids: StressIds;
  readonly changes: number;
  readonly ms: number;
}

function requireSame({ runId, resultId }: StressIds, expected: StressIds, what: string): void {
  if (runId === expected.runId && resultId === expected.resultId) return;
  throw new Error(
    `${what}: result ${resultId} of run ${runId}, not ${expected.resultId} of ${expected.runId}`,
  );
}

/** How one of the two processes is to end. */
interface End {
  readonly own: StressJob["end"];
  /** Milliseconds after which it is killed from outside. */
  readonly after: number | undefined;
}

/** Early ends are likelier: of two processes that share the work, none makes all of the changes. */
function drawEnds(draw: RandomStream, { changes, ms }: Undisturbed): End[] {
  const drawEnd = (): End =>
    draw.integer(2) === 0
      ? {
        own: { at: draw.integer(1 + draw.integer(changes)), torn: draw.integer(2) === 0 },
        after: undefined,
      }
      : { own: null, after: draw.uniform() * ms };
  return [drawEnd(), draw.integer(3) > 0 ? drawEnd() : { own: null, after: undefined }];
}

/** Collects garbage until the processes have ended; mostly they are at work, and it is refused. */
async function collectUntil(ended: Promise<unknown>, place: StressPlace): Promise<void> {
  let over = false;
  ended.finally(() => over = true);
  while (!over) {
    try {
      collectGarbage(Store.open(place.store));
      counts.collections++;
    } catch (error) {
      if (!(error instanceof TracewrightError) || error.code !== "store_in_use") throw error;
      counts.refused++;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function killRound(
  pool: Pool,
  place: StressPlace,
  draw: RandomStream,
  undisturbed: Undisturbed,
): Promise<void> {
  const ends = drawEnds(draw, undisturbed);
  const collects = draw.integer(4) === 0;
  const processes = ends.map((end) => ({ end, process: pool.take() }));
  await Promise.all(processes.map(async ({ end, process }) => {
    await process.start({ ...place, end: end.own } satisfies StressJob);
    if (end.after !== undefined) setTimeout(() => process.kill(), end.after);
  }));
  const all = Promise.all(processes.map(({ process }) => process.ended()));
  if (collects) await collectUntil(all, place);
  for (const [i, ended] of (await all).entries()) judge(ended, ends[i]!, undisturbed.ids);
  counts.rounds++;
  requireSound(place);
}

function judge({ signal, code, said, stderr }: Ended, end: End, expected: StressIds): void {
  const mayDie = end.own !== null || end.after !== undefined;
  if (signal === "SIGKILL" && mayDie) {
    counts.kills++;
    return;
  }
  if (code !== 0) {
    throw new Error(`a process ended with ${signal ?? code}, and nobody had killed it:\n${stderr}`);
  }
  if (mayDie) counts.escaped++;
  requireSame(JSON.parse(said) as StressIds, expected, "a process that nobody killed");
}

/** Everything that is wrong with the store, by structure and by content. */
function problemsOf(place: StressPlace) {
  const store = Store.open(place.store);
  const structure = checkStore(store, { depth: "structure" });
  const content = checkStore(store, { depth: "content" });
  for (const { code, path } of structure.problems) {
    if (content.problems.some((problem) => problem.code === code && problem.path === path)) continue;
    throw new Error(`${code} of ${path} is gone where more is looked at`);
  }
  return { problems: content.problems, leftovers: content.leftovers };
}

/** @throws Error where a kill has left anything but temporary files */
function requireSound(place: StressPlace): void {
  const { problems, leftovers } = problemsOf(place);
  if (problems.length > 0) {
    throw new Error(`after a kill:\n${problems.map(({ message }) => message).join("\n")}`);
  }
  if (leftovers > 0) counts.littered++;
  counts.leftovers += leftovers;
  for (const { name } of diskLayer.list(place.runs).filter(({ name }) => name !== ".tmp")) {
    const run = readRun(`${place.runs}/${name}`);
    checkRunBlobs(run);
    checkRunViews(run);
  }
}

/** Runs the experiment to its end, in a process of its own every fifth time; returns how many stages it found done. */
async function heal(pool: Pool, place: StressPlace, expected: StressIds): Promise<number> {
  let ids: StressIds;
  if (counts.healed++ % 5 === 0) {
    const process = pool.take();
    await process.start({ ...place, end: null } satisfies StressJob);
    const { code, said, stderr } = await process.ended();
    if (code !== 0) throw new Error(`the experiment could not be run again:\n${stderr}`);
    ids = JSON.parse(said) as StressIds;
  } else ids = await runStressExperiment(place, { layer: soundLayer });
  requireSame(ids, expected, "the experiment run again");
  const { problems } = problemsOf(place);
  if (problems.length > 0) throw new Error(`after healing: ${problems[0]?.message}`);
  for (const folder of [`${place.store}/tmp`, `${place.runs}/.tmp`]) {
    const left = diskLayer.list(folder);
    if (left.length > 0) throw new Error(`${left.length} temporary files stay in ${folder}`);
  }
  return ids.cached;
}

/** Damages one file of a whole store, sees that it is named, and takes it away. */
async function damageRound(place: StressPlace, draw: RandomStream): Promise<void> {
  const folders = ["blobs/sha256", "blobs/sha256", "actions", "refs/runs", ""].map((name) =>
    `${place.store}/${name}`
  );
  const folder = draw.pick(folders);
  const files = diskLayer.list(folder).filter(({ name, kind }) => kind === "file" && name !== "lock");
  const path = `${folder}/${draw.pick(files).name}`;
  const content = Deno.readFileSync(path);
  if (content.length === 0) return; // an empty blob has no byte to lose
  const at = draw.integer(content.length);
  const damage = draw.pick(["flip", "truncate", "append", "zeros"]);
  counts.damaged++;
  if (damage === "flip") Deno.writeFileSync(path, content.with(at, content[at]! ^ (1 << draw.integer(8))));
  else if (damage === "truncate") Deno.truncateSync(path, at);
  else if (damage === "append") {
    Deno.writeFileSync(path, new Uint8Array([draw.integer(256)]), { append: true });
  } else Deno.writeFileSync(path, new Uint8Array(content.length));
  const { problems } = problemsOf(place);
  let named = problems.map((problem) => problem.path);
  if (named.length === 0) {
    // A result may be one and yet not be that of its stage: whoever wants to use it sees that.
    const refusal = await runStressExperiment(place, { layer: soundLayer }).catch((error) => error);
    const where = refusal instanceof TracewrightError ? refusal.details["path"] : undefined;
    if (typeof where !== "string") throw new Error(`${damage} at ${at} of ${path} was not named: ${refusal}`);
    named = [where];
  }
  counts.named++;
  for (const name of new Set(named)) Deno.removeSync(name);
}

/** Leaves content without a name, and sees a collection remove that and nothing else. */
function collectRound(place: StressPlace, draw: RandomStream): void {
  const action: ActionRecord = {
    schema: ACTION_SCHEMA,
    stage: { name: "loose", version: 1, code: digestOf("loose") },
    numerics: [],
    params: { draw: draw.integer(1_000_000) },
    inputs: {},
  };
  const before = checkStore(Store.open(place.store), { depth: "structure" });
  let digest;
  {
    using store = Store.open(place.store, { layer: soundLayer });
    const out = {
      ...store.blobs.put(new TextEncoder().encode(`loose ${draw.uniform()}`)),
      media_type: "text/plain",
    };
    digest = out.digest;
    store.actions.publish(action, { out });
  }
  const store = Store.open(place.store);
  const planned = planGarbage(store);
  const done = collectGarbage(store);
  const expected = JSON.stringify([[digest], [keyOf(action)]]);
  for (const { blobs, actions } of [planned, done]) {
    if (JSON.stringify([blobs, actions]) !== expected) {
      throw new Error(`a collection removes ${blobs} and ${actions}, not ${expected}`);
    }
  }
  const after = checkStore(store, { depth: "content" });
  if (JSON.stringify(after) !== JSON.stringify({ ...before, leftovers: 0 })) {
    throw new Error(`a collection left ${JSON.stringify(after)}, not ${JSON.stringify(before)}`);
  }
}

async function measure(pool: Pool, place: StressPlace): Promise<Undisturbed> {
  const process = pool.take();
  await process.ready();
  const began = performance.now();
  await process.start({ ...place, end: null } satisfies StressJob);
  const { said, code, stderr } = await process.ended();
  if (code !== 0) throw new Error(stderr);
  const { changes, ...ids } = JSON.parse(said) as StressIds & { changes: number };
  return { ids, changes, ms: performance.now() - began };
}

const rounds = wholeArgument(0, { fallback: 20, usage: USAGE });
const seed = wholeArgument(1, { fallback: 1, usage: USAGE });
const base = await Deno.makeTempDir({ prefix: "tracewright-stress-" });
let folder = 0;
try {
  await using pool = new Pool();
  const placeOf = (name: string) => ({ store: `${base}/${name}/store`, runs: `${base}/${name}/runs` });
  const undisturbed = await measure(pool, placeOf("undisturbed"));
  const { ids, changes, ms } = undisturbed;
  console.log(
    `seed ${seed}; undisturbed: ${changes} changes of the disk, ${ms.toFixed(0)} ms, result ${ids.resultId}`,
  );
  const began = performance.now();
  while (counts.rounds < rounds) {
    const draw = new RandomStream(seed, "store-stress", folder);
    const place = placeOf(`${folder}`);
    for (let left = 1 + draw.integer(3); left > 0 && counts.rounds < rounds; left--) {
      await killRound(pool, place, draw, undisturbed);
    }
    counts.kept += await heal(pool, place, ids);
    await damageRound(place, draw);
    await heal(pool, place, ids);
    collectRound(place, draw);
    await Deno.remove(`${base}/${folder}`, { recursive: true });
    folder++;
    if (folder % 50 === 0) {
      console.log(`${counts.rounds} rounds in ${folder} stores, ${counts.kills} processes killed`);
    }
  }
  const seconds = (performance.now() - began) / 1000;
  const report = [
    `${counts.rounds} rounds in ${folder} stores, ${seconds.toFixed(1)} s: ${counts.kills} processes killed`,
    `${counts.escaped} ended before their time came`,
    `temporary files left after ${counts.littered} rounds, ${counts.leftovers} of them`,
    `nothing else left by any kill; ${counts.named} of ${counts.damaged} files damaged by hand were named`,
    `the experiment run again ${counts.healed} times: the ids of the undisturbed run, ${counts.kept} stages of ` +
    `${folder * STRESS_STAGES} kept after kills`,
    `${counts.collections} collections between processes, ${counts.refused} refused while one was at work; ` +
    `${folder} at the end, exact`,
  ];
  for (const line of report) console.log(line);
} catch (error) {
  console.error(`seed ${seed}, store ${folder}, after ${counts.rounds} rounds; the folders stay in ${base}`);
  throw error;
}
await Deno.remove(base, { recursive: true });
