import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { greedyDecision, logProbabilities, toReal } from "./decision.ts";

const ONE = 2 ** 26;

Deno.test("toReal() scales by 2^-26 and never gives -0", () => {
  assert.equal(toReal(ONE), 1);
  assert.equal(toReal(-3), -3 * 2 ** -26);
  assert.ok(Object.is(toReal(0), 0));
});

Deno.test("greedyDecision() takes the largest selectable logit, the lowest index on a tie", () => {
  const output = { logits: Float64Array.of(1, 5, 9, 5, 5), value: 3 * ONE };
  const mask = [true, true, false, true, true];
  assert.equal(greedyDecision(output, mask).action, 1);
  assert.equal(greedyDecision(output, mask).value, 3);
  assert.equal(greedyDecision(output, [true, true, true, true, true]).action, 2);
  assert.equal(greedyDecision(output, [false, false, false, false, true]).action, 4);
});

Deno.test("greedyDecision() gives the logarithm of the chosen probability", () => {
  // two equal logits: probability 1/2 each; a lone one: probability 1, logarithm 0
  const logits = Float64Array.of(0, 0, 90 * ONE);
  const two = greedyDecision({ logits, value: 0 }, [true, true, false]);
  assert.equal(two.logProb, -0.6931471805599453);
  assert.ok(Object.is(greedyDecision({ logits, value: 0 }, [false, false, true]).logProb, 0));
});

Deno.test("logProbabilities() are -Infinity at masked slots and sum to one elsewhere", () => {
  const logProbs = logProbabilities(Float64Array.of(ONE, 2 * ONE, 3 * ONE), [true, false, true]);
  assert.equal(logProbs[1], -Infinity);
  // 1 / (1 + e^2) and 1 / (1 + e^-2)
  assert.ok(Math.abs(logProbs[0]! - -2.1269280110429727) < 1e-15);
  assert.ok(Math.abs(logProbs[2]! - -0.1269280110429726) < 1e-15);
});

Deno.test("logProbabilities() refuses a mask that does not fit or selects nothing", () => {
  for (const mask of [[true], [false, false], []]) {
    assert.throws(
      () => logProbabilities(new Float64Array(2), mask),
      (error) => hasCode(error, "bad_decision"),
    );
  }
});
