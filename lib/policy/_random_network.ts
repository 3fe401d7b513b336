/** Networks and batches for the tests of this room. */
import type { RandomStream } from "../core/random_stream.ts";
import {
  actorCriticShapes,
  type ActorCriticSizes,
  BIAS_MAX,
  ESTIMATOR_HIDDEN,
  estimatorShapes,
  type ExactActorCritic,
  type ExactEstimator,
  type ExactLayer,
  type LayerShape,
  WEIGHT_MAX,
} from "./exact_network.ts";
import { FEATURE_MAX } from "./feature_grid.ts";
import type { PolicyBatch } from "./runtime.ts";

/** `ordinary` spreads like a trained network; `extreme` puts every number at plus or minus its bound. */
export type Magnitude = "ordinary" | "extreme";

function sign(stream: RandomStream): number {
  return stream.integer(2) * 2 - 1;
}

function layer(
  name: string,
  [inputs, outputs]: LayerShape,
  stream: RandomStream,
  size: Magnitude,
): ExactLayer {
  const spread = 3 * Math.floor(92_000 / Math.sqrt(inputs));
  const number = (bound: number, width: number) =>
    size === "extreme" ? sign(stream) * bound : stream.integer(2 * width + 1) - width;
  return {
    name,
    inputs,
    outputs,
    weights: Float64Array.from(
      { length: inputs * outputs },
      () => number(WEIGHT_MAX, Math.min(spread, WEIGHT_MAX)),
    ),
    bias: Float64Array.from({ length: outputs }, () => number(BIAS_MAX, 2 ** 24)),
  };
}

function layers<Name extends string>(
  shapes: Record<Name, LayerShape>,
  stream: RandomStream,
  size: Magnitude,
): Record<Name, ExactLayer> {
  const all: Partial<Record<Name, ExactLayer>> = {};
  for (const name of Object.keys(shapes) as Name[]) all[name] = layer(name, shapes[name], stream, size);
  return all as Record<Name, ExactLayer>;
}

/** An actor-critic with random parameters. */
export function randomActorCritic(
  sizes: ActorCriticSizes,
  stream: RandomStream,
  size: Magnitude = "ordinary",
): ExactActorCritic {
  return { kind: "actor_critic", ...sizes, layers: layers(actorCriticShapes(sizes), stream, size) };
}

/** An estimator with random parameters. */
export function randomEstimator(
  stateWidth: number,
  stream: RandomStream,
  size: Magnitude = "ordinary",
): ExactEstimator {
  const shapes = estimatorShapes(stateWidth);
  return { kind: "estimator", stateWidth, hidden: ESTIMATOR_HIDDEN, layers: layers(shapes, stream, size) };
}

function features(count: number, stream: RandomStream, size: Magnitude): Float64Array {
  return Float64Array.from({ length: count }, () => {
    if (size === "extreme") return sign(stream) * FEATURE_MAX;
    return stream.integer(5) < 2 ? 0 : stream.integer(2049) - 1024;
  });
}

/** A ragged batch; every decision has 1 to `most` candidates, or none at all where `most` is 0. */
export function randomBatch(
  { decisions, most, stateWidth, actionWidth }: {
    decisions: number;
    most: number;
    stateWidth: number;
    actionWidth: number;
  },
  stream: RandomStream,
  size: Magnitude = "ordinary",
): PolicyBatch {
  const segment: number[] = [];
  for (let decision = 0; decision < decisions; decision++) {
    const candidates = most === 0 ? 0 : 1 + stream.integer(most);
    for (let i = 0; i < candidates; i++) segment.push(decision);
  }
  return {
    state: features(decisions * stateWidth, stream, size),
    action: features(segment.length * actionWidth, stream, size),
    segment: Int32Array.from(segment),
  };
}
