import assert from "node:assert/strict";
import { parseCanonical } from "../core/canonical_json.ts";
import type { CompactStep, TraceRecord } from "../episode/trace.ts";
import { readCheckpoint } from "../learn/checkpoint.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { parseCalibrationRecord, parseTrainingRecord } from "../report/run_records.ts";
import { ExampleRun, TINY } from "./_example_run.ts";
import { parseConfig } from "./config.ts";
import { encoderSettings } from "./semantics.ts";
import { VARIANTS } from "./config_variants.ts";

const CONFIG = parseConfig({
  ...TINY,
  semantics: "frozen-v1.3",
  benchmark: { ...TINY.benchmark, train_tasks: 40, dev_tasks: 40 },
  ppo: { ...TINY.ppo, sequence_minibatch: "protocol" },
  variants: VARIANTS.filter(({ name }) => /^[BEF]/.test(name)),
});
const RUN = new ExampleRun(CONFIG);
const CURRENT = new ExampleRun({ ...CONFIG, semantics: "current" });

Deno.test("frozen-v1.3 runs every stage that learns or plays, by an encoder of its own", async () => {
  const { encoderFingerprint } = readCheckpoint((await RUN.outputs("bc/17"))["checkpoint.bin"]!);
  assert.equal(encoderFingerprint, new FeatureEncoder(encoderSettings(CONFIG)).fingerprint);
  assert.notEqual(
    encoderFingerprint,
    readCheckpoint((await CURRENT.outputs("bc/17"))["checkpoint.bin"]!).encoderFingerprint,
  );
  for (const node of ["ppo/e/17", "ppo/f/17"]) {
    const record = parseTrainingRecord((await RUN.outputs(node))["training.json"]!);
    assert.equal(record.curve.length, 1);
    // two epochs: action PPO cuts 64 decisions at a time, the sequence variant 64 episodes
    const expected = node === "ppo/e/17" ? 2 * Math.ceil(record.rollout_steps / 64) : 2;
    assert.equal(record.updates, expected);
  }
});

Deno.test("frozen-v1.3 labels by noisy continuations and keeps no terminal state", async () => {
  const { labels } = parseCalibrationRecord((await RUN.outputs("progress/17"))["calibration.json"]!);
  assert.deepEqual([labels.train.rows, labels.train.terminal_rows], [40 * 8, 0]);
  const current = parseCalibrationRecord((await CURRENT.outputs("progress/17"))["calibration.json"]!);
  assert.notEqual(labels.train.policy, current.labels.train.policy);
  assert.equal(current.labels.train.terminal_rows, 40 * 32);
});

Deno.test("frozen-v1.3 records the terminal potential as the estimator gives it", async () => {
  for (const [run, zeroed] of [[RUN, false], [CURRENT, true]] as const) {
    const text = new TextDecoder().decode((await run.outputs("evaluate/e/17"))["traces.jsonl"]!);
    for (const line of text.trimEnd().split("\n")) {
      const { steps } = parseCanonical(line) as unknown as TraceRecord<CompactStep>;
      const last = steps.at(-1)!.info.progress_potential!;
      assert.equal(last.terminal_zeroed, zeroed);
      assert.equal(last.phi_next_raw === null, zeroed);
      assert.equal(last.phi_next_used, last.phi_next_raw ?? 0);
      if (!zeroed) assert.ok(last.phi_next_used > 0 && last.phi_next_used < 1);
    }
  }
});
