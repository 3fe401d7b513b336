import { z } from "zod";
import { greedyActor } from "../../episode/actor.ts";
import { exactPotential } from "../../episode/potential.ts";
import { runEpisodes } from "../../episode/run_episodes.ts";
import { traceLine, traceRecord } from "../../episode/trace.ts";
import { openSession } from "../../policy/open_runtime.ts";
import { defineStage } from "../../stage/define_stage.ts";
import { admitFor } from "../admit_for.ts";
import { stageRuntime } from "../execution.ts";
import { MEDIA } from "../media_types.ts";
import { actionFeaturesParam, encoderOf, policyParams, rewardParams } from "../stage_params.ts";
import { eachTask } from "../task_memory.ts";

/** Runs the exact graph greedily over the test split. */
export const evaluateStage = defineStage({
  name: "evaluate",
  version: 1,
  params: z.strictObject({
    action_mask: z.boolean(),
    progress_reward: z.boolean(),
    credit_assignment: z.enum(["action", "sequence"]),
    policy: policyParams,
    action_features: actionFeaturesParam,
    reward: rewardParams.extend({ gamma: z.number() }),
  }),
  inputs: {
    test: { media_type: MEDIA.tasks },
    policy: { media_type: MEDIA.policy },
    "estimators/*": { media_type: MEDIA.estimator, optional: true },
  },
  outputs: { "traces.jsonl": { media_type: MEDIA.traces } },
  async run({ params, input, output, progress }) {
    const runtime = stageRuntime();
    const traces = output("traces.jsonl");
    const encoder = encoderOf(params);
    const graph = admitFor(encoder, { kind: "actor_critic", bytes: input("policy").bytes() });
    using session = await openSession({ graph, runtime });
    using estimator = params.progress_reward
      ? await openSession({
        graph: admitFor(encoder, { kind: "estimator", bytes: input("estimators/progress").bytes() }),
        runtime,
      })
      : undefined;
    let count = 0;
    const episodes = runEpisodes(
      eachTask(input("test"), (fraction) => progress(fraction, { unit: "episodes", count: ++count })),
      greedyActor(session),
      {
        encoder,
        reward: params.reward,
        selection: params.action_mask ? "public" : "none",
        ...(estimator === undefined ? {} : { potential: exactPotential(estimator) }),
      },
    );
    for await (const episode of episodes) {
      traces.write(traceLine(traceRecord(episode, { mode: "compact", credit: params.credit_assignment })));
    }
  },
});
