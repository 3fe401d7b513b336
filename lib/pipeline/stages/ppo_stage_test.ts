import assert from "node:assert/strict";
import { hexOf } from "../../core/digest.ts";
import { hasCode } from "../../core/error.ts";
import { readCheckpoint } from "../../learn/checkpoint.ts";
import { l2Delta, parameterDigest } from "../../learn/parameter_block.ts";
import { admit } from "../../policy/admission.ts";
import { parseTrainingRecord } from "../../report/run_records.ts";
import { runStageInMemory } from "../../stage/run_stage.ts";
import { ExampleRun, TINY } from "../_example_run.ts";
import { setStageRuntime } from "../execution.ts";
import { ppoStage } from "./ppo_stage.ts";

const RUN = new ExampleRun();

/** The training of E with other parameters or inputs. */
async function train(
  changes: Record<string, unknown>,
  inputs?: Record<string, Uint8Array>,
): Promise<Record<string, Uint8Array>> {
  const params = { ...RUN.params("ppo/e/17"), ...changes } as ReturnType<typeof RUN.params>;
  return await runStageInMemory(ppoStage, { params, inputs: inputs ?? await RUN.inputs("ppo/e/17") });
}

Deno.test("ppoStage gives the same bytes twice, whichever runtime evaluates the potential", async () => {
  const outputs = await RUN.outputs("ppo/e/17");
  assert.deepEqual(Object.keys(outputs).sort(), ["checkpoint.bin", "policy.onnx", "training.json"]);
  setStageRuntime("native");
  assert.deepEqual(await RUN.again("ppo/e/17"), outputs);
  setStageRuntime("reference");
});

Deno.test("ppoStage moves the cloned policy: updates, rollout steps and distance are above zero", async () => {
  const outputs = await RUN.outputs("ppo/e/17");
  const record = parseTrainingRecord(outputs["training.json"]!);
  assert.ok(record.updates > 0 && record.rollout_steps > 0 && record.parameter_l2_delta > 0);
  // One iteration of two epochs in mini-batches of 64.
  assert.equal(record.updates, 2 * Math.ceil(record.rollout_steps / 64));
  const before = readCheckpoint((await RUN.outputs("bc/17"))["checkpoint.bin"]!).parameters;
  const after = readCheckpoint(outputs["checkpoint.bin"]!, { kind: "actor_critic", hidden: 16 }).parameters;
  assert.equal(record.parameter_before_sha256, hexOf(parameterDigest(before)));
  assert.equal(record.parameter_after_sha256, hexOf(parameterDigest(after)));
  assert.equal(record.parameter_l2_delta, l2Delta({ from: before, to: after }));
  assert.equal(admit(outputs["policy.onnx"]!).digest, record.policy);
});

Deno.test("ppoStage keeps a row an iteration, and the optimiser goes on between them", async () => {
  const ppo = { ...TINY.ppo, iterations: 2 };
  const twice = parseTrainingRecord((await train({ ppo }))["training.json"]!);
  const once = parseTrainingRecord((await RUN.outputs("ppo/e/17"))["training.json"]!);
  assert.equal(twice.curve.length, 2);
  assert.deepEqual(twice.curve[0], once.curve[0]);
  assert.deepEqual(twice.curve.map(({ iteration, episodes }) => [iteration, episodes]), [[0, 10], [1, 10]]);
  const steps = twice.curve.reduce((sum, { rollout_steps }) => sum + Number(rollout_steps), 0);
  assert.equal(twice.rollout_steps, steps);
  assert.equal(twice.updates, twice.curve.reduce((sum, { updates }) => sum + Number(updates), 0));
});

Deno.test("ppoStage trains a sparse variant without an estimator, to another result", async () => {
  const { train: tasks, initial } = await RUN.inputs("ppo/e/17");
  const sparse = await train({ progress_reward: false }, { train: tasks!, initial: initial! });
  assert.notDeepEqual(sparse["checkpoint.bin"], (await RUN.outputs("ppo/e/17"))["checkpoint.bin"]);
  // Same schedule, same draws, same policy: the first episodes are the same ones, only paid differently.
  const [e, d] = [await RUN.outputs("ppo/e/17"), sparse].map((outputs) =>
    parseTrainingRecord(outputs["training.json"]!).curve[0]!
  );
  assert.deepEqual([d!["rollout_steps"], d!["successes"]], [e!["rollout_steps"], e!["successes"]]);
  await assert.rejects(
    train({}, { train: tasks!, initial: initial! }),
    (error) => hasCode(error, "unknown_input"),
  );
});

Deno.test("ppoStage refuses a checkpoint that does not fit, and one that is none", async () => {
  const inputs = await RUN.inputs("ppo/e/17");
  const { initial, "estimators/progress": estimator } = inputs;
  const refused = (changes: Record<string, unknown>, initial: Uint8Array, code: string) =>
    assert.rejects(train(changes, { ...inputs, initial }), (error) => hasCode(error, code));
  await refused({ policy: { ...TINY.policy, hidden_width: 24 } }, initial!, "checkpoint_mismatch");
  await refused({ policy: { ...TINY.policy, action_width: 40 } }, initial!, "checkpoint_mismatch");
  await refused({ policy: { ...TINY.policy, state_width: 40 } }, initial!, "graph_mismatch"); // the estimator's
  await refused({}, (await RUN.outputs("progress/17"))["checkpoint.bin"]!, "checkpoint_mismatch");
  await refused({}, estimator!, "bad_checkpoint");
  await refused({}, initial!.slice(0, -4), "bad_checkpoint");
  const policy = (await RUN.outputs("bc/17"))["policy.onnx"]!;
  await assert.rejects(
    train({}, { ...inputs, "estimators/progress": policy }),
    (error) => hasCode(error, "graph_mismatch"),
  );
});

Deno.test("ppoStage trains per sequence, by as many updates as per action when matched", async () => {
  const action = parseTrainingRecord((await RUN.outputs("ppo/e/17"))["training.json"]!);
  const train17 = (changes: Record<string, unknown>) => train({ algorithm: "sequence_ppo", ...changes });
  const outputs = await train17({});
  assert.deepEqual(await train17({}), outputs);
  const matched = parseTrainingRecord(outputs["training.json"]!);
  assert.equal(matched.updates, action.updates);
  assert.ok(matched.parameter_l2_delta > 0);
  assert.notEqual(matched.parameter_after_sha256, action.parameter_after_sha256);
  const ppo = { ...TINY.ppo, sequence_minibatch: "protocol" };
  const protocol = parseTrainingRecord((await train17({ ppo }))["training.json"]!);
  assert.equal(protocol.updates, TINY.ppo.epochs, "ten episodes are one mini-batch of 64");
});
