/**
 * Runs the experiment of FOLDER/config.json as `smoke` does, with a store and workers, and prints what it found as a line of
 * JSON. A program of its own, so that an emulator can run it.
 *
 *     deno run … .ci/_machine_process.ts FOLDER RUNTIME WORKERS
 */
import { canonicalBytes } from "../lib/core/canonical_json.ts";
import { parseConfig } from "../lib/pipeline/config.ts";
import { setStageRuntime } from "../lib/pipeline/execution.ts";
import { NUMERICS, planExperiment, STAGES } from "../lib/pipeline/experiment.ts";
import { recordedCodes } from "../lib/pipeline/recorded_codes.ts";
import { resolveRuntime } from "../lib/policy/open_runtime.ts";
import { codeDigest } from "../lib/stage/codes.ts";
import { InlineExecutor } from "../lib/stage/inline_executor.ts";
import { runPlan } from "../lib/stage/scheduler.ts";
import { WorkerPoolExecutor } from "../lib/stage/worker_pool_executor.ts";
import { outputDigests, resultId } from "../lib/store/manifest.ts";
import { Store } from "../lib/store/store.ts";

const [folder = "", runtime = "", workers = ""] = Deno.args;
const config = parseConfig(JSON.parse(await Deno.readTextFile(`${folder}/config.json`)));
setStageRuntime(resolveRuntime(runtime));
using store = Store.open(`${folder}/store`);
const { digest } = store.blobs.put(canonicalBytes(config));
using executor = workers === "1" ? new InlineExecutor({ stages: STAGES, store }) : new WorkerPoolExecutor({
  entry: new URL(`../lib/pipeline/stage_worker.ts?runtime=${runtime}`, import.meta.url),
  storePath: store.path,
  workers: Number(workers),
});
const codes = recordedCodes(); // part of keys, of no result: that they are the present ones is not asked for here
const { dag } = await runPlan(planExperiment(config, digest), {
  store,
  executor,
  codeOf: (stage) => codeDigest(codes, stage),
  numerics: NUMERICS,
});
console.log(JSON.stringify({
  engine: `Deno ${Deno.version.deno}, V8 ${Deno.version.v8}`,
  result_id: resultId(dag),
  outputs: outputDigests(dag),
}));
