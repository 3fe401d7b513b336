import assert from "node:assert/strict";
import { canonicalJson, type JsonObject, parseCanonical } from "../core/canonical_json.ts";
import { digestOf, hexOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { canonicalPolicyInput } from "../world/policy_input.ts";
import { totalReward } from "./reward.ts";
import type { Episode } from "./run_episodes.ts";
import {
  candidatesDigest,
  type CompactStep,
  type FullStep,
  TRACE_SCHEMA,
  traceLine,
  type TraceRecord,
  traceRecord,
} from "./trace.ts";
import { ENCODER, episodesOf, exampleTasks, gambler, IDLER, SOLVER } from "./_example_episodes.ts";

const TASKS = exampleTasks(4);
const phi = (states: readonly unknown[]) => Promise.resolve(states.map(() => 0.25));

const hashed = (value: unknown) => hexOf(digestOf(canonicalJson(value)));

async function compact(): Promise<[Episode, TraceRecord<CompactStep>][]> {
  const episodes = await episodesOf(TASKS, gambler(3), { selection: "none", potential: phi });
  return episodes.map((episode) => [
    episode,
    traceRecord(episode, { mode: "compact", credit: "action" }) as TraceRecord<CompactStep>,
  ]);
}

async function full(): Promise<[Episode, TraceRecord<FullStep>]> {
  const [episode] = await episodesOf(TASKS.slice(0, 1), gambler(3), { evidence: "full" });
  return [episode!, traceRecord(episode!, { mode: "full", credit: "sequence" }) as TraceRecord<FullStep>];
}

// Source of all key sets: protocol/evaluation-and-evidence.md section 1; five reward components in one place.
const RECORD_KEYS = [
  "action_evaluations",
  "case_id",
  "credit_assignment",
  "difficulty",
  "executed_actions",
  "family",
  "final_state",
  "forbidden_side_effect_count",
  "goal_predicates_satisfied",
  "max_steps",
  "optimal_steps",
  "schema",
  "simulated_latency_s",
  "step_count",
  "steps",
  "success",
  "trace_mode",
];
const CORE_KEYS = [
  "action",
  "action_index",
  "action_mask",
  "done",
  "info",
  "invalid_kind",
  "log_prob",
  "predicted_valid",
  "reward",
  "reward_components",
  "step_index",
  "trajectory_id",
  "valid_label",
  "value",
];
const INFO_KEYS = [
  "case_id",
  "idempotent_replay",
  "node_id",
  "policy_input_sha256",
  "progress_potential",
  "state_version",
  "timed_out",
  "total_simulated_latency_s",
];

const keys = (value: unknown) => Object.keys(value as JsonObject).sort();
const read = (record: TraceRecord) => parseCanonical(traceLine(record).slice(0, -1)) as JsonObject;
const rows = (value: unknown) => value as JsonObject[];

Deno.test("traceRecord() writes exactly the compact fields", async () => {
  for (const [, record] of await compact()) {
    const written = read(record);
    assert.deepEqual(keys(written), RECORD_KEYS);
    assert.equal(written["schema"], TRACE_SCHEMA);
    assert.equal(written["trace_mode"], "compact");
    assert.deepEqual(written["action_evaluations"], []);
    for (const step of rows(written["steps"])) {
      assert.deepEqual(keys(step), [...CORE_KEYS, "candidate_count", "candidates_sha256"].sort());
      assert.deepEqual(keys(step["action"]), ["arguments", "call_id", "tool_name"]);
      assert.deepEqual(keys(step["info"]), INFO_KEYS);
      assert.deepEqual(keys(step["reward_components"]), ["forbidden", "invalid", "progress", "step", "task"]);
      const { progress_potential } = step["info"] as JsonObject;
      assert.deepEqual(keys(progress_potential), [
        "phi_next_raw",
        "phi_next_used",
        "phi_raw",
        "terminal_zeroed",
      ]);
    }
    for (const action of rows(written["executed_actions"])) {
      assert.deepEqual(keys(action), [
        "accepted",
        "candidate_index",
        "executed_valid",
        "policy_input_sha256",
        "step_index",
      ]);
    }
  }
});

Deno.test("traceRecord() writes exactly the full fields", async () => {
  const [, record] = await full();
  const written = read(record);
  assert.deepEqual(keys(written), RECORD_KEYS);
  assert.deepEqual([written["trace_mode"], written["credit_assignment"]], ["full", "sequence"]);
  const added = ["observation", "candidates", "next_observation", "state_features", "action_features"];
  for (const step of rows(written["steps"])) {
    assert.deepEqual(keys(step), [...CORE_KEYS, ...added].sort());
    assert.equal((step["info"] as JsonObject)["progress_potential"], null);
  }
  for (const row of rows(written["action_evaluations"])) {
    assert.deepEqual(keys(row), [
      "candidate_index",
      "invalid_kind",
      "predicted_valid",
      "step_index",
      "valid_label",
    ]);
  }
});

Deno.test("traceLine() is one canonical line that reads back to the same value", async () => {
  for (const record of [...(await compact()).map(([, record]) => record), (await full())[1]]) {
    const line = traceLine(record);
    assert.ok(line.endsWith("}\n") && line.indexOf("\n") === line.length - 1);
    assert.equal(canonicalJson(parseCanonical(line.slice(0, -1))) + "\n", line);
    assert.deepEqual(parseCanonical(line.slice(0, -1)), JSON.parse(JSON.stringify(record)));
  }
});

Deno.test("traceRecord() names candidate lists and policy inputs by digests that recompute", async () => {
  for (const [{ steps }, record] of await compact()) {
    for (const [i, { candidates, input, choice }] of steps.entries()) {
      const step = record.steps[i]!;
      assert.equal(step.candidate_count, candidates.length);
      assert.equal(step.candidates_sha256, hashed(candidates));
      assert.equal(step.info.policy_input_sha256, hashed(input));
      assert.equal(step.info.policy_input_sha256, hexOf(digestOf(canonicalPolicyInput(input))));
      assert.deepEqual(step.action, candidates[choice.index]);
      const { policy_input_sha256, candidate_index, step_index } = record.executed_actions[i]!;
      assert.deepEqual(
        [policy_input_sha256, candidate_index, step_index],
        [step.info.policy_input_sha256, step.action_index, i],
      );
    }
  }
});

Deno.test("candidatesDigest() covers order and call ids", async () => {
  const [episode] = (await compact())[0]!;
  const { candidates } = episode.steps[0]!;
  const digest = candidatesDigest(candidates);
  assert.match(digest, /^[0-9a-f]{64}$/);
  assert.notEqual(candidatesDigest(candidates.toReversed()), digest);
  const [first, ...rest] = candidates;
  assert.notEqual(candidatesDigest([{ ...first!, call_id: "other" }, ...rest]), digest);
});

Deno.test("traceRecord() agrees with itself and with the episode", async () => {
  for (const [episode, record] of await compact()) {
    const { task, evaluation } = episode;
    assert.deepEqual([record.case_id, record.family, record.difficulty], [
      task.case_id,
      task.family,
      task.difficulty,
    ]);
    assert.deepEqual([record.optimal_steps, record.max_steps], [task.optimal_steps, task.max_steps]);
    assert.equal(record.success, evaluation.success);
    assert.equal(record.step_count, record.steps.length);
    assert.equal(record.simulated_latency_s, record.steps.at(-1)!.info.total_simulated_latency_s);
    assert.equal(record.final_state, episode.finalState);
    assert.ok("audit_log" in record.final_state && "idempotency_results" in record.final_state);
    for (const [i, step] of record.steps.entries()) {
      assert.deepEqual([step.trajectory_id, step.info.case_id], [task.case_id, task.case_id]);
      assert.equal(step.step_index, i);
      assert.equal(step.reward, totalReward(step.reward_components));
      assert.ok(step.action_mask.every((bit) => bit)); // nothing was masked in this run
      assert.equal(step.predicted_valid, episode.steps[i]!.publicMask[step.action_index]);
      assert.equal(step.valid_label, record.executed_actions[i]!.executed_valid);
      assert.equal(step.invalid_kind === null, record.executed_actions[i]!.accepted);
      assert.equal(step.done, i === record.steps.length - 1);
    }
  }
});

Deno.test("traceRecord() marks the last step of a timeout, and only that", async () => {
  const [episode] = await episodesOf(TASKS.slice(0, 1), IDLER);
  const { steps, success, max_steps } = traceRecord(episode!, { mode: "compact", credit: "action" });
  assert.equal(success, false);
  assert.equal(steps.length, max_steps);
  assert.deepEqual(steps.map(({ info }) => info.timed_out), steps.map((_, i) => i === max_steps - 1));
  assert.ok(steps.every(({ info }) => info.node_id === null && info.state_version === 0));
});

Deno.test("traceRecord() keeps, in full, features on the grid and a verdict on every candidate", async () => {
  const [episode, record] = await full();
  let row = 0;
  for (const [s, step] of record.steps.entries()) {
    const { features, observation, outcome, publicMask, candidates } = episode.steps[s]!;
    assert.deepEqual(step.state_features, [...features.state]);
    assert.equal(step.action_features.length, step.candidates.length);
    assert.ok(step.action_features.every((vector) => vector.length === ENCODER.actionWidth));
    assert.deepEqual(step.action_features.flat(), [...features.actions]);
    assert.deepEqual(step.observation, { ...observation });
    assert.deepEqual(step.next_observation, { ...outcome.observation });
    for (const [c] of candidates.entries()) {
      const verdict = record.action_evaluations[row++]!;
      assert.deepEqual([verdict.step_index, verdict.candidate_index], [s, c]);
      assert.equal(verdict.predicted_valid, publicMask[c]);
      assert.equal(verdict.valid_label, verdict.invalid_kind === null);
    }
  }
  assert.equal(row, record.action_evaluations.length);
});

Deno.test("traceRecord() refuses a full record of an episode without verdicts", async () => {
  const [episode] = await episodesOf(TASKS.slice(0, 1), SOLVER);
  assert.throws(
    () => traceRecord(episode!, { mode: "full", credit: "action" }),
    (error) => hasCode(error, "missing_evidence"),
  );
});
