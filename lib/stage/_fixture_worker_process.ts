/**
 * Runs the fixture experiment as a process of its own, which a test can kill. Prints a line an event. With a second
 * argument, the `double` stage with that constant stops in the middle of its output until somebody kills it.
 *
 *     deno run -A _fixture_worker_process.ts STORE [ADD]
 */
import { digestOf } from "../core/digest.ts";
import { resultId } from "../store/manifest.ts";
import { Store } from "../store/store.ts";
import { fixtureConfig, fixturePlan, fixtureStages, mischief } from "./_fixture_stages.ts";
import { InlineExecutor } from "./inline_executor.ts";
import { runPlan } from "./scheduler.ts";

const [path, stopAt] = Deno.args as [string, string | undefined];
using store = Store.open(path);
store.blobs.put(fixtureConfig);
mischief.pause = async (add) => {
  if (add !== stopAt) return;
  console.log("paused");
  await Deno.stdin.read(new Uint8Array(1)); // nothing ever comes
};
using executor = new InlineExecutor({ stages: fixtureStages, store });
const { dag, stats } = await runPlan(fixturePlan(), { store, executor, codeOf: digestOf, numerics: ["n"] });
console.log(JSON.stringify({ result: resultId(dag), ...stats }));
