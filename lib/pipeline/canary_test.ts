import assert from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import { rational } from "../evaluate/rational.ts";
import { runStageInMemory } from "../stage/run_stage.ts";
import { TINY } from "./_example_run.ts";
import { type CanaryRepetition, canaryRepetition, runCanary } from "./canary.ts";

const digests = { traces: digestOf("traces"), weights: digestOf("weights"), calls: digestOf("calls") };
const GOOD: CanaryRepetition = {
  oracle_tsr: rational(1, 1),
  bc_action_set_accuracy: rational(1, 1),
  bc_tsr: rational(1, 1),
  ppo_tsr: rational(0, 1),
  inconsistencies: 0,
  digests,
};

/** A canary whose repetitions are given. */
function asked(repetitionOf: (index: number) => CanaryRepetition) {
  let calls = 0;
  const done: number[] = [];
  const report = runCanary(TINY, {
    repetitions: 20,
    repeat: () => Promise.resolve(repetitionOf(calls++)),
    onRepetition: (count) => done.push(count),
  });
  return report.then((found) => ({ found, calls, done }));
}

Deno.test("canaryRepetition() trains a clone and a policy from it, and finds its own traces consistent", async () => {
  const ran: string[] = [];
  const found = await canaryRepetition(TINY, async (stage, given) => {
    const { seed, policy } = given.params as { seed: number; policy: unknown };
    assert.deepEqual([seed, policy], [123, { state_width: 64, action_width: 64, hidden_width: 64 }]);
    ran.push(stage.name);
    return await runStageInMemory(stage, given);
  });
  assert.deepEqual(ran, ["bc", "ppo"]);
  assert.deepEqual([found.oracle_tsr.value, found.inconsistencies], [1, 0]);
  // Eight plans of 6 to 15 steps.
  assert.equal(72 % found.bc_action_set_accuracy.denominator, 0);
  assert.equal(8 % found.bc_tsr.denominator, 0);
  assert.ok(found.bc_action_set_accuracy.value > 0.5, "it learnt something");
});

Deno.test("runCanary() asks for each repetition anew and passes where all are good and the same", async () => {
  const { found, calls, done } = await asked(() => GOOD);
  assert.deepEqual([calls, done.length, done.at(-1)], [20, 20, 20]);
  assert.deepEqual([found.passed, found.distinct_results, found.repetitions], [true, 1, 20]);
  assert.equal(found.criterion, "deterministic_engineering_canary_v2");
});

Deno.test("runCanary() sees the one repetition that differs, in traces, weights or calls", async () => {
  for (const what of ["traces", "weights", "calls"] as const) {
    const { found } = await asked((index) =>
      index === 19 ? { ...GOOD, digests: { ...digests, [what]: digestOf("other") } } : GOOD
    );
    assert.deepEqual([found.passed, found.distinct_results], [false, 2], what);
  }
});

Deno.test("runCanary() refuses fewer than twenty repetitions before it trains", async () => {
  const repeat = () => Promise.reject(new Error("it trained"));
  for (const repetitions of [0, 1, 19, 20.5, NaN]) {
    await assert.rejects(runCanary(TINY, { repetitions, repeat }), { code: "too_few_repetitions" });
  }
});
