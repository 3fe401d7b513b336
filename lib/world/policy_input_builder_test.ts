import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import { exampleTask } from "./_example_task.ts";
import { ActionMask } from "./action_mask.ts";
import type { Observation } from "./contracts.ts";
import { WorkflowEnvironment } from "./environment.ts";
import { canonicalPolicyText, isPolicyInput, policyInputFromDecision } from "./policy_input.ts";
import { PolicyInputBuilder } from "./policy_input_builder.ts";

const task = exampleTask();
const { tool_schemas: schemas } = task;

Deno.test("PolicyInputBuilder.build() gives the bytes of policyInputFromDecision() along random walks", () => {
  const builder = new PolicyInputBuilder(schemas);
  const actionMask = new ActionMask(schemas);
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 10 }), fc.string({ unit: "binary" }), (choices, word) => {
      const env = new WorkflowEnvironment(task);
      for (const choice of choices) {
        if (env.done) break;
        const candidates = env.candidates();
        const seen = env.observe();
        const mask = actionMask.mask(seen, candidates);
        // entities and texts of any kind, so that aliases overlap with all else
        const observation: Observation = {
          ...seen,
          message: word,
          available_entities: word === "" ? seen.available_entities : [...seen.available_entities, word],
          visible_state: { ...seen.visible_state, [`key-${word}`]: [word, { audit_log: 1, kept: word }] },
        };
        const fast = builder.build({ observation, candidates, mask });
        const defined = policyInputFromDecision({ observation, candidates, mask, schemas });
        assert.deepEqual(fast, defined);
        assert.equal(canonicalPolicyText(fast), canonicalPolicyText(defined));
        assert.equal(isPolicyInput(fast), true);
        env.step(candidates[choice % candidates.length]!);
      }
    }),
  );
});

Deno.test("PolicyInputBuilder shares frozen schemas between the inputs of a task", () => {
  const builder = new PolicyInputBuilder(schemas);
  const env = new WorkflowEnvironment(task);
  const build = () => {
    const candidates = env.candidates();
    const observation = env.observe();
    return builder.build({
      observation,
      candidates,
      mask: new ActionMask(schemas).mask(observation, candidates),
    });
  };
  const find = (name: string) =>
    build().candidates.find(({ tool_schema }) => tool_schema.name === name)!.tool_schema;
  const before = find("desk.inspect_status");
  env.step(task.oracle_plans[0]![0]!);
  assert.equal(find("desk.inspect_status"), before);
  assert.equal(Object.isFrozen(before.required_arguments), true);
});

Deno.test("PolicyInputBuilder refuses as policyInputFromDecision() does", () => {
  assert.throws(
    () => new PolicyInputBuilder([...schemas, schemas[0]!]),
    (error) => hasCode(error, "duplicate_tool"),
  );
  const env = new WorkflowEnvironment(task);
  const observation = env.observe();
  const candidates = env.candidates();
  const mask = candidates.map(() => true);
  const refuse = (code: string, change: object, from = schemas) =>
    assert.throws(
      () => new PolicyInputBuilder(from).build({ observation, candidates, mask, ...change }),
      (error) => hasCode(error, code),
    );
  refuse("empty_decision", { candidates: [], mask: [] });
  refuse("mask_mismatch", { mask: [true] });
  refuse("nothing_selectable", { mask: candidates.map(() => false) });
  refuse("unknown_candidate_tool", {}, schemas.slice(0, 1));
  refuse("not_policy_input", { observation: { ...observation, visible_state: { n: NaN } } });
  const nested = (levels: number): unknown => levels === 0 ? 0 : [nested(levels - 1)];
  for (const levels of [59, 60, 61, 62, 63, 64]) {
    const deep = [{ ...candidates[0]!, arguments: { deep: nested(levels) } as never }];
    const decision = { observation, candidates: deep, mask: [true] };
    const outcome = (build: () => unknown) => {
      try {
        return (build(), "built");
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    assert.equal(
      outcome(() => canonicalPolicyText(new PolicyInputBuilder(schemas).build(decision))),
      outcome(() => canonicalPolicyText(policyInputFromDecision({ ...decision, schemas }))),
      `${levels}`,
    );
  }
});
