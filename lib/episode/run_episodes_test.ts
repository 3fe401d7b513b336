import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { policyInputDigest } from "../world/policy_input.ts";
import type { Actor } from "./actor.ts";
import type { Potential } from "./potential.ts";
import { totalReward } from "./reward.ts";
import { type Episode, runEpisodes } from "./run_episodes.ts";
import {
  actorOf,
  ENCODER,
  episodesOf,
  exampleTasks,
  gambler,
  IDLER,
  randomPolicy,
  SETTINGS,
  SOLVER,
} from "./_example_episodes.ts";
import { greedyActor } from "./actor.ts";
import { traceLine, traceRecord } from "./trace.ts";

const TASKS = exampleTasks(12);
const BETA = SETTINGS.reward.progress_beta;
const GAMMA = SETTINGS.reward.gamma;

/** A potential that differs from state to state, and remembers what it was asked. */
function countingPotential(): Potential & { readonly asked: Int32Array[] } {
  const asked: Int32Array[] = [];
  const potential: Potential = (states) => {
    asked.push(...states);
    return Promise.resolve(
      states.map((state) => (state.reduce((sum, x) => sum + Math.abs(x), 0) % 997) / 997),
    );
  };
  return Object.assign(potential, { asked });
}

const lines = (episodes: readonly Episode[]) =>
  episodes.map((episode) => traceLine(traceRecord(episode, { mode: "compact", credit: "action" }))).join("");

Deno.test("runEpisodes() gives the same bytes for any number of lanes", async () => {
  using policy = await randomPolicy(2);
  const actors: (() => Actor)[] = [() => gambler(5), () => greedyActor(policy)];
  for (const actor of actors) {
    const runs = [];
    for (const lanes of [1, 3, 128]) {
      runs.push(lines(await episodesOf(TASKS, actor(), { lanes, potential: countingPotential() })));
    }
    assert.equal(runs[1], runs[0]);
    assert.equal(runs[2], runs[0]);
  }
});

Deno.test("runEpisodes() yields in the order of the tasks and asks once a round", async () => {
  const sizes: number[] = [];
  const counting: Actor = (decisions) => {
    sizes.push(decisions.length);
    return SOLVER(decisions);
  };
  const tasks = TASKS.toReversed();
  const episodes = await episodesOf(tasks, counting);
  assert.deepEqual(episodes.map(({ task }) => task), tasks);
  const going = (round: number) => tasks.filter(({ optimal_steps }) => optimal_steps > round).length;
  assert.deepEqual(sizes, sizes.map((_, round) => going(round)));
  assert.equal(sizes.length, Math.max(...tasks.map(({ optimal_steps }) => optimal_steps)));
});

Deno.test("runEpisodes() records what a fresh environment says of the same calls", async () => {
  for (const episode of await episodesOf(TASKS, gambler(1), { selection: "none" })) {
    const environment = new WorkflowEnvironment(episode.task);
    for (const step of episode.steps) {
      const call = step.candidates[step.choice.index]!;
      assert.deepEqual(step.observation, environment.observe());
      assert.deepEqual(step.candidates, environment.candidates());
      assert.equal(step.validLabel, environment.dryRun(call).valid);
      assert.deepEqual(step.outcome, environment.step(call));
      assert.deepEqual(step.features, ENCODER.encode(step.input));
    }
    assert.ok(environment.done);
    assert.deepEqual(episode.evaluation, environment.evaluate());
    assert.deepEqual(episode.finalState, environment.state);
    assert.equal(episode.totalLatencyMs, environment.totalLatencyMs);
  }
});

Deno.test("runEpisodes() never asks the potential about a terminal state, on success or timeout", async () => {
  for (const [actor, success] of [[SOLVER, true], [IDLER, false]] as const) {
    const potential = countingPotential();
    const episodes = await episodesOf(TASKS, actor, { potential, lanes: 5 });
    const steps = episodes.flatMap((episode) => episode.steps);
    // Once for each state in which something was decided, and not once more.
    assert.equal(potential.asked.length, steps.length);
    const decided = new Set(steps.map(({ features }) => features.state));
    assert.ok(potential.asked.every((state) => decided.has(state)));
    for (const { evaluation, steps, task } of episodes) {
      assert.equal(evaluation.success, success);
      assert.equal(steps.length, success ? task.optimal_steps : task.max_steps);
      for (const [t, { potential, outcome }] of steps.entries()) {
        const last = t === steps.length - 1;
        assert.equal(outcome.done, last);
        assert.equal(outcome.info.timed_out, last && !success);
        assert.equal(potential!.terminal_zeroed, last);
        assert.equal(potential!.phi_next_raw, last ? null : steps[t + 1]!.potential!.phi_raw);
        assert.equal(potential!.phi_next_used, last ? 0 : potential!.phi_next_raw);
      }
    }
  }
});

Deno.test("runEpisodes() shapes by -beta Phi(s0) over an episode, discounted", async () => {
  for (const actor of [SOLVER, IDLER, gambler(3)]) {
    for (const { steps } of await episodesOf(TASKS, actor, { potential: countingPotential() })) {
      let discount = 1;
      let shaping = 0;
      for (const { reward } of steps) {
        shaping += discount * reward.progress;
        discount *= GAMMA;
      }
      assert.ok(Math.abs(shaping + BETA * steps[0]!.potential!.phi_raw) < 1e-12);
    }
  }
});

Deno.test("runEpisodes() asks about terminal states, too, where their potential is estimated", async () => {
  const reward = { ...SETTINGS.reward, terminal_potential: "estimated" } as const;
  for (const actor of [SOLVER, IDLER]) {
    const potential = countingPotential();
    const episodes = await episodesOf(TASKS, actor, { potential, reward, lanes: 5 });
    const steps = episodes.flatMap((episode) => episode.steps);
    assert.equal(potential.asked.length, steps.length + episodes.length);
    assert.equal(potential.asked.filter((state) => state[2] === 1024).length, episodes.length); // slot 2: done
    for (const { steps } of episodes) {
      for (const [t, { potential }] of steps.entries()) {
        assert.equal(potential!.terminal_zeroed, false);
        assert.equal(potential!.phi_next_used, potential!.phi_next_raw);
        if (t + 1 < steps.length) assert.equal(potential!.phi_next_raw, steps[t + 1]!.potential!.phi_raw);
      }
    }
    const plain = await episodesOf(TASKS, actor, { potential: countingPotential() });
    assert.deepEqual(
      episodes.map(({ steps }) => steps.map(({ outcome, choice }) => [outcome, choice])),
      plain.map(({ steps }) => steps.map(({ outcome, choice }) => [outcome, choice])),
    );
  }
  const sparse = await episodesOf(TASKS, SOLVER, { reward });
  assert.ok(sparse.every(({ steps }) => steps.every(({ potential }) => potential === null)));
});

Deno.test("runEpisodes() pays nothing for progress without a potential", async () => {
  for (const { steps, evaluation } of await episodesOf(TASKS, gambler(4))) {
    assert.ok(steps.every(({ potential, reward }) => potential === null && Object.is(reward.progress, 0)));
    const task = evaluation.success ? 1 : -1;
    const paid = steps.reduce((sum, { reward }) => sum + totalReward(reward), 0);
    assert.ok(Math.abs(paid - (task - 0.01 * steps.length)) < 1e-12);
  }
});

Deno.test("runEpisodes() charges a recorded forbidden effect at every step, and such a case never succeeds", async () => {
  const [task] = TASKS;
  const stained: WorkflowTask = {
    ...task!,
    initial_state: { ...task!.initial_state, side_effects: [task!.forbidden_side_effects[0]!] },
  };
  const [episode] = await episodesOf([stained], SOLVER);
  assert.equal(episode!.evaluation.success, false);
  assert.equal(episode!.evaluation.forbidden_side_effect_count, 1);
  assert.equal(episode!.steps.length, stained.max_steps);
  assert.ok(episode!.steps.every(({ reward }) => reward.forbidden === -1));
});

Deno.test("runEpisodes() shows an unmasked variant every candidate as selectable, and labels what it does", async () => {
  let forbidden = 0;
  for (const { steps } of await episodesOf(TASKS, gambler(6), { selection: "none" })) {
    for (const { selectionMask, publicMask, input, choice, validLabel, reward, outcome } of steps) {
      assert.ok(selectionMask.every((bit) => bit));
      assert.ok(input.candidates.every(({ action_mask }) => action_mask));
      assert.ok(publicMask.includes(false));
      assert.equal(publicMask[choice.index], validLabel);
      assert.equal(outcome.accepted, validLabel);
      assert.equal(reward.invalid, validLabel ? 0 : -0.2);
      if (!validLabel) forbidden++;
    }
  }
  assert.ok(forbidden > 10);
});

Deno.test("runEpisodes() judges every candidate where full evidence is asked for", async () => {
  const [full] = await episodesOf(TASKS.slice(0, 1), SOLVER, { evidence: "full" });
  for (const { labels, candidates, publicMask, choice, validLabel } of full!.steps) {
    assert.equal(labels.length, candidates.length);
    assert.deepEqual(labels.map(({ valid }) => valid), publicMask);
    assert.deepEqual(labels.map(({ invalid_kind }) => invalid_kind === null), publicMask);
    assert.equal(labels[choice.index]!.valid, validLabel);
  }
  const [compact] = await episodesOf(TASKS.slice(0, 1), SOLVER);
  assert.ok(compact!.steps.every(({ labels }) => labels.length === 0));
});

Deno.test("runEpisodes() gives an actor the policy input and nothing that names the case", async () => {
  const digests: string[] = [];
  const spy: Actor = (decisions) => {
    for (const decision of decisions) {
      assert.deepEqual(Object.keys(decision).sort(), ["episode", "features", "input"]);
      digests.push(policyInputDigest(decision.input));
      const text = JSON.stringify(decision.input);
      for (const { case_id, entity_id } of TASKS) {
        assert.ok(!text.includes(case_id) && !text.includes(entity_id));
      }
      assert.ok(!text.includes("call_id"));
    }
    return SOLVER(decisions);
  };
  const episodes = await episodesOf(TASKS, spy, { lanes: 1 });
  const recorded = episodes.flatMap(({ steps }) => steps.map(({ input }) => policyInputDigest(input)));
  assert.deepEqual(digests, recorded);
});

Deno.test("runEpisodes() refuses a masked, a missing and a fractional choice", async () => {
  const masked = actorOf(({ input }) => input.candidates.findIndex(({ action_mask }) => !action_mask));
  for (
    const actor of [
      masked,
      actorOf(() => -1),
      actorOf(() => 99),
      actorOf(() => 0.5),
      actorOf(() => NaN),
    ]
  ) {
    await assert.rejects(episodesOf(TASKS, actor), (error) => {
      assert.ok(hasCode(error, "bad_choice"));
      assert.deepEqual([error.details["case"], error.details["step"]], [TASKS[0]!.case_id, 0]);
      return true;
    });
  }
});

Deno.test("runEpisodes() refuses answers that leave a decision or a state out", async () => {
  const short: Actor = async (decisions) => (await SOLVER(decisions)).slice(1);
  await assert.rejects(episodesOf(TASKS, short), (error) => hasCode(error, "bad_answer"));
  const silent: Potential = (states) => Promise.resolve(states.slice(1).map(() => 0.5));
  await assert.rejects(
    episodesOf(TASKS, SOLVER, { potential: silent }),
    (error) => hasCode(error, "bad_answer"),
  );
  const broken: Potential = (states) => Promise.resolve(states.map(() => NaN));
  await assert.rejects(
    episodesOf(TASKS, SOLVER, { potential: broken }),
    (error) => hasCode(error, "bad_shaping"),
  );
});

Deno.test("runEpisodes() refuses a number of lanes that is none", async () => {
  for (const lanes of [0, -1, 1.5, NaN]) {
    const run = Array.fromAsync(runEpisodes(TASKS, SOLVER, { ...SETTINGS, lanes }));
    await assert.rejects(run, (error) => hasCode(error, "bad_lanes"));
  }
});

Deno.test("runEpisodes() of no tasks is no episode", async () => {
  assert.deepEqual(await episodesOf([], SOLVER), []);
});
