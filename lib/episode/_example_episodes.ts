/** Cases, settings and actors for the tests of this room: small, seeded, and without a trained network. */
import { generateSplit } from "../benchmark/generate.ts";
import { readyGreedyRule } from "../benchmark/public_rules.ts";
import { RandomStream } from "../core/random_stream.ts";
import { admit } from "../policy/admission.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { writeExactNetwork } from "../policy/exact_graph.ts";
import { ACTOR_CRITIC_LAYERS, actorCriticShapes } from "../policy/exact_network.ts";
import { quantiseActorCritic } from "../policy/float_to_exact.ts";
import { openSession } from "../policy/open_runtime.ts";
import type { PolicySession } from "../policy/runtime.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import type { Actor, PendingDecision } from "./actor.ts";
import { type Episode, type EpisodeSettings, runEpisodes } from "./run_episodes.ts";

/** Cases of a split, sorted by id. */
export function exampleTasks(size: number, split: "train" | "dev" | "test" = "test"): WorkflowTask[] {
  return generateSplit({ split, size, baseSeed: 20260808 });
}

const WIDTHS = { stateWidth: 16, actionWidth: 16 };

/** Narrow, to be quick. */
export const ENCODER: FeatureEncoder = new FeatureEncoder(WIDTHS);

/** The protocol's rewards. */
export const SETTINGS = {
  encoder: ENCODER,
  reward: {
    task_success: 1,
    task_failure: -1,
    step: -0.01,
    invalid_action: -0.2,
    forbidden_effect: -1,
    progress_beta: 0.35,
    gamma: 0.99,
  },
  selection: "public",
} as const satisfies EpisodeSettings;

/** An actor that chooses one decision at a time, certain of itself. */
export function actorOf(choose: (decision: PendingDecision) => number): Actor {
  return (decisions) =>
    Promise.resolve(decisions.map((one) => ({ index: choose(one), logProb: 0, value: 0.5 })));
}

/** Solves every case. */
export const SOLVER: Actor = actorOf(({ input }) => readyGreedyRule.choose(input).actionIndex);

/** Only asks, never acts: runs into the step limit. */
export const IDLER: Actor = actorOf(({ input }) =>
  input.candidates.findIndex(({ action_mask, tool_schema }) => action_mask && !tool_schema.mutating)
);

/** Draws among the selectable candidates, each episode from a stream of its own. A new one starts its streams over. */
export function gambler(seed: number): Actor {
  const streams = new Map<number, RandomStream>();
  return actorOf(({ episode, input }) => {
    let stream = streams.get(episode);
    if (stream === undefined) streams.set(episode, stream = new RandomStream(seed, "gambler", episode));
    return stream.pick(input.candidates.flatMap(({ action_mask }, i) => action_mask ? [i] : []));
  });
}

/** A random exact policy behind {@link ENCODER}, on the interpreter. */
export function randomPolicy(seed: number): Promise<PolicySession> {
  const sizes = { ...WIDTHS, hidden: 8 };
  const shapes = actorCriticShapes(sizes);
  const stream = new RandomStream(seed, "example policy");
  const layers = Object.fromEntries(ACTOR_CRITIC_LAYERS.map((name) => [name, {
    weights: Float32Array.from({ length: shapes[name][0] * shapes[name][1] }, () => stream.normal() / 2),
    bias: Float32Array.from({ length: shapes[name][1] }, () => stream.normal() / 8),
  }])) as Parameters<typeof quantiseActorCritic>[0]["layers"];
  const graph = admit(writeExactNetwork(quantiseActorCritic({ ...sizes, layers })));
  return openSession({ graph, runtime: "reference" });
}

/** All episodes of some tasks. */
export function episodesOf(
  tasks: Iterable<WorkflowTask>,
  actor: Actor,
  { evidence = "compact", ...settings }: Partial<EpisodeSettings> & {
    readonly evidence?: "compact" | "full";
  } = {},
): Promise<Episode[]> {
  return Array.fromAsync(runEpisodes(tasks, actor, { ...SETTINGS, ...settings }, evidence));
}
