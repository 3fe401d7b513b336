import assert from "node:assert/strict";
import { generateSplit } from "../benchmark/generate.ts";
import { type FullStep, type TraceRecord, traceRecord } from "../episode/trace.ts";
import { runEpisodes } from "../episode/run_episodes.ts";
import { maskedRandomRule } from "../benchmark/public_rules.ts";
import { ruleActor } from "../evaluate/rule_actor.ts";
import { oracleActor } from "../evaluate/oracle_actor.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { replayInconsistencies } from "./canary_replay.ts";
import { TINY } from "./_example_run.ts";
import { encoderSettings, rewardSettings } from "./semantics.ts";

type Full = TraceRecord<FullStep>;

const TASKS = generateSplit({ split: "train", size: 3, baseSeed: 424242 });
const SETTINGS = {
  encoder: new FeatureEncoder(encoderSettings(TINY)),
  reward: rewardSettings(TINY),
  /** Any function of the state will do: a replay must compute the same. */
  potential: (states: readonly Int32Array[]) =>
    Promise.resolve(states.map((state) => 1 / (2 + Math.abs(state.reduce((sum, x) => sum + x, 0))))),
};

async function played(
  actor: Parameters<typeof runEpisodes>[1],
  selection: "public" | "none",
): Promise<Full[]> {
  const episodes = runEpisodes(TASKS, actor, { ...SETTINGS, selection }, "full");
  return await Array.fromAsync(
    episodes,
    (episode) => traceRecord(episode, { mode: "full", credit: "action" }) as Full,
  );
}

/** By the oracle, to success; and by chance among everything, with refusals and a lost case. */
const ORACLE = await played(oracleActor(TASKS), "public");
const RANDOM = await played(ruleActor(maskedRandomRule(7)), "none");

const faults = async (records: readonly Full[]) =>
  (await replayInconsistencies(records, { ...SETTINGS, tasks: TASKS, timeoutMs: 80_000 }))
    .map(({ fact, step }) => `${fact} ${step}`);

/** The records with one thing of one step of the first case replaced. */
function forged(records: readonly Full[], step: number, change: Partial<FullStep>): Full[] {
  const [first, ...rest] = records;
  return [
    { ...first!, steps: first!.steps.map((one, i) => i === step ? { ...one, ...change } : one) },
    ...rest,
  ];
}

Deno.test("replayInconsistencies() finds nothing in true records, of successes and of failures", async () => {
  assert.ok(ORACLE.every(({ success }) => success));
  assert.ok(RANDOM.some(({ success }) => !success));
  assert.ok(RANDOM.some(({ executed_actions }) => executed_actions.some(({ accepted }) => !accepted)));
  assert.deepEqual(await faults(ORACLE), []);
  assert.deepEqual(await faults(RANDOM), []);
});

Deno.test("replayInconsistencies() finds a wrong current and a wrong next observation", async () => {
  const [, second, third] = ORACLE[0]!.steps;
  assert.deepEqual(await faults(forged(ORACLE, 1, { observation: third!.observation })), ["observation 1"]);
  assert.deepEqual(await faults(forged(ORACLE, 1, { next_observation: second!.observation })), [
    "observation 1",
  ]);
});

Deno.test("replayInconsistencies() finds a wrong end", async () => {
  assert.deepEqual(await faults(forged(ORACLE, 0, { done: true })), ["done 0"]);
});

Deno.test("replayInconsistencies() finds a reward that is off by the last bit, in sum, part or potential", async () => {
  const { reward, reward_components: parts, info } = ORACLE[0]!.steps[2]!;
  const nudged = reward * (1 + Number.EPSILON);
  assert.ok(nudged !== reward);
  const potential = info.progress_potential!;
  for (
    const change of [
      { reward: nudged },
      { reward_components: { ...parts, progress: parts.progress * (1 + 2 * Number.EPSILON) } },
      { reward_components: { ...parts, task: parts.progress, progress: parts.task } },
      { info: { ...info, progress_potential: { ...potential, phi_raw: potential.phi_raw / 2 } } },
    ]
  ) assert.deepEqual(await faults(forged(ORACLE, 2, change)), ["reward 2"]);
});

Deno.test("replayInconsistencies() finds calls that lead elsewhere, and calls after the end", async () => {
  const { steps } = ORACLE[0]!;
  const swapped = await faults(forged(ORACLE, 0, { action: steps[1]!.action }));
  assert.ok(swapped.includes("observation 0") && swapped.includes("final_state null"), swapped.join());
  assert.ok(swapped.includes("metrics null"), "the case is no success any more");
  const [first, ...rest] = ORACLE;
  const again = { ...first!, steps: [...steps, steps.at(-1)!], step_count: steps.length + 1 };
  const executed = [...first!.executed_actions, first!.executed_actions.at(-1)!];
  const longer = await faults([{ ...again, executed_actions: executed }, ...rest]);
  assert.deepEqual(longer, [`done ${steps.length}`, "metrics null"]);
});

Deno.test("replayInconsistencies() finds metrics that the calls do not give", async () => {
  const [first, ...rest] = ORACLE;
  assert.deepEqual(await faults([{ ...first!, success: false }, ...rest]), ["metrics null"]);
  assert.deepEqual(
    await faults([{ ...first!, simulated_latency_s: first!.simulated_latency_s + 0.001 }, ...rest]),
    ["metrics null"],
  );
});
