import { policyError } from "./_error.ts";
import {
  type ActorCriticLayerName,
  actorCriticShapes,
  type ActorCriticSizes,
  BIAS_MAX,
  BIAS_SCALE,
  checkNetwork,
  ESTIMATOR_HIDDEN,
  type EstimatorLayerName,
  estimatorShapes,
  type ExactActorCritic,
  type ExactEstimator,
  type ExactLayer,
  type LayerShape,
  WEIGHT_MAX,
  WEIGHT_SCALE,
} from "./exact_network.ts";

/** Trained float32 parameters of one layer. */
export interface FloatLayer {
  /** Shape [inputs, outputs], row-major. */
  readonly weights: Float32Array;
  /** Shape [outputs]. */
  readonly bias: Float32Array;
}

interface Grid {
  readonly layer: string;
  readonly part: "weights" | "bias";
  readonly scale: number;
  readonly bound: number;
}

function quantise(values: Float32Array, { layer, part, scale, bound }: Grid): Float64Array {
  const out = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    // exact: a float32 times a power of two, plus a half, fits a double wherever the result is in range
    const value = Math.floor(values[i]! * scale + 0.5) + 0;
    if (!(value >= -bound && value <= bound)) {
      throw policyError(part === "weights" ? "weight_out_of_range" : "bias_out_of_range", {
        message: "a trained parameter does not fit the exact grid",
        layer,
        index: i,
        expected: `at most ${bound / scale} in magnitude`,
        actual: values[i],
        hint: "training diverged, or the learning rate is too high",
      });
    }
    out[i] = value;
  }
  return out;
}

function quantiseLayer(
  name: string,
  [inputs, outputs]: LayerShape,
  { weights, bias }: FloatLayer,
): ExactLayer {
  return {
    name,
    inputs,
    outputs,
    weights: quantise(weights, { layer: name, part: "weights", scale: WEIGHT_SCALE, bound: WEIGHT_MAX }),
    bias: quantise(bias, { layer: name, part: "bias", scale: BIAS_SCALE, bound: BIAS_MAX }),
  };
}

function quantiseLayers<Name extends string>(
  shapes: Record<Name, LayerShape>,
  layers: Readonly<Record<Name, FloatLayer>>,
): Record<Name, ExactLayer> {
  const names = Object.keys(shapes) as Name[];
  return Object.fromEntries(
    names.map((name) => [name, quantiseLayer(name, shapes[name], layers[name])]),
  ) as Record<Name, ExactLayer>;
}

/**
 * Rounds a trained actor-critic onto the exact grids: floor(w * 2^16 + 0.5) and floor(b * 2^26 + 0.5), never -0.
 *
 * @throws TracewrightError "weight_out_of_range" for a weight of 8 or more, "bias_out_of_range" for a bias of 64 or
 * more, both for NaN; "bad_network_shape" where a layer has the wrong size
 */
export function quantiseActorCritic(
  network: ActorCriticSizes & { readonly layers: Readonly<Record<ActorCriticLayerName, FloatLayer>> },
): ExactActorCritic {
  const { stateWidth, actionWidth, hidden } = network;
  const layers = quantiseLayers(actorCriticShapes(network), network.layers);
  return checkNetwork({ kind: "actor_critic", stateWidth, actionWidth, hidden, layers });
}

/** Rounds a fitted progress estimator onto the exact grids; see {@link quantiseActorCritic}. */
export function quantiseEstimator(
  network: { readonly stateWidth: number; readonly layers: Readonly<Record<EstimatorLayerName, FloatLayer>> },
): ExactEstimator {
  const { stateWidth } = network;
  const layers = quantiseLayers(estimatorShapes(stateWidth), network.layers);
  return checkNetwork({ kind: "estimator", stateWidth, hidden: ESTIMATOR_HIDDEN, layers });
}
