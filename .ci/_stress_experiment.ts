import { z } from "zod";
import { type Digest, digestOf, hexOf } from "../lib/core/digest.ts";
import { defineStage } from "../lib/stage/define_stage.ts";
import { InlineExecutor } from "../lib/stage/inline_executor.ts";
import { type ExperimentPlan, planNode } from "../lib/stage/plan.ts";
import { runPlan } from "../lib/stage/scheduler.ts";
import type { FileLayer } from "../lib/store/file_layer.ts";
import { Store } from "../lib/store/store.ts";
import { writeRun } from "../lib/store/write_run.ts";

const TEXT = { media_type: "text/plain" };

/** Writes three blobs, one of them larger than the buffer of a writer, one empty. */
const spread = defineStage({
  name: "spread",
  version: 1,
  params: z.strictObject({ part: z.int() }),
  inputs: { config: { media_type: "application/json" } },
  outputs: { a: TEXT, b: TEXT, c: TEXT },
  run({ params: { part }, output }) {
    for (const [i, name] of (["a", "b", "c"] as const).entries()) {
      const lines = output(name);
      const count = part === 0 && i === 2 ? 40_000 : 10 * (part + i);
      for (let at = 0; at < count; at += 1000) {
        lines.write(`${part} ${name} ${at}\n`.repeat(Math.min(1000, count - at)));
      }
    }
  },
});

/** Reads some blobs, writes one with their digests and one with their number of lines. */
const mix = defineStage({
  name: "mix",
  version: 1,
  params: z.strictObject({}),
  inputs: { "parts/*": TEXT },
  outputs: { digests: TEXT, lines: TEXT },
  run({ inputNames, input, output }) {
    const [digests, lines] = [output("digests"), output("lines")];
    for (const name of inputNames("parts/")) {
      let count = 0;
      for (const _line of input(name).lines()) count++;
      lines.write(`${count}\n`);
      digests.write(`${digestOf(input(name).bytes())}\n`);
    }
  },
});

const CONFIG = new TextEncoder().encode('{"name":"stress"}');
const PARTS = 3;
/** How many stages {@link runStressExperiment} runs. */
export const STRESS_STAGES = 2 * PARTS;

/** Three `spread`, a `mix` of each pair of neighbours, a `mix` of those: 6 stages, 15 blobs. */
function stressPlan(config: Digest): ExperimentPlan {
  const parts = Array.from(
    { length: PARTS },
    (_, part) =>
      planNode(spread, { id: `spread/${part}`, params: { part }, inputs: { config: { source: config } } }),
  );
  const pairs = Array.from({ length: PARTS - 1 }, (_, at) =>
    planNode(mix, {
      id: `mix/${at}`,
      params: {},
      inputs: {
        "parts/0": { node: `spread/${at}`, output: "a" },
        "parts/1": { node: `spread/${at}`, output: "c" },
        "parts/2": { node: `spread/${at + 1}`, output: "b" },
      },
    }));
  const all = Object.fromEntries(
    pairs.map(({ id }, i) => [`parts/${i}`, { node: id, output: "digests" }]),
  ) as Record<
    `parts/${string}`,
    { node: string; output: string }
  >;
  return {
    config,
    nodes: [...parts, ...pairs, planNode(mix, { id: "all", params: {}, inputs: all })],
    views: [{ path: "all.txt", node: "all", output: "digests" }, {
      path: "parts/0.txt",
      node: "spread/0",
      output: "a",
    }],
  };
}

/** Where an experiment works. */
export interface StressPlace {
  readonly store: string;
  /** Where run folders are written. */
  readonly runs: string;
}

/** What an undisturbed experiment gives, and so must every other. */
export interface StressIds {
  readonly runId: Digest;
  readonly resultId: Digest;
  readonly cached: number;
}

/** Runs a small experiment as a command does: stages, run folder, names. It writes many blobs and computes nothing. */
export async function runStressExperiment(
  place: StressPlace,
  { layer }: { layer: FileLayer },
): Promise<StressIds> {
  using store = Store.open(place.store, { layer });
  const { digest } = store.blobs.put(CONFIG);
  using executor = new InlineExecutor({ stages: [spread, mix], store });
  const { dag, stats } = await runPlan(stressPlan(digest), {
    store,
    executor,
    codeOf: digestOf,
    numerics: ["n"],
  });
  const { runId, resultId } = writeRun(dag, { store: store.blobs, directory: place.runs });
  store.refs.set(`runs/${hexOf(runId).slice(0, 16)}`, runId);
  store.refs.set("experiments/stress", runId);
  return { runId, resultId, cached: stats.cached };
}
