import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { greedyDecision } from "../policy/decision.ts";
import type { EncodedDecision } from "../policy/encoder.ts";
import type { PolicyBatch, PolicySession } from "../policy/runtime.ts";
import type { PolicyInput } from "../world/policy_input.ts";
import { type Actor, gatherBatch, greedyActor, type PendingDecision } from "./actor.ts";
import { episodesOf, exampleTasks, gambler, randomPolicy } from "./_example_episodes.ts";

const ONE = 2 ** 26;

/** A session that gives fixed answers and keeps what it was asked. */
function session(answer: { logits: number[]; values: number[] }): PolicySession & { asked: PolicyBatch[] } {
  const asked: PolicyBatch[] = [];
  return {
    runtime: "reference",
    asked,
    logits(batch) {
      asked.push(batch);
      return Promise.resolve({
        logits: Float64Array.from(answer.logits),
        values: Float64Array.from(answer.values),
      });
    },
    [Symbol.dispose]() {},
  };
}

function pending(features: EncodedDecision): PendingDecision {
  return { features, episode: 0, input: {} as PolicyInput }; // the greedy actor reads features only
}

const TWO: EncodedDecision[] = [
  { state: Int32Array.of(1, 2), actions: Int32Array.of(10, 11, 12), mask: [true, true, false] },
  { state: Int32Array.of(3, 4), actions: Int32Array.of(20, 21), mask: [false, true] },
];

Deno.test("gatherBatch() lays decisions one after the other and says which candidate is whose", () => {
  assert.deepEqual(gatherBatch(TWO), {
    state: Float64Array.of(1, 2, 3, 4),
    action: Float64Array.of(10, 11, 12, 20, 21),
    segment: Int32Array.of(0, 0, 0, 1, 1),
  });
  assert.deepEqual(gatherBatch([]).segment, new Int32Array(0));
});

Deno.test("greedyActor() takes the largest selectable logit, the lowest index on a tie", async () => {
  const fixed = session({ logits: [0, 0, 9 * ONE, 7 * ONE, -ONE], values: [3 * ONE, -ONE / 4] });
  const choices = await greedyActor(fixed)(TWO.map(pending));
  // Two equal logits share the probability, a lone one has all of it.
  assert.deepEqual(choices, [
    { index: 0, logProb: -0.6931471805599453, value: 3 },
    { index: 1, logProb: 0, value: -0.25 },
  ]);
  assert.deepEqual(fixed.asked, [gatherBatch(TWO)]);
});

Deno.test("greedyActor() refuses a graph without a logit a candidate, or a value a decision", async () => {
  const wide = greedyActor(session({ logits: [1, 2, 3, 4, 5], values: [0, 0, 0] }));
  await assert.rejects(wide(TWO.map(pending)), (error) => hasCode(error, "bad_answer"));
  const short = greedyActor(session({ logits: [1, 2, 3, 4], values: [0, 0] }));
  await assert.rejects(short(TWO.map(pending)), (error) => hasCode(error, "bad_decision"));
});

Deno.test("greedyActor() answers each decision of a batch as if it were alone", async () => {
  using policy = await randomPolicy(1);
  const decisions: PendingDecision[] = [];
  const collect: Actor = (asked) => {
    decisions.push(...asked);
    return play(asked);
  };
  const play = gambler(1);
  await episodesOf(exampleTasks(4), collect);
  const together = await greedyActor(policy)(decisions);
  for (const [n, { features }] of decisions.entries()) {
    const { logits, values } = await policy.logits(gatherBatch([features]));
    const { action, logProb, value } = greedyDecision({ logits, value: values[0]! }, features.mask);
    assert.deepEqual(together[n], { index: action, logProb, value });
  }
  assert.ok(decisions.length > 20 && new Set(together.map(({ index }) => index)).size > 3);
});
