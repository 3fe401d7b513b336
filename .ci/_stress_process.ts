/**
 * Runs the experiment of `store_stress.ts` as a process that can be killed. It says `ready`, waits for one line that tells
 * it where to work and when to end, and prints the ids as a line. The end is SIGKILL by its own hand at one operation on
 * the disk, so that it falls exactly there, with half a write where it is one.
 */
import { CHANGES, FaultyLayer } from "../lib/store/faulty_layer.ts";
import { diskLayer } from "../lib/store/file_layer.ts";
import { runStressExperiment, type StressPlace } from "./_stress_experiment.ts";

/** What the process is told. */
export interface StressJob extends StressPlace {
  /** The change of the disk before which the process kills itself, counted from 0; null where it does not. */
  readonly end: { readonly at: number; readonly torn: boolean } | null;
}

if (import.meta.main) {
  console.log("ready");
  const buffer = new Uint8Array(4096);
  const job = JSON.parse(
    new TextDecoder().decode(buffer.subarray(0, Deno.stdin.readSync(buffer) ?? 0)),
  ) as StressJob;
  let changes = 0;
  let dying = false;
  const layer = new FaultyLayer((operation) => {
    if (dying) Deno.kill(Deno.pid, "SIGKILL");
    if (!CHANGES.has(operation) || changes++ !== job.end?.at) return undefined;
    if (operation !== "write" || !job.end.torn) Deno.kill(Deno.pid, "SIGKILL");
    dying = true; // at whatever it does next, half of its bytes having been written
    return { error: new Error("the process is about to end"), done: "half" };
  }, { base: { ...diskLayer } }); // a copy: the machine's own disk is not waited for
  const ids = await runStressExperiment(job, { layer });
  console.log(JSON.stringify({ ...ids, changes }));
}
