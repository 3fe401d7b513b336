/** One evaluation of two cases by a policy that weighs nothing, for the tests of this room. */
import { generateSplit } from "../benchmark/generate.ts";
import { greedyActor } from "../episode/actor.ts";
import { runEpisodes } from "../episode/run_episodes.ts";
import { traceLine, traceRecord } from "../episode/trace.ts";
import { admit } from "../policy/admission.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { writeExactNetwork } from "../policy/exact_graph.ts";
import { type ActorCriticLayerName, actorCriticShapes, type ExactLayer } from "../policy/exact_network.ts";
import { openReference } from "../policy/reference_runtime.ts";

const SIZES = { stateWidth: 16, actionWidth: 16, hidden: 8 };

/** Weights of 0: the first selectable candidate is always the best. The biases make log-probabilities and values. */
function graph() {
  const layers = Object.fromEntries(
    Object.entries(actorCriticShapes(SIZES)).map(([name, [inputs, outputs]]): [string, ExactLayer] => [name, {
      name,
      inputs,
      outputs,
      weights: new Float64Array(inputs * outputs),
      bias: new Float64Array(outputs).fill(2 ** 20),
    }]),
  ) as Record<ActorCriticLayerName, ExactLayer>;
  return admit(writeExactNetwork({ kind: "actor_critic", ...SIZES, layers }));
}

/** The cases. */
export const TASKS = generateSplit({ split: "test", size: 2, baseSeed: 20260808 });

/** How they were run. */
export const SETTINGS = {
  encoder: new FeatureEncoder(SIZES),
  reward: {
    task_success: 1,
    task_failure: -1,
    invalid_action: -0.2,
    forbidden_effect: -1,
    step: -0.01,
    progress_beta: 0.35,
    gamma: 0.99,
    terminal_potential: "zero",
  },
  selection: "public",
} as const;

/** The actor that ran them. */
export const ACTOR = greedyActor(openReference(graph()));

/** Their traces, without line feeds. */
export const LINES: readonly string[] = await Array.fromAsync(
  runEpisodes(TASKS, ACTOR, SETTINGS),
  (episode) => traceLine(traceRecord(episode, { mode: "compact", credit: "action" })).slice(0, -1),
);
