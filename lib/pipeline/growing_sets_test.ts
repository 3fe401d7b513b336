/** No stage may hold a set that grows with the number of test cases: neither what it reads nor what it writes. */
import assert from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import type { InputBlob, Stage } from "../stage/define_stage.ts";
import { memoryInput, runStage } from "../stage/run_stage.ts";
import type { Params } from "../store/action_record.ts";
import { ExampleRun } from "./_example_run.ts";
import { STAGES } from "./experiment.ts";
import { MEDIA } from "./media_types.ts";

const RUN = new ExampleRun();
const GROWING: readonly string[] = [MEDIA.tasks, MEDIA.traces, MEDIA.actionValidity];
const { test } = await RUN.inputs("evaluate/e/17");
const BOOTSTRAP = { samples: 20, confidence: 0.95, seed: 7 };

/** A set too large to be held: it says that it is, and can only be read piece by piece. */
function large(bytes: Uint8Array): InputBlob {
  const whole = () => assert.fail("a set that grows with the cases was read as a whole");
  return { ...memoryInput(bytes), size: 2 ** 40, bytes: whole, text: whole };
}

/** Runs a stage, and requires that every set it writes leaves it line by line, or in pieces as small. */
async function runOnLargeSets(
  name: string,
  { params, inputs }: { readonly params: Params; readonly inputs: Readonly<Record<string, Uint8Array>> },
): Promise<number> {
  const stage: Stage = STAGES.find((one) => one.name === name)!;
  const written: { size: number; largest: number }[] = [];
  const outputs = await runStage(stage, {
    params,
    inputNames: Object.keys(inputs),
    openInput: (input) =>
      input === "test" || input.startsWith("traces/") ? large(inputs[input]!) : memoryInput(inputs[input]!),
    openOutput: () => {
      const sink = { size: 0, largest: 0 };
      written.push(sink);
      return {
        write: ({ length }) => {
          sink.size += length;
          sink.largest = Math.max(sink.largest, length);
        },
        finish: () => ({ digest: digestOf(""), size: sink.size }),
        [Symbol.dispose]: () => {},
      };
    },
  });
  const sets = Object.values(outputs).filter(({ media_type }) => GROWING.includes(media_type));
  for (const { size } of sets) {
    const sink = written.find((one) => one.size === size)!;
    assert.ok(sink.largest * 5 < size, `${name} wrote ${sink.largest} of ${size} bytes at once`);
  }
  return sets.length;
}

const given = async (node: string) => ({ params: RUN.params(node), inputs: await RUN.inputs(node) });

Deno.test("benchmarkStage writes tasks one by one", async () => {
  assert.equal(await runOnLargeSets("benchmark", await given("benchmark")), 3);
});

Deno.test("evaluateStage reads tasks and writes traces one by one", async () => {
  for (const node of ["evaluate/b/17", "evaluate/e/17"]) {
    assert.equal(await runOnLargeSets("evaluate", await given(node)), 1);
  }
});

Deno.test("metricsStage reads tasks and traces one by one", async () => {
  assert.equal(await runOnLargeSets("metrics", await given("metrics")), 0);
});

Deno.test("rulesStage reads tasks and writes traces one by one", async () => {
  const { reward } = RUN.params("evaluate/b/17") as { readonly reward: Params };
  const params = { seed: 17, reward, timeout_s: 80, bootstrap: BOOTSTRAP };
  assert.equal(await runOnLargeSets("rules", { params, inputs: { test: test! } }), 4);
});

Deno.test("actionValidityStage reads tasks and writes labelled calls one by one", async () => {
  const params = { benchmark_seed: 20260808, bootstrap: BOOTSTRAP };
  assert.equal(await runOnLargeSets("action_validity", { params, inputs: { test: test! } }), 1);
});
