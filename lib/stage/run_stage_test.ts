import { deepEqual, equal, rejects } from "node:assert/strict";
import { z } from "zod";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { count, double, fail, total } from "./_fixture_stages.ts";
import { defineStage, type StageContext } from "./define_stage.ts";
import { memoryInput, runStage, runStageInMemory } from "./run_stage.ts";
import type { StageCode } from "./stage_error.ts";

const TEXT = { media_type: "text/plain" };
type Context = StageContext<unknown, "in", "a" | "b">;

/** A stage with one input and two outputs that does what the test says. */
function scripted(run: (context: Context) => void | Promise<void>) {
  return defineStage({
    name: "scripted",
    version: 1,
    params: z.strictObject({}),
    inputs: { in: TEXT },
    outputs: { a: TEXT, b: TEXT },
    run,
  });
}

const play = (run: (context: Context) => void | Promise<void>) =>
  runStageInMemory(scripted(run), { params: {}, inputs: { in: "text" } });

async function refuses(
  code: StageCode | "not_text",
  run: (context: Context) => void | Promise<void>,
): Promise<void> {
  await rejects(() => play(run), (error) => hasCode(error, code));
}

Deno.test("runStageInMemory() runs stages with single inputs and with families", async () => {
  const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
  const counted = await runStageInMemory(count, { params: { upTo: 3 }, inputs: { config: "{}" } });
  equal(text(counted["numbers"]), "0\n1\n2\n");
  const doubled = await runStageInMemory(double, { params: { add: 1 }, inputs: { numbers: "0\n1\n2\n" } });
  equal(text(doubled["numbers"]), "1\n3\n5\n");
  const added = await runStageInMemory(total, {
    params: {},
    inputs: { "parts/b": "1\n", "parts/a": "2\n3\n" },
  });
  equal(text(added["sum"]), "6\n");
});

Deno.test("runStage() gives descriptors with the declared media types", async () => {
  const outputs = await runStage(count, {
    params: { upTo: 1 },
    inputNames: ["config"],
    openInput: () => memoryInput("{}"),
    openOutput: () => ({
      write: () => {},
      finish: () => ({ digest: digestOf("0\n"), size: 2 }),
      [Symbol.dispose]() {},
    }),
  });
  deepEqual(outputs, { numbers: { digest: digestOf("0\n"), size: 2, media_type: "application/jsonl" } });
});

Deno.test("runStage() wants every output exactly once", async () => {
  await refuses("output_missing", ({ output }) => void output("a"));
  await refuses("output_twice", ({ output }) => {
    output("a");
    output("b");
    output("a");
  });
  await refuses("unknown_output", ({ output }) => void output("c" as "a"));
  await refuses("unknown_output", ({ output }) => void output("toString" as "a"));
  const empty = await play(({ output }) => {
    output("a");
    output("b");
  });
  equal(empty["a"]?.length, 0);
});

Deno.test("runStage() closes outputs when the stage ends, well or not", async () => {
  const kept: { write(text: string): void }[] = [];
  await play(({ output }) => void kept.push(output("a"), output("b")));
  await rejects(() =>
    play(({ output }) => {
      kept.push(output("a"));
      throw new Error("stop");
    }), /stop/);
  for (const writer of kept) {
    await rejects(async () => await writer.write("late"), (error) => hasCode(error, "output_closed"));
  }
});

Deno.test("runStage() disposes of the sinks of a stage that fails", async () => {
  const disposed: string[] = [];
  const running = runStage(fail, {
    params: { how: "plain" },
    inputNames: ["numbers"],
    openInput: () => memoryInput(""),
    openOutput: (name) => ({
      write: () => {},
      finish: () => ({ digest: digestOf(""), size: 0 }),
      [Symbol.dispose]: () => void disposed.push(name),
    }),
  });
  await rejects(() => running, /a plain failure/);
  deepEqual(disposed, ["never"]);
});

Deno.test("runStage() refuses inputs and parameters the stage does not have", async () => {
  await refuses("unknown_input", ({ input }) => void input("other" as "in"));
  await rejects(
    () => runStageInMemory(scripted(() => {}), { params: { x: 1 }, inputs: { in: "" } }),
    (error) => hasCode(error, "bad_params"),
  );
  await rejects(
    () => runStageInMemory(scripted(() => {}), { params: {}, inputs: {} }),
    (error) => hasCode(error, "missing_input"),
  );
});

Deno.test("runStage() refuses lone surrogates and progress outside 0 to 1", async () => {
  await refuses("not_well_formed", ({ output }) => output("a").write("\ud800"));
  for (const fraction of [-0.1, 1.1, NaN]) {
    await refuses("bad_fraction", ({ progress }) => progress(fraction));
  }
});

Deno.test("memoryInput() gives the content in every form and hides its bytes", async () => {
  const blob = memoryInput("a\nb");
  equal(blob.digest, digestOf("a\nb"));
  equal(blob.size, 3);
  blob.bytes().fill(0);
  equal(blob.text(), "a\nb");
  deepEqual([...blob.lines()], ["a", "b"]);
  await refuses("not_text", () => void memoryInput(new Uint8Array([0xff])).text());
});
