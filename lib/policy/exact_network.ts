import { policyError } from "./_error.ts";

/** Identifies the arithmetic: integer-valued float64, every sum under 2^53. Part of what a checkpoint states. */
export const EXACT_NUMERICS = "exact-f64-v1";

/** Weights are integers on 2^-16 ... */
export const WEIGHT_SCALE = 2 ** 16;
/** ... with magnitudes up to 2^19 - 1, just under 8. */
export const WEIGHT_MAX = 2 ** 19 - 1;
/** Biases are integers on 2^-26 ... */
export const BIAS_SCALE = 2 ** 26;
/** ... with magnitudes up to 2^32 - 1, just under 64. */
export const BIAS_MAX = 2 ** 32 - 1;
/** Activations and state-action products lie on 2^-10 ... */
export const ACTIVATION_SCALE = 2 ** 10;
/** ... between 0 and 2^16 - 1, just under 64. */
export const ACTIVATION_MAX = 2 ** 16 - 1;
/** Logits and values are integers on 2^-26 ... */
export const LOGIT_SCALE = 2 ** 26;
/** ... with magnitudes under 2^43. */
export const LOGIT_LIMIT = 2 ** 43;
/** Every partial sum, in any order, stays under this, so no addition rounds. */
export const EXACT_LIMIT = 2 ** 53;

/** Largest width of a feature vector or hidden layer that this format accepts. */
export const MAX_WIDTH = 256;

/** One affine layer: out = in * weights + bias, in grid steps. */
export interface ExactLayer {
  readonly name: string;
  readonly inputs: number;
  readonly outputs: number;
  /** Shape [inputs, outputs], row-major; integers, |w| <= {@link WEIGHT_MAX}, never -0. */
  readonly weights: Float64Array;
  /** Shape [outputs]; integers, |b| <= {@link BIAS_MAX}, never -0. */
  readonly bias: Float64Array;
}

/** The layers of an actor-critic, in the order in which they are written. */
export const ACTOR_CRITIC_LAYERS = [
  "state_encoder",
  "action_encoder",
  "actor_hidden",
  "actor_logit",
  "value_hidden",
  "value_output",
] as const;
export type ActorCriticLayerName = (typeof ACTOR_CRITIC_LAYERS)[number];

/** The layers of a progress estimator, in the order in which they are written. */
export const ESTIMATOR_LAYERS = ["hidden_1", "hidden_2", "logit"] as const;
export type EstimatorLayerName = (typeof ESTIMATOR_LAYERS)[number];

/** Width of both hidden layers of the progress estimator (protocol/policy-and-training.md section 5). */
export const ESTIMATOR_HIDDEN = 64;

/**
 * The actor-critic of protocol/policy-and-training.md section 3 with ReLU: s = relu(state_encoder(state)),
 * a = relu(action_encoder(action)), logit = actor_logit(relu(actor_hidden([s, a, s * a]))),
 * value = value_output(relu(value_hidden(s))).
 */
export interface ExactActorCritic {
  readonly kind: "actor_critic";
  readonly stateWidth: number;
  readonly actionWidth: number;
  readonly hidden: number;
  readonly layers: Readonly<Record<ActorCriticLayerName, ExactLayer>>;
}

/** The progress estimator: logit(relu(hidden_2(relu(hidden_1(state))))). The sigmoid stays outside. */
export interface ExactEstimator {
  readonly kind: "estimator";
  readonly stateWidth: number;
  readonly hidden: number;
  readonly layers: Readonly<Record<EstimatorLayerName, ExactLayer>>;
}

export type ExactNetwork = ExactActorCritic | ExactEstimator;

/** Sizes that decide every layer of an actor-critic. */
export interface ActorCriticSizes {
  readonly stateWidth: number;
  readonly actionWidth: number;
  readonly hidden: number;
}

/** [inputs, outputs] of one layer. */
export type LayerShape = readonly [inputs: number, outputs: number];

/** Layer shapes of an actor-critic; the inputs of `actor_hidden` are s, a and s * a, in this order. */
export function actorCriticShapes(sizes: ActorCriticSizes): Record<ActorCriticLayerName, LayerShape> {
  const { stateWidth, actionWidth, hidden } = sizes;
  return {
    state_encoder: [stateWidth, hidden],
    action_encoder: [actionWidth, hidden],
    actor_hidden: [3 * hidden, hidden],
    actor_logit: [hidden, 1],
    value_hidden: [hidden, hidden],
    value_output: [hidden, 1],
  };
}

/** Layer shapes of an estimator. */
export function estimatorShapes(stateWidth: number): Record<EstimatorLayerName, LayerShape> {
  return {
    hidden_1: [stateWidth, ESTIMATOR_HIDDEN],
    hidden_2: [ESTIMATOR_HIDDEN, ESTIMATOR_HIDDEN],
    logit: [ESTIMATOR_HIDDEN, 1],
  };
}

/** Layer shapes of any network. */
export function layerShapes(network: ExactNetwork): Readonly<Record<string, LayerShape>> {
  return network.kind === "actor_critic" ? actorCriticShapes(network) : estimatorShapes(network.stateWidth);
}

/** The layers of any network, in the order in which they are written. */
export function layersOf(network: ExactNetwork): readonly ExactLayer[] {
  return network.kind === "actor_critic"
    ? ACTOR_CRITIC_LAYERS.map((name) => network.layers[name])
    : ESTIMATOR_LAYERS.map((name) => network.layers[name]);
}

function checkWidth(name: string, width: number): void {
  if (Number.isSafeInteger(width) && width >= 1 && width <= MAX_WIDTH) return;
  throw policyError("bad_network_shape", {
    name,
    expected: `an integer from 1 to ${MAX_WIDTH}`,
    actual: width,
  });
}

function checkIntegers(
  values: Float64Array,
  { layer, part, bound }: { layer: string; part: "weights" | "bias"; bound: number },
): void {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (!Number.isInteger(value) || Object.is(value, -0)) {
      throw policyError("off_grid", { layer, part, index: i, expected: "an integer, not -0", actual: value });
    }
    if (value > bound || value < -bound) {
      throw policyError(part === "weights" ? "weight_out_of_range" : "bias_out_of_range", {
        layer,
        part,
        index: i,
        expected: `at most ${bound} in magnitude`,
        actual: value,
      });
    }
  }
}

/**
 * Checks one layer against its shape and the bounds of {@link EXACT_NUMERICS}.
 *
 * @throws TracewrightError "bad_network_shape", "off_grid", "weight_out_of_range" or "bias_out_of_range"
 */
function checkLayer(name: string, layer: ExactLayer, [inputs, outputs]: LayerShape): void {
  const { weights, bias } = layer;
  const actual = [layer.name, layer.inputs, layer.outputs, weights.length, bias.length];
  const expected = [name, inputs, outputs, inputs * outputs, outputs];
  if (expected.some((value, i) => value !== actual[i])) {
    throw policyError("bad_network_shape", {
      message: "name, inputs, outputs, weight count, bias count of a layer do not fit the network",
      layer: name,
      expected,
      actual,
    });
  }
  checkIntegers(weights, { layer: name, part: "weights", bound: WEIGHT_MAX });
  checkIntegers(bias, { layer: name, part: "bias", bound: BIAS_MAX });
}

/**
 * Checks shapes, grid and bounds of a whole network; returns it.
 *
 * @throws TracewrightError "bad_network_shape", "off_grid", "weight_out_of_range" or "bias_out_of_range"
 */
export function checkNetwork<Network extends ExactNetwork>(network: Network): Network {
  checkWidth("stateWidth", network.stateWidth);
  checkWidth("hidden", network.hidden);
  if (network.kind === "actor_critic") checkWidth("actionWidth", network.actionWidth);
  else if (network.hidden !== ESTIMATOR_HIDDEN) {
    throw policyError("bad_network_shape", {
      name: "hidden",
      expected: ESTIMATOR_HIDDEN,
      actual: network.hidden,
    });
  }
  const layers = new Map(layersOf(network).map((layer) => [layer.name, layer]));
  for (const [name, shape] of Object.entries(layerShapes(network))) {
    const layer = layers.get(name);
    if (layer === undefined) {
      throw policyError("bad_network_shape", { expected: name, actual: [...layers.keys()] });
    }
    checkLayer(name, layer, shape);
  }
  return network;
}
