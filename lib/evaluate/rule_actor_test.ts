import assert from "node:assert/strict";
import { generateSplit } from "../benchmark/generate.ts";
import { maskedRandomRule, readyGreedyRule } from "../benchmark/public_rules.ts";
import { hasCode } from "../core/error.ts";
import { type Episode, runEpisodes } from "../episode/run_episodes.ts";
import { traceLine, traceRecord } from "../episode/trace.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { replayPlan } from "../world/oracle.ts";
import { caseCounts } from "./case_counts.ts";
import { metricsReport } from "./metrics_report.ts";
import { ruleActor } from "./rule_actor.ts";

const TASKS = generateSplit({ split: "test", size: 100, baseSeed: 2006549735 });
const SETTINGS = {
  encoder: new FeatureEncoder({ stateWidth: 16, actionWidth: 16 }),
  reward: {
    task_success: 1,
    task_failure: -1,
    step: -0.01,
    invalid_action: -0.2,
    forbidden_effect: -1,
    progress_beta: 0.35,
    gamma: 0.99,
  },
  selection: "public",
} as const;

const R1 = await Array.fromAsync(runEpisodes(TASKS, ruleActor(readyGreedyRule), SETTINGS));
const record = (episode: Episode) => traceRecord(episode, { mode: "compact", credit: "action" });

Deno.test("ruleActor() with R1 solves 100 test cases of all families, each in exactly its optimal steps", () => {
  assert.equal(new Set(TASKS.map(({ family }) => family)).size, 10);
  for (const { task, steps, evaluation } of R1) {
    assert.ok(evaluation.success);
    assert.equal(steps.length, task.optimal_steps);
    assert.equal(evaluation.forbidden_side_effect_count, 0);
    assert.ok(steps.every(({ choice }) => Object.is(choice.logProb, 0) && Object.is(choice.value, 0)));
  }
});

Deno.test("the oracle solves the same cases in as many steps, by either plan", () => {
  for (const task of TASKS) {
    assert.deepEqual([replayPlan(task, 0), replayPlan(task, 1)], [task.optimal_steps, task.optimal_steps]);
  }
});

Deno.test("ruleActor() with R1 scores 1 on every metric that can reach 1", () => {
  const rows = R1.map((episode) => caseCounts(record(episode), 80_000));
  const { runs: [run] } = metricsReport([{ variant: "R1", seed: 0, rows }], {
    planned: TASKS.map(({ case_id }) => case_id),
    timeoutMs: 80_000,
    bootstrap: { samples: 0, confidence: 0.95, seed: 1 },
    comparisons: [],
  });
  const { tsr, macro_tsr, steps_efficiency, invalid_action_rate, mean_steps } = run!.metrics;
  assert.deepEqual([tsr.value, macro_tsr.value, steps_efficiency.value, invalid_action_rate.value], [
    1,
    1,
    1,
    0,
  ]);
  const steps = TASKS.reduce((sum, task) => sum + task.optimal_steps, 0);
  assert.equal(mean_steps.value, steps / 100);
});

Deno.test("ruleActor() chooses the same in any company and for any order of tasks", async () => {
  const some = TASKS.filter((_, i) => i % 10 === 0);
  const actor = ruleActor(maskedRandomRule(3));
  const lines = async (lanes: number, tasks: typeof some) => {
    const episodes = await Array.fromAsync(runEpisodes(tasks, actor, { ...SETTINGS, lanes }));
    return episodes.map((episode) => traceLine(record(episode)));
  };
  const together = await lines(128, some);
  assert.deepEqual(await lines(1, some), together);
  assert.deepEqual((await lines(3, some.toReversed())).reverse(), together);
});

Deno.test("ruleActor() lets a rule see nothing but a policy input", () => {
  const decisions = [{
    input: { ...R1[0]!.steps[0]!.input },
    features: R1[0]!.steps[0]!.features,
    episode: 0,
  }];
  // A copy of the same shape was not made by the world.
  assert.throws(() => ruleActor(readyGreedyRule)(decisions), (error) => hasCode(error, "not_a_policy_input"));
});
