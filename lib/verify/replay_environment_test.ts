import assert from "node:assert/strict";
import { generateSplit } from "../benchmark/generate.ts";
import { readyGreedyRule } from "../benchmark/public_rules.ts";
import { canonicalJson, type Json } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import type { Actor } from "../episode/actor.ts";
import type { Potential } from "../episode/potential.ts";
import { runEpisodes } from "../episode/run_episodes.ts";
import type { TerminalPotential } from "../episode/shaping.ts";
import { type CompactStep, traceLine, type TraceRecord, traceRecord } from "../episode/trace.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { LINES, SETTINGS, TASKS } from "./_example_evaluation.ts";
import {
  placeInTrace,
  replayEnvironment,
  type ReplaySettings,
  traceDifference,
} from "./replay_environment.ts";

const [LINE, TASK] = [LINES[0]!, TASKS[0]!];
const REPLAY = {
  node: "evaluate/b/17",
  credit: "action",
  selection: "public",
  reward: SETTINGS.reward,
} as const;

type Change = (record: TraceRecord<CompactStep>) => unknown;

/** The first trace with some of it replaced, and what the replay says to it. */
function refused(change: Change, code: string, place: { readonly [detail: string]: unknown }): void {
  const line = canonicalJson(change(JSON.parse(LINE) as TraceRecord<CompactStep>));
  assert.notEqual(line, LINE);
  assert.throws(() => replayEnvironment(line, TASK, REPLAY), (error) => {
    assert.ok(error instanceof TracewrightError, String(error));
    assert.equal(error.code, code, error.message);
    for (const [name, value] of Object.entries({ case: TASK.case_id, node: REPLAY.node, ...place })) {
      assert.deepEqual(error.details[name], value, error.message);
    }
    return true;
  });
}

const inStep = (index: number, change: (step: CompactStep) => unknown): Change => (record) => ({
  ...record,
  steps: record.steps.map((step, i) => i === index ? change(step) : step),
});

Deno.test("replayEnvironment() accepts what the runner wrote and gives the record back", () => {
  LINES.forEach((line, i) => {
    const record = replayEnvironment(line, TASKS[i]!, REPLAY);
    assert.equal(canonicalJson(record), line);
  });
});

Deno.test("replayEnvironment() does not judge what only the policy knows", () => {
  const record = JSON.parse(LINE) as TraceRecord<CompactStep>;
  const [first, ...rest] = record.steps;
  const line = canonicalJson({ ...record, steps: [{ ...first, log_prob: -0.5, value: 7 }, ...rest] });
  assert.equal(replayEnvironment(line, TASK, REPLAY).steps[0]?.value, 7);
});

Deno.test("replayEnvironment() names step and field of whatever the environment does not say", () => {
  const expect = (change: (step: CompactStep) => unknown, field: string) =>
    refused(inStep(2, change), "trace_environment_mismatch", { step: 2, field });
  expect((step) => ({ ...step, done: true }), "done");
  expect((step) => ({ ...step, action: { ...step.action, call_id: "x" } }), "action.call_id");
  expect((step) => ({ ...step, info: { ...step.info, state_version: 9 } }), "info.state_version");
  expect((step) => ({ ...step, reward: step.reward + 0.125 }), "reward");
  expect((step) => ({ ...step, action_index: 1e6 }), "action_index");
  expect((step) => ({ ...step, note: 1 }), "note");
  refused((record) => ({ ...record, success: 0 }), "trace_environment_mismatch", {
    field: "success",
    actual: 0,
  });
});

Deno.test("replayEnvironment() wants every step up to the end, and none after it", () => {
  refused((record) => ({ ...record, steps: record.steps.slice(0, -1) }), "trace_environment_mismatch", {
    field: "steps",
  });
  refused(
    (record) => ({ ...record, steps: [...record.steps, record.steps[0]] }),
    "trace_environment_mismatch",
    {
      field: "steps",
    },
  );
});

Deno.test("replayEnvironment() refuses a choice that the mask forbids, but for an unmasked variant", () => {
  const forbidden = JSON.parse(LINE).steps[0].action_mask.indexOf(false) as number;
  assert.ok(forbidden >= 0);
  const change = inStep(0, (step) => ({ ...step, action_index: forbidden }));
  refused(change, "trace_environment_mismatch", { step: 0, field: "action_index", actual: forbidden });
  const line = canonicalJson(change(JSON.parse(LINE) as TraceRecord<CompactStep>));
  assert.throws(
    () => replayEnvironment(line, TASK, { ...REPLAY, selection: "none" }),
    (error) => error instanceof TracewrightError && error.details.field !== "action_index",
  );
});

Deno.test("replayEnvironment() asks for the form of what only the policy knows", () => {
  refused(inStep(1, (step) => ({ ...step, value: "1" })), "trace_schema", { step: 1, field: "value" });
  refused(inStep(1, (step) => ({ ...step, reward_components: {} })), "trace_schema", {
    step: 1,
    field: "reward_components.progress",
  });
  refused(
    inStep(1, (step) => ({ ...step, reward_components: { ...step.reward_components, progress: 1 } })),
    "trace_schema",
    { step: 1, field: "reward_components.progress", actual: 1 },
  );
  const potential = { phi_raw: 0, phi_next_raw: null, phi_next_used: 0, terminal_zeroed: true };
  refused(
    inStep(1, (step) => ({ ...step, info: { ...step.info, progress_potential: potential } })),
    "trace_schema",
    {
      step: 1,
      field: "info.progress_potential.terminal_zeroed",
    },
  );
});

Deno.test("replayEnvironment() refuses another case and what is no record", () => {
  refused((record) => ({ ...record, case_id: "other" }), "trace_case_mismatch", {
    field: "case_id",
    actual: "other",
  });
  refused((record) => [record], "trace_schema", { field: "" });
  refused((record) => ({ ...record, steps: {} }), "trace_schema", { field: "steps" });
  refused((record) => ({ ...record, steps: [null] }), "trace_schema", { field: "steps.0" });
  for (const line of [" " + LINE, LINE + "\r", LINE.replace("{", '{"case_id":"x",'), "", "[".repeat(1e5)]) {
    assert.throws(
      () => replayEnvironment(line, TASK, REPLAY),
      (error) => error instanceof TracewrightError && error.code === "trace_not_canonical",
    );
  }
});

Deno.test("traceDifference() tells the earliest step before anything else", () => {
  const record = { final: 1, executed_actions: [{ a: 1 }, { a: 2 }], steps: [{ b: 1 }, { b: 2 }] };
  const differs = (actual: Parameters<typeof traceDifference>[1]) => traceDifference(record, actual)?.path;
  assert.equal(differs(structuredClone(record)), undefined);
  assert.equal(differs({ ...record, final: 2, steps: [{ b: 1 }, { b: 3 }] }), "steps.1.b");
  assert.equal(
    differs({ ...record, executed_actions: [{ a: 1 }, { a: 3 }], steps: [{ b: 0 }, { b: 2 }] }),
    "steps.0.b",
  );
  assert.equal(differs({ ...record, executed_actions: [{ a: 0 }, { a: 2 }] }), "executed_actions.0.a");
  assert.equal(differs({ ...record, steps: [null, { b: 2 }] }), "steps.0");
  assert.equal(differs({ ...record, steps: [{ b: 1 }] }), "steps.1");
  assert.equal(differs({ ...record, steps: "none" }), "steps");
  assert.equal(differs({ ...record, final: 2 }), "final");
});

Deno.test("placeInTrace() splits a path into step and field", () => {
  assert.deepEqual(placeInTrace("steps.12.info.phi"), { step: 12, field: "info.phi" });
  assert.deepEqual(placeInTrace("executed_actions.3.accepted"), {
    step: 3,
    field: "executed_actions.accepted",
  });
  assert.deepEqual(placeInTrace("steps.3"), { step: 3, field: "steps.3" });
  assert.deepEqual(placeInTrace("steps"), { field: "steps" });
  assert.deepEqual(placeInTrace("success"), { field: "success" });
});

const [SHAPED] = generateSplit({ split: "dev", size: 10, baseSeed: 20260808 });
const SOLVER: Actor = (decisions) =>
  Promise.resolve(decisions.map(({ input }) => ({
    index: readyGreedyRule.choose(input).actionIndex,
    logProb: 0,
    value: 0.5,
  })));
const POTENTIAL: Potential = (states) => Promise.resolve(states.map(() => 0.25));

function settings(terminal_potential: TerminalPotential): ReplaySettings {
  return {
    node: "evaluate/e/17",
    credit: "action",
    selection: "public",
    reward: {
      task_success: 1,
      task_failure: -1,
      step: -0.01,
      invalid_action: -0.2,
      forbidden_effect: -1,
      progress_beta: 0.35,
      gamma: 0.99,
      terminal_potential,
    },
  };
}

async function lineOf(terminal: TerminalPotential): Promise<string> {
  const episodes = await Array.fromAsync(runEpisodes([SHAPED!], SOLVER, {
    ...settings(terminal),
    encoder: new FeatureEncoder({ stateWidth: 16, actionWidth: 16 }),
    potential: POTENTIAL,
  }));
  return traceLine(traceRecord(episodes[0]!, { mode: "compact", credit: "action" })).slice(0, -1);
}

Deno.test("replayEnvironment() takes the potential of terminal states as the config has it, and no other way", async () => {
  for (const [own, other] of [["zero", "estimated"], ["estimated", "zero"]] as const) {
    const line = await lineOf(own);
    const record = replayEnvironment(line, SHAPED!, settings(own));
    assert.equal(record.steps.at(-1)!.info.progress_potential!.terminal_zeroed, own === "zero");
    assert.throws(() => replayEnvironment(line, SHAPED!, settings(other)), (error) => {
      assert.ok(error instanceof TracewrightError);
      const { step, field } = error.details;
      assert.deepEqual([error.code, step, field], [
        "trace_schema",
        record.steps.length - 1,
        "info.progress_potential.terminal_zeroed",
      ]);
      return true;
    });
  }
});

Deno.test("replayEnvironment() refuses a potential that is zeroed before the end", async () => {
  const record = JSON.parse(await lineOf("estimated"));
  record.steps[0].info.progress_potential.terminal_zeroed = true;
  assert.throws(
    () => replayEnvironment(canonicalJson(record as Json), SHAPED!, settings("estimated")),
    (error) => error instanceof TracewrightError && error.code === "trace_schema",
  );
});
