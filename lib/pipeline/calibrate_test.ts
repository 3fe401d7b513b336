import assert from "node:assert/strict";
import { generateSplit } from "../benchmark/generate.ts";
import { labelSplit } from "../episode/progress_labels.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import type { PolicyBatch, PolicySession } from "../policy/runtime.ts";
import { calibrate } from "./calibrate.ts";

const TASKS = generateSplit({ split: "dev", size: 10, baseSeed: 20260808 });
const ENCODER = new FeatureEncoder({ stateWidth: 16, actionWidth: 16 });
const DEV = labelSplit(TASKS, { labels: "absorbing-error", split: "dev", encoder: ENCODER, seed: 17 });

/** An estimator that knows the answers, or the opposite. */
function session(logits: readonly number[]): PolicySession & { asked: PolicyBatch[] } {
  const asked: PolicyBatch[] = [];
  return {
    runtime: "reference",
    asked,
    logits(batch) {
      asked.push(batch);
      return Promise.resolve({ logits: Float64Array.from(logits), values: new Float64Array(0) });
    },
    [Symbol.dispose]() {},
  };
}

const scored = DEV.rows.filter((row) => !row.terminal);
const knowing = (sign: number) => session(scored.map(({ label }) => (label ? sign : -sign) * 2 ** 28)); // 4 or -4

Deno.test("calibrate() asks about prefix states only, never about how an episode ended", async () => {
  const perfect = knowing(1);
  const gate = await calibrate(DEV, perfect);
  assert.equal(perfect.asked.length, 1);
  assert.equal(perfect.asked[0]!.state.length, scored.length * ENCODER.stateWidth);
  assert.equal(gate.calibration.rows, scored.length);
  assert.equal(gate.dev_gate_scope, "nonterminal_prefix_only");
  // Another fate of the terminal rows changes nothing.
  const flipped = DEV.rows.map((row) => row.terminal ? { ...row, label: !row.label } : row);
  assert.deepEqual(await calibrate({ ...DEV, rows: flipped }, knowing(1)), gate);
});

Deno.test("calibrate() confirms an estimator that knows and not one that is always wrong", async () => {
  const good = await calibrate(DEV, knowing(1));
  assert.equal(good.calibration.auroc, 1);
  // sigmoid(4) = 0.98201...: every error is 1 - that, squared for the Brier score
  const miss = 1 - 0.9820137900379085;
  assert.ok(Math.abs(good.calibration.brier - miss * miss) < 1e-15);
  assert.equal(good.quality_status, "confirmatory");
  const bad = await calibrate(DEV, knowing(-1));
  assert.equal(bad.calibration.auroc, 0);
  assert.deepEqual(bad.checks, { auroc: false, ece: false, brier: false });
  assert.equal(bad.quality_status, "exploratory");
});
