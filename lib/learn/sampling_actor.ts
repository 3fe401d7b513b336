import { exp, logSoftmax } from "../core/numerics.ts";
import type { RandomStream } from "../core/random_stream.ts";
import type { Choice, PendingDecision } from "../episode/actor.ts";
import type { ActorCritic } from "./actor_critic.ts";
import { decisionBatch } from "./decision_batch.ts";

/** The part of a decision that a network reads. */
export type EncodedPending = Pick<PendingDecision, "features" | "episode">;

/**
 * An actor of the episode room that samples from the float32 network, for training rollouts. Each episode draws from a
 * stream of its own, one uniform number a decision, so a choice does not depend on which episodes go together. The
 * log-probability comes out of the same operations as in training, so the first ratio of an update is exactly 1.
 *
 * @param streamOf the stream of an episode, by its position in the caller's list; asked once
 */
export function samplingActor(
  { network, streamOf }: {
    readonly network: ActorCritic;
    readonly streamOf: (episode: number) => RandomStream;
  },
): (decisions: readonly EncodedPending[]) => Promise<readonly Choice[]> {
  const streams = new Map<number, RandomStream>();
  return (decisions) => {
    const batch = decisionBatch(decisions.map(({ features }) => features), network.shape);
    const { logits, values } = network.forward(batch);
    const choices = decisions.map(({ features: { mask }, episode }, d) => {
      let stream = streams.get(episode);
      if (stream === undefined) streams.set(episode, stream = streamOf(episode));
      const logProbs = logSoftmax(logits.subarray(batch.offsets[d]!, batch.offsets[d + 1]!), mask);
      const index = sample({ logProbs, mask, uniform: stream.uniform() });
      return { index, logProb: logProbs[index]! + 0, value: values[d]! + 0 };
    });
    return Promise.resolve(choices);
  };
}

/**
 * The candidate in whose share of [0, 1) a uniform number falls; shares lie in candidate order. Where rounding leaves the
 * shares short of 1, the last selectable candidate takes the rest.
 */
export function sample(
  { logProbs, mask, uniform }: {
    readonly logProbs: Float64Array;
    readonly mask: readonly boolean[];
    readonly uniform: number;
  },
): number {
  let cumulative = 0;
  for (let i = 0; i < mask.length; i++) {
    if (!mask[i]) continue;
    cumulative += exp(logProbs[i]!);
    if (uniform < cumulative) return i;
  }
  return mask.lastIndexOf(true);
}
