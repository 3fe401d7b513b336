import assert from "node:assert/strict";
import { generateSplit } from "../benchmark/generate.ts";
import { readyGreedyRule } from "../benchmark/public_rules.ts";
import { canonicalJson, type Json } from "../core/canonical_json.ts";
import { TracewrightError } from "../core/error.ts";
import type { Actor } from "../episode/actor.ts";
import type { Potential } from "../episode/potential.ts";
import { runEpisodes } from "../episode/run_episodes.ts";
import type { TerminalPotential } from "../episode/shaping.ts";
import { traceLine, traceRecord } from "../episode/trace.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { replayEnvironment, type ReplaySettings } from "./replay_environment.ts";

const [TASK] = generateSplit({ split: "dev", size: 10, baseSeed: 20260808 });
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
  const episodes = await Array.fromAsync(runEpisodes([TASK!], SOLVER, {
    ...settings(terminal),
    encoder: new FeatureEncoder({ stateWidth: 16, actionWidth: 16 }),
    potential: POTENTIAL,
  }));
  return traceLine(traceRecord(episodes[0]!, { mode: "compact", credit: "action" })).slice(0, -1);
}

Deno.test("replayEnvironment() takes the potential of terminal states as the config has it, and no other way", async () => {
  for (const [own, other] of [["zero", "estimated"], ["estimated", "zero"]] as const) {
    const line = await lineOf(own);
    const record = replayEnvironment(line, TASK!, settings(own));
    assert.equal(record.steps.at(-1)!.info.progress_potential!.terminal_zeroed, own === "zero");
    assert.throws(() => replayEnvironment(line, TASK!, settings(other)), (error) => {
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
    () => replayEnvironment(canonicalJson(record as Json), TASK!, settings("estimated")),
    (error) => error instanceof TracewrightError && error.code === "trace_schema",
  );
});
