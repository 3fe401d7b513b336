import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { ActionMask } from "../world/action_mask.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import {
  canonicalPolicyText,
  parsePolicyInput,
  type PolicyInput,
  policyInputFromDecision,
} from "../world/policy_input.ts";
import { PolicyInputBuilder } from "../world/policy_input_builder.ts";
import { generateSplit } from "./generate.ts";
import { firstCandidateRule, maskedRandomRule, type PublicRule, readyGreedyRule } from "./public_rules.ts";

const SMOKE_TEST = generateSplit({ split: "test", size: 32, baseSeed: 20260808 });

/** Plays a task by a rule; the inputs it saw and how it ended. */
function play(task: WorkflowTask, rule: PublicRule) {
  const env = new WorkflowEnvironment(task);
  const actionMask = new ActionMask(task.tool_schemas);
  const builder = new PolicyInputBuilder(task.tool_schemas);
  const inputs: PolicyInput[] = [];
  while (!env.done) {
    const observation = env.observe();
    const candidates = env.candidates();
    const mask = actionMask.mask(observation, candidates);
    const input = builder.build({ observation, candidates, mask });
    const { actionIndex } = rule.choose(input);
    assert.equal(mask[actionIndex], true);
    inputs.push(input);
    env.step(candidates[actionIndex]!);
  }
  return {
    inputs,
    steps: env.steps,
    success: env.evaluate().success,
    forbidden: env.evaluate().forbidden_side_effect_count,
  };
}

/** An input at the start of the first task, with parts replaced. */
function inputWith(change: { readonly goal?: string; readonly bits?: readonly boolean[] }): PolicyInput {
  const env = new WorkflowEnvironment(SMOKE_TEST[0]!);
  const observation = { ...env.observe(), ...(change.goal === undefined ? {} : { user_goal: change.goal }) };
  const candidates = env.candidates();
  const { tool_schemas: schemas } = env.task;
  const mask = change.bits ?? new ActionMask(schemas).mask(observation, candidates);
  return policyInputFromDecision({ observation, candidates, mask, schemas });
}

Deno.test("readyGreedyRule solves every smoke test task in exactly the optimal steps", () => {
  for (const task of SMOKE_TEST) {
    const { success, steps, forbidden } = play(task, readyGreedyRule);
    assert.deepEqual([success, steps, forbidden], [true, task.optimal_steps, 0], task.case_id);
  }
});

Deno.test("readyGreedyRule takes the first selectable candidate where no operation is left to do", () => {
  const env = new WorkflowEnvironment(SMOKE_TEST[0]!);
  const queries = env.candidates().map((_, i) => i);
  const readOnly = inputWith({}).candidates.map((candidate) => !candidate.tool_schema.mutating);
  assert.equal(
    readyGreedyRule.choose(inputWith({ bits: readOnly })).actionIndex,
    queries.find((i) => readOnly[i]),
  );
});

Deno.test("readyGreedyRule never takes a masked, forbidden or finished operation", () => {
  const all = inputWith({ bits: inputWith({}).candidates.map(() => true) });
  const { actionIndex } = readyGreedyRule.choose(all);
  assert.equal(all.candidates[actionIndex]!.tool_schema.policy_allowed, true);
  for (const task of SMOKE_TEST.slice(0, 5)) {
    for (const input of play(task, readyGreedyRule).inputs) {
      const { tool_schema } = input.candidates[readyGreedyRule.choose(input).actionIndex]!;
      const done = input.observation.visible_state.completed_nodes as readonly string[];
      assert.equal(done.includes(tool_schema.operation_id!), false);
    }
  }
});

Deno.test("maskedRandomRule() chooses only what the mask allows, differs by seed, and wastes steps", () => {
  const plays = SMOKE_TEST.map((task) => play(task, maskedRandomRule(7)));
  assert.ok(plays.filter((one) => one.success).length < 8);
  const choices = (seed: number) =>
    plays.flatMap(({ inputs }) => inputs.map((input) => maskedRandomRule(seed).choose(input).actionIndex))
      .join();
  assert.equal(choices(7), choices(7));
  assert.notEqual(choices(7), choices(8));
});

Deno.test("maskedRandomRule() does not look at the goal", () => {
  const goals = ["", "one", "another goal"].map((goal) =>
    maskedRandomRule(3).choose(inputWith({ goal })).actionIndex
  );
  assert.equal(new Set(goals).size, 1);
});

Deno.test("firstCandidateRule takes the first selectable candidate, whatever it does", () => {
  const all = inputWith({}).candidates.map(() => true);
  assert.equal(firstCandidateRule.choose(inputWith({ bits: all })).actionIndex, 0);
  const last = all.map((_, i) => i === all.length - 1);
  assert.equal(firstCandidateRule.choose(inputWith({ bits: last })).actionIndex, all.length - 1);
});

Deno.test("public rules accept a policy input and nothing else", () => {
  const input = inputWith({});
  const text = canonicalPolicyText(input);
  const env = new WorkflowEnvironment(SMOKE_TEST[0]!);
  for (const rule of [readyGreedyRule, firstCandidateRule, maskedRandomRule(1)]) {
    assert.deepEqual(rule.choose(parsePolicyInput(JSON.parse(text))), rule.choose(input));
    for (
      const value of [
        JSON.parse(text),
        { ...input },
        env,
        env.task,
        env.observe(),
        env.state,
        text,
        null,
        undefined,
      ]
    ) {
      assert.throws(() => rule.choose(value as PolicyInput), (error) => hasCode(error, "not_a_policy_input"));
    }
  }
});
