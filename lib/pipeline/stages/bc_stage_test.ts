import assert from "node:assert/strict";
import { readTaskLines } from "../../benchmark/task_lines.ts";
import { hexOf } from "../../core/digest.ts";
import { hasCode } from "../../core/error.ts";
import { readCheckpoint } from "../../learn/checkpoint.ts";
import { parameterDigest } from "../../learn/parameter_block.ts";
import { admit } from "../../policy/admission.ts";
import { FeatureEncoder } from "../../policy/encoder.ts";
import { parseTrainingRecord } from "../../report/run_records.ts";
import { runStageInMemory } from "../../stage/run_stage.ts";
import { ExampleRun } from "../_example_run.ts";
import { bcStage } from "./bc_stage.ts";

const RUN = new ExampleRun();

Deno.test("bcStage gives the same bytes twice and others for another seed", async () => {
  const outputs = await RUN.outputs("bc/17");
  assert.deepEqual(Object.keys(outputs).sort(), ["checkpoint.bin", "policy.onnx", "training.json"]);
  assert.deepEqual(await RUN.again("bc/17"), outputs);
  const other = await runStageInMemory(bcStage, {
    params: { ...RUN.params("bc/17"), seed: 29 },
    inputs: await RUN.inputs("bc/17"),
  });
  assert.notDeepEqual(other["checkpoint.bin"], outputs["checkpoint.bin"]);
});

Deno.test("bcStage records what it did: every decision of plan 0, every epoch, no rollout", async () => {
  const outputs = await RUN.outputs("bc/17");
  const record = parseTrainingRecord(outputs["training.json"]!);
  const tasks = readTaskLines((await RUN.outputs("benchmark"))["train.jsonl"]!);
  const decisions = tasks.reduce((sum, { optimal_steps }) => sum + optimal_steps, 0);
  assert.equal(record.updates, 2 * Math.ceil(decisions / 32)); // two epochs in batches of 32
  assert.deepEqual([record.stage, record.seed, record.rollout_steps, record.curve], ["bc", 17, 0, []]);
  assert.ok(record.parameter_l2_delta > 0);
  assert.equal(record.agreement.states, Math.min(256, decisions));
  assert.ok(record.agreement.agreeing > 0.9 * record.agreement.states);
  // Eight updates do not make a policy; that they point the right way shows in a longer training.
  const longer = await runStageInMemory(bcStage, {
    params: {
      ...RUN.params("bc/17"),
      behaviour_cloning: { epochs: 40, batch_size: 32, learning_rate: 0.01, max_grad_norm: 1 },
    },
    inputs: await RUN.inputs("bc/17"),
  });
  const { metrics } = parseTrainingRecord(longer["training.json"]!);
  assert.ok(Number(metrics["accuracy"]) > 0.8, String(metrics["accuracy"]));
});

Deno.test("bcStage's checkpoint and exact graph are those that its record names", async () => {
  const outputs = await RUN.outputs("bc/17");
  const record = parseTrainingRecord(outputs["training.json"]!);
  const encoder = new FeatureEncoder({ stateWidth: 32, actionWidth: 32 });
  const { parameters } = readCheckpoint(outputs["checkpoint.bin"]!, {
    kind: "actor_critic",
    hidden: 16,
    encoderFingerprint: encoder.fingerprint,
  });
  assert.equal(record.parameter_after_sha256, hexOf(parameterDigest(parameters)));
  assert.notEqual(record.parameter_before_sha256, record.parameter_after_sha256);
  const graph = admit(outputs["policy.onnx"]!);
  assert.deepEqual([graph.kind, graph.stateWidth, graph.digest], ["actor_critic", 32, record.policy]);
});

Deno.test("bcStage refuses train tasks that are edited", async () => {
  const { train } = await RUN.inputs("bc/17");
  const text = new TextDecoder().decode(train);
  const run = (train: string) =>
    runStageInMemory(bcStage, { params: RUN.params("bc/17"), inputs: { train } });
  await assert.rejects(run(text.slice(0, -1)), (error) => hasCode(error, "missing_newline"));
  await assert.rejects(run(" " + text), (error) => hasCode(error, "bad_line"));
});
