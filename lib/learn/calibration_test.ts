import fc from "fast-check";
import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import {
  auroc,
  type Calibration,
  calibration,
  expectedCalibrationError,
  gateOf,
  progressGate,
} from "./calibration.ts";

const FOUR = { probabilities: [0.05, 0.2, 0.8, 0.95], labels: [false, false, true, true] };

Deno.test("calibration() gives a Brier score of 0.02125 and an AUROC of 1 on the four-point example", () => {
  // squares .0025 + .04 + .04 + .0025 = .085, over 4
  const result = calibration(FOUR);
  assert.ok(Math.abs(result.brier - 0.02125) < 1e-15);
  assert.equal(result.auroc, 1);
  assert.equal(result.prevalence, 0.5);
  // each row is alone in its bin: (.05 + .2 + .2 + .05) / 4
  assert.ok(Math.abs(result.ece - 0.125) < 1e-15);
  // -(ln .95 + ln .8 + ln .8 + ln .95) / 4
  assert.ok(Math.abs(result.bce - (0.05129329438755058 + 0.22314355131420976) / 2) < 1e-15);
});

Deno.test("calibration() clamps probabilities of 0 and 1 by the machine epsilon", () => {
  const { bce } = calibration({ probabilities: [0], labels: [true] });
  assert.ok(Math.abs(bce - 52 * 0.6931471805599453) < 1e-12); // -ln 2^-52
  assert.ok(calibration({ probabilities: [1], labels: [true] }).bce < 1e-15);
});

Deno.test("auroc() has no value for one class, and calibration() says null", () => {
  const one = { probabilities: [0.1, 0.9], labels: [true, true] };
  assert.ok(Number.isNaN(auroc(one)));
  assert.equal(calibration(one).auroc, null);
});

Deno.test("auroc() counts pairs, ties as half", () => {
  const row = fc.tuple(fc.integer({ min: 0, max: 5 }), fc.boolean());
  fc.assert(fc.property(fc.array(row, { minLength: 2, maxLength: 30 }), (rows) => {
    const high = rows.filter(([, label]) => label), low = rows.filter(([, label]) => !label);
    fc.pre(high.length > 0 && low.length > 0);
    let wins = 0;
    for (const [a] of high) for (const [b] of low) wins += a > b ? 1 : a === b ? 0.5 : 0;
    const forecast = { probabilities: rows.map(([p]) => p / 8), labels: rows.map(([, label]) => label) };
    assert.ok(Math.abs(auroc(forecast) - wins / (high.length * low.length)) < 1e-12);
  }));
});

Deno.test("expectedCalibrationError() puts bounds into the upper bin, and 1 into the last", () => {
  // .5 and .55 share a bin: |.525 - .5|; 1 with label true adds nothing
  const forecast = { probabilities: [0.5, 0.55, 1, 1], labels: [false, true, true, true] };
  assert.ok(Math.abs(expectedCalibrationError(forecast) - 0.5 * 0.025) < 1e-15);
});

Deno.test("progressGate() does not look at terminal rows", () => {
  const probabilities = [...FOUR.probabilities, 0.9, 0.1];
  const terminal = [false, false, false, false, true, true];
  const gate = progressGate({ probabilities, labels: [...FOUR.labels, true, false], terminal });
  assert.deepEqual(progressGate({ probabilities, labels: [...FOUR.labels, false, true], terminal }), gate);
  assert.deepEqual(gate.calibration, calibration(FOUR));
});

Deno.test("gateOf() asks for all three, and is exploratory with any one missed", () => {
  const good: Calibration = { rows: 100, prevalence: 0.5, bce: 0.5, brier: 0.225, ece: 0.1, auroc: 0.7 };
  assert.deepEqual(gateOf(good).checks, { auroc: true, ece: true, brier: true });
  assert.equal(gateOf(good).quality_status, "confirmatory");
  for (const bad of [{ auroc: 0.699999 }, { auroc: null }, { ece: 0.100001 }, { brier: 0.225001 }]) {
    assert.equal(gateOf({ ...good, ...bad }).quality_status, "exploratory");
  }
});

Deno.test("calibration() refuses no rows, other lengths and what is no probability", () => {
  for (const probabilities of [[], [0.5, 0.5], [1.01], [-0.01], [NaN]]) {
    const labels = probabilities.length === 0 ? [] : [true];
    assert.throws(() => calibration({ probabilities, labels }), (e) => hasCode(e, "bad_batch"));
  }
});
