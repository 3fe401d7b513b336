import assert from "node:assert/strict";
import { generateSplit } from "../../benchmark/generate.ts";
import { writeTaskLines } from "../../benchmark/task_lines.ts";
import { digestOf } from "../../core/digest.ts";
import { RULES } from "../../evaluate/rules.ts";
import { parseMetricsReport } from "../../report/metrics_record.ts";
import { runStageInMemory } from "../../stage/run_stage.ts";
import { replayEnvironment } from "../../verify/replay_environment.ts";
import { rulesStage, rulesTraces } from "./rules_stage.ts";

const TASKS = generateSplit({ split: "test", size: 20, baseSeed: 20260808 });
const REWARD = {
  task_success: 1,
  task_failure: -1,
  invalid_action: -0.2,
  forbidden_effect: -1,
  step: -0.01,
  progress_beta: 0.35,
  gamma: 0.99,
  terminal_potential: "zero",
} as const;
const run = (seed: number) =>
  runStageInMemory(rulesStage, {
    params: { seed, reward: REWARD, timeout_s: 80, bootstrap: { samples: 20, confidence: 0.95, seed: 7 } },
    inputs: { test: writeTaskLines(TASKS) },
  });
const OUTPUTS = await run(17);

Deno.test("rulesStage measures oracle, random, first and ready rule as variants of one metrics record", () => {
  const { runs, variants, comparisons } = parseMetricsReport(OUTPUTS["metrics.json"]!);
  assert.deepEqual(variants.map(({ variant }) => variant), RULES.map(({ id }) => id));
  assert.deepEqual(comparisons, []);
  for (const { seed, denominators } of runs) assert.deepEqual([seed, denominators.scored], [17, 20]);
  const [oracle, random, first, ready] = variants.map(({ metrics }) => metrics);
  const optimal = TASKS.reduce((sum, task) => sum + task.optimal_steps, 0);
  for (const best of [oracle!, ready!]) {
    assert.deepEqual(
      [best.successful_cases, best.mean_steps.value, best.steps_efficiency.value],
      [20, optimal / 20, 1],
    );
  }
  assert.ok(random!.successful_cases < 5);
  // Where the first candidate changes nothing, the same list comes again, to the end of the budget.
  assert.equal(first!.successful_cases, 0);
  for (const { metrics } of variants) assert.equal(metrics.invalid_action_rate.value, 0);
});

Deno.test("rulesStage writes traces that the environment replays, in the order of the tasks", () => {
  for (const rule of RULES) {
    const lines = new TextDecoder().decode(OUTPUTS[rulesTraces(rule)]!).split("\n").slice(0, -1);
    assert.equal(lines.length, 20);
    lines.forEach((line, i) => {
      replayEnvironment(line, TASKS[i]!, {
        node: "rules",
        credit: "action",
        selection: "public",
        reward: REWARD,
      });
    });
  }
});

Deno.test("rulesStage gives the same bytes twice; another seed moves only the random rule", async () => {
  assert.deepEqual(await run(17), OUTPUTS);
  const other = await run(29);
  for (const rule of RULES) {
    const [here, there] = [OUTPUTS, other].map((outputs) => digestOf(outputs[rulesTraces(rule)]!));
    assert.equal(here !== there, rule.key === "random");
  }
});
