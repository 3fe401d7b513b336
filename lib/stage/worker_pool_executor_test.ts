import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import { hasCode, TracewrightError } from "../core/error.ts";
import { runLayers, runManifestBytes } from "../store/run_manifest.ts";
import { dagManifestBytes } from "../store/manifest.ts";
import { scratchFolder } from "../store/scratch_folder.ts";
import { Store } from "../store/store.ts";
import { fixtureConfig, fixturePlan, fixtureStages } from "./_fixture_stages.ts";
import { fromWire, toWire } from "./wire_error.ts";
import type { Executor } from "./executor.ts";
import { InlineExecutor } from "./inline_executor.ts";
import { type RunEvent, runPlan } from "./scheduler.ts";
import { WorkerPoolExecutor } from "./worker_pool_executor.ts";

const ENTRY = new URL("./_fixture_worker.ts", import.meta.url);

async function manifestWith(
  open: (store: Store) => Executor,
): Promise<{ manifest: Uint8Array; events: RunEvent[] }> {
  using folder = scratchFolder();
  using store = Store.open(`${folder.path}/store`);
  store.blobs.put(fixtureConfig);
  using executor = open(store);
  const events: RunEvent[] = [];
  const { dag } = await runPlan(fixturePlan(), {
    store,
    executor,
    codeOf: digestOf,
    numerics: ["n"],
    listener: (event) => void events.push(event),
  });
  const layers = runLayers(dag, dagManifestBytes(dag), (digest) => store.blobs.open(digest).size);
  return { manifest: runManifestBytes(layers), events };
}

function pool(storePath: string, workers = 1, entry = ENTRY): WorkerPoolExecutor {
  return new WorkerPoolExecutor({ entry, storePath, workers });
}

const REQUEST = {
  node: "count",
  stage: "count",
  params: { upTo: 3 },
  inputs: { config: digestOf(fixtureConfig) },
} as const;

Deno.test("inline, one worker and two workers give the same run manifest", async () => {
  const inline = await manifestWith((store) => new InlineExecutor({ stages: fixtureStages, store }));
  const one = await manifestWith((store) => pool(store.path, 1));
  const two = await manifestWith((store) => pool(store.path, 2));
  deepEqual(one.manifest, inline.manifest);
  deepEqual(two.manifest, inline.manifest);
  ok(two.events.some((event) => event.type === "progress" && event.node === "count" && event.fraction === 1));
});

Deno.test("WorkerPoolExecutor carries errors across with code, details and stack", async () => {
  using folder = scratchFolder();
  using store = Store.open(folder.path);
  const numbers = store.blobs.put(new TextEncoder().encode("1\n")).digest;
  using executor = pool(store.path);
  const request = (how: string) => ({ node: "bad", stage: "fail", params: { how }, inputs: { numbers } });
  await rejects(() => executor.run(request("coded"), () => {}), (error) => {
    ok(hasCode(error, "lost_count"));
    equal(error.details["line"], 7);
    equal(error.details.expected, 3);
    ok((error.cause as Error).stack?.includes("_fixture_stages.ts"));
    return true;
  });
  await rejects(() => executor.run(request("plain"), () => {}), /a plain failure/);
  await rejects(
    () =>
      executor.run({
        ...request("plain"),
        stage: "double",
        params: {},
        inputs: { numbers: digestOf("absent") },
      }, () => {}),
    (error) => hasCode(error, "missing_blob") && error.details.expected === digestOf("absent"),
  );
  await rejects(
    () => executor.run({ ...REQUEST, stage: "nothing" }, () => {}),
    (error) => hasCode(error, "unknown_stage"),
  );
  // The worker is still good.
  const outputs = await executor.run(REQUEST, () => {});
  equal(outputs["numbers"]?.digest, digestOf("0\n1\n2\n"));
  equal(store.blobs.open(digestOf("0\n1\n2\n")).text(), "0\n1\n2\n");
});

Deno.test("WorkerPoolExecutor reports a worker that cannot start", async () => {
  using folder = scratchFolder();
  Deno.writeTextFileSync(`${folder.path}/broken.ts`, "throw new Error('the module is broken');");
  using executor = pool(folder.path, 1, new URL(`file:///${folder.path.replace(/^\//, "")}/broken.ts`));
  for (const _attempt of [1, 2]) {
    await rejects(
      () => executor.run(REQUEST, () => {}),
      (error) => hasCode(error, "worker_failed") && error.message.includes("the module is broken"),
    );
  }
});

Deno.test("WorkerPoolExecutor takes no more than it has room for, and nothing after it is closed", async () => {
  using folder = scratchFolder();
  throws(() => pool(folder.path, 0), (error) => hasCode(error, "worker_failed"));
  const executor = pool(folder.path);
  const first = executor.run(REQUEST, () => {});
  await rejects(() => executor.run(REQUEST, () => {}), (error) => hasCode(error, "worker_failed"));
  executor[Symbol.dispose]();
  await rejects(() => first, (error) => hasCode(error, "worker_failed"));
  await rejects(() => executor.run(REQUEST, () => {}), (error) => hasCode(error, "worker_failed"));
});

Deno.test("toWire() and fromWire() keep code, details and message, and turn the rest into text", () => {
  const error = new TracewrightError("some_code", {
    expected: [1],
    line: 3,
    how: () => 1,
    cause: new Error("inner"),
  });
  const again = fromWire(structuredClone(toWire(error)));
  ok(hasCode(again, "some_code"));
  deepEqual(again.details.expected, [1]);
  equal(again.details["line"], 3);
  equal(typeof again.details["how"], "string");
  equal(fromWire(structuredClone(toWire(new RangeError("plain")))).message, "plain");
  equal(fromWire(structuredClone(toWire("text"))).message, "text");
});
