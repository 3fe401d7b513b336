import { deepEqual, equal, ok } from "node:assert/strict";
import { type Digest, digestOf } from "../core/digest.ts";
import { CHANGES, FaultyLayer } from "../store/faulty_layer.ts";
import { resultId } from "../store/manifest.ts";
import { scratchFolder } from "../store/scratch_folder.ts";
import { Store } from "../store/store.ts";
import { fixtureConfig, fixturePlan, fixtureStages } from "./_fixture_stages.ts";
import { InlineExecutor } from "./inline_executor.ts";
import { type RunEvent, runPlan } from "./scheduler.ts";

const soundLayer = new FaultyLayer(() => undefined);

Deno.test("runPlan() ends with the same result whatever operation an earlier process ended before", async () => {
  let expected: Digest | undefined;
  let total = Infinity;
  for (let end = 0; end < total; end += 3) {
    using folder = scratchFolder();
    let changes = 0;
    const layer = new FaultyLayer((operation) => {
      if (CHANGES.has(operation)) changes++;
      return changes > end ? new Error("the process has ended") : undefined;
    });
    const attempt = async (store: Store) => {
      store.blobs.put(fixtureConfig);
      const executor = new InlineExecutor({ stages: fixtureStages, store });
      const finished = new Set<string>();
      const listener = (event: RunEvent) => {
        if (event.type === "finished") finished.add(event.node);
      };
      const run = runPlan(fixturePlan(), { store, executor, codeOf: digestOf, numerics: ["n"], listener });
      return { finished, result: await run.catch(() => undefined) };
    };
    let before = new Set<string>();
    try {
      const { finished, result } = await attempt(Store.open(folder.path, { layer }));
      before = finished;
      if (result !== undefined) total = end;
    } catch (error) {
      equal((error as Error).message, "the process has ended");
    }
    layer.die();
    using store = Store.open(folder.path, { layer: soundLayer });
    const { result } = await attempt(store);
    ok(result !== undefined);
    expected ??= resultId(result.dag);
    equal(resultId(result.dag), expected);
    ok(result.stats.cached >= before.size, "a finished stage was lost");
  }
  ok(total > 40 && total < 300);
});

Deno.test("runPlan() loses no finished stage to SIGKILL and ends with the same result", async () => {
  using folder = scratchFolder();
  const path = `${folder.path}/store`;
  const child = (...rest: string[]) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-prompt", `${import.meta.dirname}/_fixture_worker_process.ts`, path, ...rest],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
  const first = child("1"); // stops inside double/1
  for await (const chunk of first.stdout.pipeThrough(new TextDecoderStream())) {
    if (chunk.includes("paused")) break;
  }
  first.kill("SIGKILL");
  equal((await first.status).success, false);
  await first.stdin.close().catch(() => {}); // its reader is gone
  const leftovers = [...Deno.readDirSync(`${path}/tmp`)];
  ok(leftovers.length > 0, "the process was killed in the middle of an output");

  const second = child();
  await second.stdin.close();
  const printed = await new Response(second.stdout).text();
  equal((await second.status).success, true);
  const { result, ...stats } = JSON.parse(printed);
  deepEqual(stats, { stages: 5, cached: 2, ran: 3 }); // count and double/0 were finished
  deepEqual([...Deno.readDirSync(`${path}/tmp`)], []);

  using clean = scratchFolder();
  using store = Store.open(clean.path, { layer: soundLayer });
  store.blobs.put(fixtureConfig);
  const executor = new InlineExecutor({ stages: fixtureStages, store });
  const { dag } = await runPlan(fixturePlan(), { store, executor, codeOf: digestOf, numerics: ["n"] });
  equal(result, resultId(dag));
});
