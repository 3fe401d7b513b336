import assert from "node:assert/strict";
import { canonicalJson } from "../core/canonical_json.ts";
import { hasCode } from "../core/error.ts";
import { callOf, EXAMPLE_ENTITY, exampleTask } from "./_example_task.ts";
import { ActionMask } from "./action_mask.ts";
import type { WorkflowTask } from "./contracts.ts";
import { WorkflowEnvironment } from "./environment.ts";
import {
  canonicalPolicyInput,
  canonicalPolicyText,
  type Decision,
  isPolicyInput,
  parsePolicyInput,
  type PolicyInput,
  policyInputDigest,
  policyInputFromDecision,
} from "./policy_input.ts";

/** The decision after the first `steps` calls of plan 0. */
function decisionAfter(steps: number, task: WorkflowTask = exampleTask()): Decision {
  const env = new WorkflowEnvironment(task);
  for (const call of task.oracle_plans[0]!.slice(0, steps)) env.step(call);
  const observation = env.observe();
  const candidates = env.candidates();
  const mask = new ActionMask(task.tool_schemas).mask(observation, candidates);
  return { observation, candidates, mask, schemas: task.tool_schemas };
}

/** A plain, writable copy, as an attacker would hold it. */
function plain(
  input: PolicyInput,
): Record<string, never> & { observation: Record<string, unknown>; candidates: Record<string, unknown>[] } {
  return JSON.parse(canonicalPolicyText(input));
}

const FIVE = policyInputFromDecision(decisionAfter(5));

Deno.test("policyInputFromDecision() holds exactly the public parts, in candidate order", () => {
  const decision = decisionAfter(5);
  const input = policyInputFromDecision(decision);
  assert.equal(input.schema_version, "policy-input-v1");
  assert.deepEqual(Object.keys(input.observation).sort(), [
    "available_entities",
    "available_tools",
    "done",
    "max_steps",
    "message",
    "remaining_steps",
    "step_index",
    "user_goal",
    "visible_state",
  ]);
  assert.deepEqual(input.candidates.map((candidate) => candidate.action_mask), decision.mask);
  assert.deepEqual(
    input.candidates.map((candidate) => candidate.tool_call.tool_name),
    decision.candidates.map((call) => call.tool_name),
  );
  for (const candidate of input.candidates) {
    assert.deepEqual(Object.keys(candidate).sort(), ["action_mask", "tool_call", "tool_schema"]);
    assert.equal(candidate.tool_call.tool_name, candidate.tool_schema.name);
    assert.deepEqual(
      Object.keys(candidate.tool_schema).sort(),
      Object.keys(exampleTask().tool_schemas[0]!).sort(),
    );
  }
  const text = canonicalPolicyText(input);
  for (const hidden of [EXAMPLE_ENTITY, "call_id", "test-desk", "task_id", "ready-", "negative"]) {
    assert.equal(text.includes(hidden), false, hidden);
  }
});

Deno.test("policyInputFromDecision() replaces the longest identity first, everywhere", () => {
  const { observation, candidates } = FIVE;
  assert.deepEqual(observation.available_entities, ["<entity:0>"]);
  assert.equal(observation.user_goal, "Bring <entity:0> to its end.");
  assert.equal(observation.visible_state.approval_token, "approved-<entity:0>");
  const entities = new Set(candidates.map((candidate) => candidate.tool_call.arguments.entity_id));
  assert.deepEqual([...entities].sort(), ["<entity:0>", "<entity:1>"]); // 1 is the missing one
  const [closing] = candidates.filter((candidate) =>
    candidate.action_mask && Object.hasOwn(candidate.tool_call.arguments, "approval_token")
  );
  assert.equal(closing!.tool_call.arguments.approval_token, "approved-<entity:0>");
  assert.match(closing!.tool_call.arguments.idempotency_key as string, /^idem-<entity:0>-op_6{20}$/);
});

Deno.test("policyInputFromDecision() numbers identities as first seen: available, then the state's, then the candidates'", () => {
  const decision = decisionAfter(0);
  const input = policyInputFromDecision({
    ...decision,
    observation: {
      ...decision.observation,
      available_entities: ["aa", "b"],
      visible_state: {
        nested: [{ entity_id: "bbb" }],
        entity_id: "aab",
        z: "bbb b aab aa missing-desk-0001",
      },
    },
  });
  assert.deepEqual(input.observation.available_entities, ["<entity:0>", "<entity:1>"]);
  assert.equal(input.observation.visible_state.entity_id, "<entity:2>");
  // numbers 0 to 5: aa, b, aab, bbb, then in candidate order the entity of the case and the missing one
  const alias = (index: number) =>
    (input.candidates[index]!.tool_call.arguments as { entity_id: string }).entity_id;
  const missing = decision.candidates.findIndex((call) => call.arguments.entity_id === "missing-desk-0001");
  assert.equal(
    input.observation.visible_state.z,
    `<entity:3> <entity:1> <entity:2> <entity:0> ${alias(missing)}`,
  );
});

Deno.test("policyInputFromDecision() keeps the names of fields, whatever an entity is called", () => {
  const decision = decisionAfter(1);
  const available_entities = ["version", "e", "observation"];
  const input = policyInputFromDecision({
    ...decision,
    observation: { ...decision.observation, available_entities },
  });
  assert.equal(input.observation.visible_state.version, 1);
  assert.deepEqual(
    Object.keys(input.observation.visible_state),
    Object.keys(decision.observation.visible_state),
  );
  assert.equal(input.observation.user_goal, "Bring <entity:3> to its <entity:1>nd.");
});

Deno.test("policyInputFromDecision() never looks for an identity inside an alias", () => {
  const decision = decisionAfter(0);
  const input = policyInputFromDecision({
    ...decision,
    observation: {
      ...decision.observation,
      available_entities: ["zzzz", "entity:"],
      user_goal: "zzzz entity: 0",
    },
  });
  assert.equal(input.observation.user_goal, "<entity:0> <entity:1> 0");
});

Deno.test("policyInputFromDecision() gives the same bytes for a consistently renamed entity", () => {
  // the order of candidates is drawn from the entity, so the decision itself is renamed
  const decision = JSON.parse(JSON.stringify(decisionAfter(5)).replaceAll(EXAMPLE_ENTITY, "office-77/b"));
  assert.equal(policyInputDigest(policyInputFromDecision(decision)), policyInputDigest(FIVE));
});

Deno.test("policyInputFromDecision() gives the same bytes whatever is hidden, and for other call ids", () => {
  const hidden = exampleTask({
    forbidden_side_effects: ["x"],
    hidden_goal_predicates: [{ path: "status", operator: "eq", value: "never" }],
    latency_trace: {},
    case_id: "test-other",
    workflow_nodes: exampleTask().workflow_nodes.map((node) => ({ ...node, simulated_latency_s: 1 })),
  });
  const decision = decisionAfter(5, hidden);
  const renamed = decision.candidates.map((call) => ({ ...call, call_id: "positive" }));
  const input = policyInputFromDecision({ ...decision, candidates: renamed });
  assert.equal(policyInputDigest(input), policyInputDigest(FIVE));
});

Deno.test("policyInputFromDecision() drops forbidden keys at any depth", () => {
  const decision = decisionAfter(5);
  const secret = {
    oracle_plan: ["a"],
    deeper: [{ valid_label: true, workflow_nodes: [] }],
    safety_token: "t",
  };
  const leaking: Decision = {
    ...decision,
    observation: {
      ...decision.observation,
      visible_state: { ...decision.observation.visible_state, audit_log: [1], nested: secret },
    },
    candidates: decision.candidates.map((call) => ({
      ...call,
      arguments: { ...call.arguments, call_id: "x", more: { target_node_id: "y" } },
    })),
  };
  const input = policyInputFromDecision(leaking);
  assert.deepEqual(input.observation.visible_state.nested, { deeper: [{}] });
  assert.equal(Object.hasOwn(input.observation.visible_state, "audit_log"), false);
  for (const { tool_call } of input.candidates) {
    assert.deepEqual(tool_call.arguments.more, {});
    assert.equal(Object.hasOwn(tool_call.arguments, "call_id"), false);
  }
});

Deno.test("policyInputFromDecision() and parsePolicyInput() give inputs that nobody can write to", () => {
  for (const input of [FIVE, parsePolicyInput(plain(FIVE))]) {
    const parts = [
      input,
      input.observation,
      input.observation.visible_state,
      input.observation.visible_state.completed_nodes,
      input.candidates,
      input.candidates[0],
      input.candidates[0]!.tool_call.arguments,
      input.candidates[0]!.tool_schema.required_arguments,
    ];
    for (const part of parts) assert.equal(Object.isFrozen(part), true);
  }
});

Deno.test("policyInputFromDecision() refuses decisions without a choice and masks that do not fit", () => {
  const decision = decisionAfter(0);
  const refused: readonly (readonly [string, Partial<Decision>])[] = [
    ["empty_decision", { candidates: [], mask: [] }],
    ["mask_mismatch", { mask: decision.mask.slice(1) }],
    ["mask_mismatch", { mask: decision.mask.map((bit) => bit ? 1 : 0) as unknown as boolean[] }],
    ["nothing_selectable", { mask: decision.mask.map(() => false) }],
    ["unknown_candidate_tool", { schemas: decision.schemas.slice(1) }],
    ["duplicate_tool", { schemas: [...decision.schemas, decision.schemas[0]!] }],
    ["bad_identity", { observation: { ...decision.observation, available_entities: [""] } }],
    ["bad_identity", {
      observation: { ...decision.observation, available_entities: [7] as unknown as string[] },
    }],
  ];
  for (const [code, change] of refused) {
    assert.throws(
      () => policyInputFromDecision({ ...decision, ...change }),
      (error) => hasCode(error, code),
      code,
    );
  }
});

Deno.test("policyInputFromDecision() refuses what is not finite JSON", () => {
  const decision = decisionAfter(0);
  const cycle: unknown[] = [];
  cycle.push(cycle);
  const values: unknown[] = [NaN, Infinity, -0, undefined, 1n, new Set(), new Date(0), cycle, "\ud800", {
    "\udc00": 1,
  }];
  values.push(JSON.parse('{"__proto__":1}'));
  for (const value of values) {
    const visible_state = {
      ...decision.observation.visible_state,
      value,
    } as Decision["observation"]["visible_state"];
    const observation = { ...decision.observation, visible_state };
    assert.throws(
      () => policyInputFromDecision({ ...decision, observation }),
      (error) => hasCode(error, "not_policy_input"),
    );
  }
  const { user_goal: _goal, ...withoutGoal } = decision.observation;
  assert.throws(
    () => policyInputFromDecision({ ...decision, observation: withoutGoal as Decision["observation"] }),
    (error) => hasCode(error, "not_policy_input"),
  );
});

Deno.test("policyInputFromDecision() leaves symbol keys behind", () => {
  const decision = decisionAfter(0);
  const visible_state = { ...decision.observation.visible_state, [Symbol("hidden")]: "secret" };
  const input = policyInputFromDecision({
    ...decision,
    observation: { ...decision.observation, visible_state },
  });
  assert.deepEqual(Object.getOwnPropertySymbols(input.observation.visible_state), []);
});

Deno.test("parsePolicyInput() reads back the same bytes", () => {
  for (let steps = 0; steps < 6; steps++) {
    const input = policyInputFromDecision(decisionAfter(steps));
    const text = canonicalPolicyText(input);
    assert.equal(text, canonicalJson(input));
    const again = parsePolicyInput(JSON.parse(text));
    assert.notEqual(again, input);
    assert.equal(canonicalPolicyText(again), text);
    assert.deepEqual(canonicalPolicyInput(again), new TextEncoder().encode(text));
    assert.equal(policyInputDigest(again), policyInputDigest(input));
    assert.match(policyInputDigest(input), /^[0-9a-f]{64}$/);
  }
  assert.equal(parsePolicyInput(FIVE), FIVE);
});

Deno.test("parsePolicyInput() refuses forbidden keys at any depth instead of dropping them", () => {
  for (const key of ["call_id", "task_id", "oracle_plans", "positive_actions", "state_sha256"]) {
    const inState = plain(FIVE);
    inState.observation.visible_state = { deep: [{ [key]: 1 }] };
    const inCall = plain(FIVE);
    Object.assign(inCall.candidates[2]!.tool_call as Record<string, unknown>, { arguments: { [key]: 1 } });
    const atTop = { ...plain(FIVE), [key]: 1 };
    for (const value of [inState, inCall, atTop]) {
      assert.throws(() => parsePolicyInput(value), (error) => hasCode(error, "forbidden_key"), key);
    }
  }
});

Deno.test("parsePolicyInput() refuses identities that are not aliased", () => {
  const available = plain(FIVE);
  available.observation.available_entities = [EXAMPLE_ENTITY];
  const inState = plain(FIVE);
  (inState.observation.visible_state as Record<string, unknown>).entity_id = EXAMPLE_ENTITY;
  const inCall = plain(FIVE);
  Object.assign((inCall.candidates[0]!.tool_call as { arguments: object }).arguments, {
    entity_id: "<entity:01>",
  });
  for (const value of [available, inState, inCall]) {
    assert.throws(() => parsePolicyInput(value), (error) => hasCode(error, "raw_identity"));
  }
});

Deno.test("parsePolicyInput() refuses unknown, missing and mistyped fields, and anything else", () => {
  const change = (edit: (value: ReturnType<typeof plain>) => void) => {
    const value = plain(FIVE);
    edit(value);
    return value;
  };
  const refused: readonly (readonly [string, unknown])[] = [
    ["not_policy_input", null],
    ["forbidden_key", exampleTask()],
    ["not_policy_input", decisionAfter(0).observation.visible_state],
    ["not_policy_input", { ...FIVE, extra: 1 }],
    ["not_policy_input", change((value) => value.observation.extra = 1)],
    ["not_policy_input", change((value) => delete value.observation.message)],
    ["not_policy_input", change((value) => value.observation.step_index = 1.5)],
    ["not_policy_input", change((value) => value.observation.step_index = 1)],
    ["not_policy_input", change((value) => value.observation.done = 0)],
    ["not_policy_input", change((value) => delete value.candidates[0]!.tool_schema)],
    ["not_policy_input", change((value) => value.candidates[0]!.action_mask = 1)],
    [
      "not_policy_input",
      change((value) => Object.assign(value.candidates[0]!.tool_call as object, { tool_name: "x" })),
    ],
    ["not_policy_input", change((value) => Object.assign(value, { schema_version: "policy-input-v2" }))],
    ["not_policy_input", { ...FIVE, observation: { ...FIVE.observation, step_index: NaN } }],
    ["empty_decision", change((value) => value.candidates.length = 0)],
    [
      "nothing_selectable",
      change((value) => value.candidates.forEach((candidate) => candidate.action_mask = false)),
    ],
  ];
  for (const [code, value] of refused) {
    assert.throws(() => parsePolicyInput(value), (error) => hasCode(error, code), code);
  }
});

Deno.test("isPolicyInput() knows what this room made, not what looks like it", () => {
  assert.equal(isPolicyInput(FIVE), true);
  assert.equal(isPolicyInput(parsePolicyInput(plain(FIVE))), true);
  for (
    const value of [
      plain(FIVE),
      { ...FIVE },
      FIVE.observation,
      null,
      "x",
      exampleTask(),
      callOf("take_in", 0),
    ]
  ) {
    assert.equal(isPolicyInput(value), false);
  }
});

Deno.test("policyInputDigest() takes a plain value of the same content too", () => {
  assert.equal(policyInputDigest(plain(FIVE) as unknown as PolicyInput), policyInputDigest(FIVE));
  assert.equal(canonicalPolicyText(plain(FIVE) as unknown as PolicyInput), canonicalPolicyText(FIVE));
});
