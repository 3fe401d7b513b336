import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { CHANGES, FaultyLayer, type Operation } from "../store/faulty_layer.ts";
import { dagManifestBytes, resultId } from "../store/manifest.ts";
import { checkRunBlobs, checkRunViews, readRun } from "../store/read_run.ts";
import { scratchFolder } from "../store/scratch_folder.ts";
import { Store } from "../store/store.ts";
import { isIoError, storeError } from "../store/store_error.ts";
import { writeRun } from "../store/write_run.ts";
import {
  count,
  double,
  fail,
  fixtureConfig,
  fixturePlan,
  fixtureStages,
  mischief,
} from "./_fixture_stages.ts";
import type { Executor, StageRequest } from "./executor.ts";
import { InlineExecutor } from "./inline_executor.ts";
import { type ExperimentPlan, planNode } from "./plan.ts";
import { type RunEvent, type RunOptions, runPlan } from "./scheduler.ts";

const NUMERICS = ["f32", "exact"];
const SUM = digestOf("75\n");
const soundLayer = new FaultyLayer(() => undefined);

/** A store of its own with everything to run the fixture in it. */
function bench(fault: (operation: Operation, path: string) => Error | undefined = () => undefined) {
  const folder = scratchFolder();
  const store = Store.open(`${folder.path}/store`, { layer: new FaultyLayer(fault) });
  const executor = new InlineExecutor({ stages: fixtureStages, store });
  const events: RunEvent[] = [];
  return {
    folder: folder.path,
    store,
    executor,
    events,
    run: (options: Partial<RunOptions> = {}, plan = fixturePlan()) => {
      store.blobs.put(fixtureConfig);
      events.length = 0;
      const listener = (event: RunEvent) => void events.push(event);
      return runPlan(plan, { store, executor, codeOf: digestOf, numerics: NUMERICS, listener, ...options });
    },
    happened: (type: RunEvent["type"]) =>
      events.flatMap((event) => event.type === type && "node" in event ? [event.node] : []),
    [Symbol.dispose]: () => {
      store[Symbol.dispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Sets a switch of the fixture for the rest of a scope. */
function impure(text: string): Disposable {
  mischief.impurity = text;
  return { [Symbol.dispose]: () => void (mischief.impurity = "") };
}

Deno.test("runPlan() runs every stage once and records what came of what", async () => {
  using bed = bench();
  const { dag, stats } = await bed.run();
  deepEqual(stats, { stages: 5, cached: 0, ran: 5 });
  deepEqual(dag.nodes.map(({ id }) => id), ["count", "double/0", "double/1", "double/2", "total"]);
  deepEqual(dag.numerics, ["exact", "f32"]);
  deepEqual(dag.roots, ["total"]);
  equal(dag.nodes[4]?.outputs["sum"]?.digest, SUM);
  deepEqual(dag.views, { "sum.txt": SUM, "sum.html": null });
  deepEqual(dag.nodes[0]?.inputs, { config: { digest: digestOf(fixtureConfig), producer: "config" } });
  deepEqual(dag.nodes[2]?.inputs, { numbers: { digest: digestOf("0\n1\n2\n3\n4\n"), producer: "count" } });
  dagManifestBytes(dag);
});

Deno.test("runPlan() does no work the second time and gives the same manifest", async () => {
  using bed = bench();
  const first = await bed.run();
  const second = await bed.run();
  deepEqual(second.stats, { stages: 5, cached: 5, ran: 0 });
  deepEqual(second.dag, first.dag);
  deepEqual(bed.events.map(({ type }) => type), [
    "planned",
    "cached",
    "cached",
    "cached",
    "cached",
    "cached",
  ]);
});

Deno.test("runPlan() writes nothing where everything is known", async () => {
  let isFrozen = false;
  using bed = bench((operation) =>
    isFrozen && CHANGES.has(operation)
      ? storeError("read_only", { message: "read-only file system" })
      : undefined
  );
  await bed.run();
  isFrozen = true;
  deepEqual((await bed.run()).stats, { stages: 5, cached: 5, ran: 0 });
});

Deno.test("runPlan() runs again exactly what a changed parameter, code or input reaches", async () => {
  using bed = bench();
  await bed.run();
  const plan = fixturePlan();
  const nodes = plan.nodes.map((node) => node.id === "double/1" ? { ...node, params: { add: 10 } } : node);
  await bed.run({}, { ...plan, nodes });
  deepEqual(bed.happened("started"), ["double/1", "total"]);
  await bed.run({ codeOf: (stage) => digestOf(stage === "double" ? "edited" : stage) });
  // Its inputs kept their bytes, so `total` is not run again.
  deepEqual(bed.happened("started"), ["double/0", "double/1", "double/2"]);
  deepEqual(bed.happened("cached"), ["count", "total"]);
});

Deno.test("runPlan() gives the same result id and another manifest under other code", async () => {
  using bed = bench();
  const first = await bed.run();
  const second = await bed.run({ codeOf: (stage) => digestOf(`edited ${stage}`) });
  equal(resultId(second.dag), resultId(first.dag));
  ok(digestOf(dagManifestBytes(second.dag)) !== digestOf(dagManifestBytes(first.dag)));
});

Deno.test("runPlan() runs a stage again whose output is gone, and finds the same bytes", async () => {
  using bed = bench();
  const first = await bed.run();
  Deno.removeSync(bed.store.blobs.blobPath(SUM));
  const second = await bed.run();
  deepEqual(second.stats, { stages: 5, cached: 4, ran: 1 });
  deepEqual(second.dag, first.dag);
  const started = bed.events.find((event) => event.type === "started");
  equal(started?.type === "started" && started.reason, "output_missing_in_store");
});

Deno.test("runPlan() refuses a recorded result that has other outputs than its stage", async () => {
  using bed = bench();
  const { dag } = await bed.run();
  const path = bed.store.actions.path(dag.nodes[0]!.key);
  const text = Deno.readTextFileSync(path);
  for (
    const edited of [
      text.replace("jsonl", "jsonm"),
      text.replace('"outputs":{"numbers"', '"outputs":{"members"'),
    ]
  ) {
    ok(edited !== text);
    Deno.writeTextFileSync(path, edited);
    await rejects(
      bed.run(),
      (error) =>
        hasCode(error, "bad_action") && error.details["path"] === path && error.details["node"] === "count",
    );
    Deno.removeSync(path);
    deepEqual((await bed.run()).stats, { stages: 5, cached: 4, ran: 1 });
  }
});

Deno.test("runPlan() tells a listener what happens, in order", async () => {
  using bed = bench();
  await bed.run();
  const about = (node: string) => bed.events.filter((event) => "node" in event && event.node === node);
  deepEqual(about("count").map(({ type }) => type), [
    "started",
    ...Array(5).fill("progress"),
    "finished",
  ]);
  deepEqual(about("count")[1], {
    type: "progress",
    node: "count",
    fraction: 0.2,
    counted: { unit: "numbers", count: 1, total: 5 },
  });
  const planned = bed.events[0];
  deepEqual(planned?.type === "planned" && planned.nodes[0], { id: "count", stage: "count" });
  const started = about("count")[0];
  equal(started?.type === "started" && started.reason, "no_earlier_action");
});

Deno.test("runPlan() in check mode reruns every stage and finds the same bytes", async () => {
  using bed = bench();
  const first = await bed.run();
  const second = await bed.run({ mode: "check" });
  deepEqual(second.stats, { stages: 5, cached: 0, ran: 5 });
  deepEqual(second.dag, first.dag);
  deepEqual(bed.happened("cached"), []);
});

Deno.test("runPlan() in check mode stops at a stage that gives other bytes for a known key", async () => {
  using bed = bench();
  await bed.run();
  using _ = impure("0"); // 0 becomes 00, 2 becomes 20
  await rejects(() => bed.run({ mode: "check" }), (error) => {
    ok(hasCode(error, "impure_stage"));
    equal(error.details["node"], "double/0");
    equal(error.details["stage"], "double");
    equal(error.details["output"], "numbers");
    equal(error.details["line"], 1);
    equal(error.details["recorded"], "0");
    equal(error.details["now"], "00");
    return true;
  });
  equal((await bed.run()).dag.nodes[4]?.outputs["sum"]?.digest, SUM);
});

Deno.test("runPlan() stops at other bytes when another process publishes the same key first", async () => {
  let rival: Promise<unknown> | undefined;
  using bed = bench();
  using rivalStore = Store.open(bed.store.path, { layer: soundLayer });
  const rivalExecutor = new InlineExecutor({ stages: fixtureStages, store: rivalStore });
  const executor: Executor = {
    capacity: 1,
    async run(request: StageRequest, onProgress) {
      if (request.stage === "double") {
        // The rival runs the whole plan while this process is inside its first impure stage.
        rival ??= runPlan(fixturePlan(), {
          store: rivalStore,
          executor: rivalExecutor,
          codeOf: digestOf,
          numerics: NUMERICS,
        });
        await rival;
        using _ = impure("7");
        return await bed.executor.run(request, onProgress);
      }
      return await bed.executor.run(request, onProgress);
    },
    [Symbol.dispose]() {},
  };
  await rejects(
    () => bed.run({ executor }),
    (error) => hasCode(error, "impure_stage") && error.details["node"] === "double/0",
  );
});

function failingPlan(how: "coded" | "plain"): ExperimentPlan {
  const plan = fixturePlan();
  const numbers = { node: "count", output: "numbers" };
  return {
    ...plan,
    nodes: [...plan.nodes, planNode(fail, { id: "bad", params: { how }, inputs: { numbers } })],
  };
}

Deno.test("runPlan() stops cleanly at a failing stage, says where, and keeps what was finished", async () => {
  using bed = bench();
  await rejects(() => bed.run({}, failingPlan("coded")), (error) => {
    ok(hasCode(error, "lost_count"));
    const { node, stage, line, expected, actual } = error.details;
    deepEqual({ node, stage, line, expected, actual }, {
      node: "bad",
      stage: "fail",
      line: 7,
      expected: 3,
      actual: 2,
    });
    return true;
  });
  deepEqual(bed.happened("finished"), ["count"]);
  deepEqual((await bed.run()).stats, { stages: 5, cached: 1, ran: 4 });
  await rejects(
    () => bed.run({}, failingPlan("plain")),
    (error) => hasCode(error, "stage_failed") && error.message.includes("a plain failure"),
  );
});

Deno.test("runPlan() lets stages under way end and be recorded when another one fails", async () => {
  using bed = bench();
  const gates: (() => void)[] = [];
  const executor: Executor = {
    capacity: 4,
    async run(request, onProgress) {
      // "double/…" come before "failing" and wait at their gates until it has failed.
      if (request.stage === "double") await new Promise<void>((open) => gates.push(open));
      try {
        return await bed.executor.run(request, onProgress);
      } finally {
        if (request.node === "failing") { for (const open of gates) setTimeout(open, 0); }
      }
    },
    [Symbol.dispose]() {},
  };
  const plan = failingPlan("coded");
  const nodes = plan.nodes.map((node) => node.id === "bad" ? { ...node, id: "failing" } : node);
  await rejects(
    () => bed.run({ executor }, { ...plan, nodes }),
    (error) => hasCode(error, "lost_count"),
  );
  deepEqual(bed.happened("finished").sort(), ["count", "double/0", "double/1", "double/2"]);
  deepEqual((await bed.run()).stats, { stages: 5, cached: 4, ran: 1 });
});

Deno.test("runPlan() keeps within the executor's capacity and uses all of it", async () => {
  using bed = bench();
  for (const capacity of [1, 2, 3, 8]) {
    let busy = 0;
    let most = 0;
    const executor: Executor = {
      capacity,
      async run(request, onProgress) {
        most = Math.max(most, ++busy);
        await Promise.resolve(); // lets the others start
        const outputs = await bed.executor.run(request, onProgress);
        busy--;
        return outputs;
      },
      [Symbol.dispose]() {},
    };
    await bed.run({ executor, mode: "check" });
    equal(most, Math.min(capacity, 3));
  }
});

Deno.test("runPlan() refuses a source that is not in the store or damaged, before anything runs", async () => {
  using bed = bench();
  const plan = fixturePlan();
  const numbers = { source: digestOf("elsewhere") };
  const nodes = [...plan.nodes, planNode(double, { id: "extra", params: {}, inputs: { numbers } })];
  await rejects(() => bed.run({}, { ...plan, nodes }), (error) => hasCode(error, "missing_blob"));
  deepEqual(bed.events, []);
});

Deno.test("runPlan() names the stage that met a damaged input", async () => {
  using bed = bench();
  await bed.run();
  Deno.writeTextFileSync(bed.store.blobs.blobPath(digestOf("0\n1\n2\n3\n4\n")), "0\n1\n2\n3\n5\n");
  await rejects(
    () => bed.run({ codeOf: (stage) => digestOf(stage === "double" ? "edited" : stage) }),
    (error) => hasCode(error, "blob_damaged") && error.details["node"] === "double/0",
  );
});

Deno.test("runPlan() reports a full or read-only disk, and goes on when there is room again", async () => {
  for (const code of ["disk_full", "read_only"] as const) {
    let broken = false;
    using bed = bench((operation) =>
      broken && CHANGES.has(operation) ? storeError(code, { message: "no" }) : undefined
    );
    const executor: Executor = {
      capacity: 1,
      run: async (request, onProgress) => {
        broken = request.node === "double/1";
        return await bed.executor.run(request, onProgress);
      },
      [Symbol.dispose]() {},
    };
    await rejects(
      () => bed.run({ executor }),
      (error) => isIoError(error) && hasCode(error, code) && error.details["node"] === "double/1",
    );
    broken = false;
    for (const digest of bed.store.blobs.list()) bed.store.blobs.read(digest);
    deepEqual((await bed.run()).stats, { stages: 5, cached: 2, ran: 3 });
  }
});

Deno.test("a run written from a plan verifies, holds its views, and keeps its digests elsewhere", async () => {
  using bed = bench();
  const { dag } = await bed.run();
  const written = writeRun(dag, { store: bed.store.blobs, directory: `${bed.folder}/runs` });
  equal(Deno.readTextFileSync(`${written.path}/sum.txt`), "75\n");
  Deno.renameSync(written.path, `${bed.folder}/moved`);
  const run = readRun(`${bed.folder}/moved`);
  checkRunBlobs(run);
  checkRunViews(run);
  equal(run.runId, written.runId);
  equal(run.resultId, resultId(dag));
});

Deno.test("InlineExecutor refuses two stages of one name and a stage it does not know", async () => {
  using bed = bench();
  await rejects(
    async () =>
      await Promise.resolve(new InlineExecutor({ stages: [count, { ...count }], store: bed.store })),
    (error) => hasCode(error, "bad_stage"),
  );
  using executor = new InlineExecutor({ stages: [count], store: bed.store });
  await rejects(() => bed.run({ executor }), (error) => hasCode(error, "unknown_stage"));
});
