import { ActionMask } from "../world/action_mask.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { policyInputDigest, policyInputFromDecision } from "../world/policy_input.ts";
import type { Decision, PolicyInput } from "../world/policy_input.ts";
import { PolicyInputBuilder } from "../world/policy_input_builder.ts";
import { generateSplit } from "./generate.ts";

const TASKS = generateSplit({ split: "test", size: 50, baseSeed: 1 });
const PLAYERS = TASKS.map((task) => ({
  task,
  env: new WorkflowEnvironment(task),
  mask: new ActionMask(task.tool_schemas),
  builder: new PolicyInputBuilder(task.tool_schemas),
}));

const STEPS = TASKS.reduce((sum, task) => sum + task.optimal_steps, 0);

/** Plays 50 tasks along plan 0: candidates, mask, dry run and commit, and a policy input if one is built. */
function play(build: ((builder: PolicyInputBuilder, decision: Decision) => PolicyInput) | null): void {
  for (const { task, env, mask, builder } of PLAYERS) {
    env.reset();
    for (const call of task.oracle_plans[0]!) {
      const observation = env.observe();
      const candidates = env.candidates();
      const bits = mask.mask(observation, candidates);
      if (build !== null) {
        policyInputDigest(
          build(builder, { observation, candidates, mask: bits, schemas: task.tool_schemas }),
        );
      }
      env.dryRun(call);
      env.step(call);
    }
  }
}

Deno.bench(`${STEPS} steps`, { group: "play", baseline: true }, () => play(null));
Deno.bench(`${STEPS} steps with policy input: builder`, { group: "play" }, () => {
  play((builder, decision) => builder.build(decision));
});
Deno.bench(`${STEPS} steps with policy input: plain definition`, { group: "play" }, () => {
  play((_builder, decision) => policyInputFromDecision(decision));
});
