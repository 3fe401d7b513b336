import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { sigmoid } from "../core/numerics.ts";
import { RandomStream } from "../core/random_stream.ts";
import { Adam } from "./adam.ts";
import { KernelArena } from "./arena.ts";
import { calibration } from "./calibration.ts";
import { ProgressEstimator } from "./estimator.ts";
import { fitProgress, type LabelledState, progressEpochs, stateMatrix } from "./progress.ts";

const S = 16;

/** States whose first feature decides. */
function labelled(n: number): LabelledState[] {
  const stream = new RandomStream(1, "states");
  return Array.from({ length: n }, () => {
    const state = Int32Array.from({ length: S }, () => stream.integer(2049) - 1024);
    state[0] = stream.pick([-1024, 1024]);
    return { state, label: state[0] > 0, terminal: false };
  });
}

Deno.test("fitProgress() lowers the Brier score under 0.02 with an AUROC above 0.99", () => {
  using arena = new KernelArena();
  const estimator = new ProgressEstimator(arena, S);
  estimator.initialise(new RandomStream(2));
  const optimizer = new Adam(estimator.parameters, { learningRate: 3e-3 });
  const rows = labelled(300);
  const judge = () =>
    calibration({
      probabilities: Array.from(estimator.forward(stateMatrix(rows, S)), sigmoid),
      labels: rows.map(({ label }) => label),
    });
  const before = judge();
  const fit = fitProgress({ estimator, optimizer, rows, epochs: 20, stream: new RandomStream(3) });
  const after = judge();
  assert.equal(fit.updates, 60); // 3 mini-batches of up to 128 * 20 epochs
  assert.ok(after.brier < 0.02 && after.brier < before.brier, String(after.brier));
  assert.ok(after.auroc! > 0.99);
});

Deno.test("fitProgress() with a non-finite gradient raises and changes nothing", () => {
  using arena = new KernelArena();
  const estimator = new ProgressEstimator(arena, S);
  estimator.initialise(new RandomStream(2));
  estimator.parameters.set(estimator.parameters.get().map((x) => x * 1e30));
  const optimizer = new Adam(estimator.parameters, { learningRate: 3e-3 });
  const before = { parameters: estimator.parameters.get(), ...optimizer.moments() };
  assert.throws(
    () => fitProgress({ estimator, optimizer, rows: labelled(8), epochs: 1, stream: new RandomStream(3) }),
    (e) => hasCode(e, "non_finite") || hasCode(e, "non_finite_gradient"),
  );
  assert.deepEqual({ parameters: estimator.parameters.get(), ...optimizer.moments() }, before);
});

Deno.test("fitProgress() refuses no rows, other widths and bad settings", () => {
  using arena = new KernelArena();
  const estimator = new ProgressEstimator(arena, S);
  const optimizer = new Adam(estimator.parameters, { learningRate: 3e-3 });
  const refused = (rows: LabelledState[], epochs: number, code: string) =>
    assert.throws(
      () => fitProgress({ estimator, optimizer, rows, epochs, stream: new RandomStream(3) }),
      (e) => hasCode(e, code),
    );
  refused([], 1, "bad_option");
  refused(labelled(1), 0, "bad_option");
  refused([{ state: new Int32Array(S - 1), label: true, terminal: false }], 1, "bad_batch");
});

Deno.test("progressEpochs() is at least 10", () => {
  assert.deepEqual([1, 2, 3, 4].map(progressEpochs), [10, 10, 10, 12]);
});
