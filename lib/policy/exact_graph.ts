import {
  ACTIVATION_MAX,
  ACTIVATION_SCALE,
  checkNetwork,
  EXACT_NUMERICS,
  type ExactActorCritic,
  type ExactEstimator,
  type ExactLayer,
  type ExactNetwork,
  WEIGHT_SCALE,
} from "./exact_network.ts";
import type { OnnxModel, OnnxNode, OnnxOperator, OnnxPort, OnnxTensor } from "./onnx_model.ts";
import { writeOnnx } from "./onnx_writer.ts";

/** Names of graph inputs and outputs. */
export const STATE_INPUT = "state";
export const ACTION_INPUT = "action";
export const SEGMENT_INPUT = "segment";
export const LOGITS_OUTPUT = "logits";
export const VALUES_OUTPUT = "values";

/** Collects nodes and constants while a graph is written down in reading order. */
class GraphBuilder {
  readonly nodes: OnnxNode[] = [];
  readonly tensors: OnnxTensor[] = [];

  constructor() {
    this.constant("zero", [], [0]);
    this.constant("activation_max", [], [ACTIVATION_MAX]);
    this.constant("weight_step", [], [1 / WEIGHT_SCALE]);
  }

  constant(name: string, dims: readonly number[], data: ArrayLike<number>): string {
    this.tensors.push({ name, dims, data: Float64Array.from(data) });
    return name;
  }

  node(operator: OnnxOperator, inputs: readonly string[], output: string, axis?: number): string {
    this.nodes.push({ operator, inputs, output, ...(axis === undefined ? {} : { axis }) });
    return output;
  }

  /** Back onto the activation grid: scale by a power of two, floor, clip to [0, 2^16 - 1]. */
  requantise(input: string, step: "weight_step" | "product_step", name: string): string {
    const scaled = this.node("Mul", [input, step], name + ".scaled");
    const floored = this.node("Floor", [scaled], name + ".floored");
    return this.node("Clip", [floored, "zero", "activation_max"], name);
  }

  /** The Add is never left out, even for a zero bias: it is what turns a sum of -0 terms into +0. */
  affine(input: string, layer: ExactLayer, output: string): string {
    const weights = this.constant(layer.name + ".weight", [layer.inputs, layer.outputs], layer.weights);
    const bias = this.constant(layer.name + ".bias", [layer.outputs], layer.bias);
    const product = this.node("MatMul", [input, weights], layer.name + ".product");
    return this.node("Add", [product, bias], output);
  }

  activation(input: string, name: string): string {
    return this.requantise(this.node("Relu", [input], name + ".relu"), "weight_step", name);
  }

  finish(name: string, inputs: OnnxPort[], outputs: OnnxPort[]): OnnxModel {
    return { name: `${EXACT_NUMERICS}.${name}`, nodes: this.nodes, tensors: this.tensors, inputs, outputs };
  }
}

/**
 * Rows of the actor's hidden layer that multiply s come first. They are applied once a state instead of once a
 * candidate, which integer arithmetic makes the same sum: about a quarter less work.
 */
function actorCriticGraph(network: ExactActorCritic): OnnxModel {
  const { layers, hidden, stateWidth, actionWidth } = network;
  const graph = new GraphBuilder();
  graph.constant("product_step", [], [1 / ACTIVATION_SCALE]);
  const state = graph.activation(graph.affine(STATE_INPUT, layers.state_encoder, "state_sum"), "state_code");
  const action = graph.activation(
    graph.affine(ACTION_INPUT, layers.action_encoder, "action_sum"),
    "action_code",
  );

  const { weights, bias } = layers.actor_hidden;
  const perState = weights.subarray(0, hidden * hidden);
  const perAction = weights.subarray(hidden * hidden);
  graph.constant("actor_hidden.weight_state", [hidden, hidden], perState);
  graph.constant("actor_hidden.bias", [hidden], bias);
  graph.constant("actor_hidden.weight_action", [2 * hidden, hidden], perAction);
  graph.node("MatMul", [state, "actor_hidden.weight_state"], "actor_hidden.state_product");
  graph.node("Add", ["actor_hidden.state_product", "actor_hidden.bias"], "actor_hidden.state_sum");
  graph.node("Gather", ["actor_hidden.state_sum", SEGMENT_INPUT], "actor_hidden.state_rows", 0);
  const stateRows = graph.node("Gather", [state, SEGMENT_INPUT], "state_rows", 0);
  const raw = graph.node("Mul", [stateRows, action], "interaction.raw");
  const interaction = graph.requantise(raw, "product_step", "interaction");
  const joined = graph.node("Concat", [action, interaction], "action_and_interaction", 1);
  graph.node("MatMul", [joined, "actor_hidden.weight_action"], "actor_hidden.action_product");
  graph.node("Add", ["actor_hidden.action_product", "actor_hidden.state_rows"], "actor_sum");
  graph.affine(graph.activation("actor_sum", "actor_code"), layers.actor_logit, LOGITS_OUTPUT);

  const value = graph.activation(graph.affine(state, layers.value_hidden, "value_sum"), "value_code");
  graph.affine(value, layers.value_output, VALUES_OUTPUT);
  return graph.finish(
    "actor_critic",
    [
      { name: STATE_INPUT, type: "float64", dims: ["N", stateWidth] },
      { name: ACTION_INPUT, type: "float64", dims: ["M", actionWidth] },
      { name: SEGMENT_INPUT, type: "int32", dims: ["M"] },
    ],
    [
      { name: LOGITS_OUTPUT, type: "float64", dims: ["M", 1] },
      { name: VALUES_OUTPUT, type: "float64", dims: ["N", 1] },
    ],
  );
}

function estimatorGraph({ layers, stateWidth }: ExactEstimator): OnnxModel {
  const graph = new GraphBuilder();
  const first = graph.activation(graph.affine(STATE_INPUT, layers.hidden_1, "hidden_1_sum"), "hidden_1_code");
  const second = graph.activation(graph.affine(first, layers.hidden_2, "hidden_2_sum"), "hidden_2_code");
  graph.affine(second, layers.logit, LOGITS_OUTPUT);
  return graph.finish(
    "estimator",
    [{ name: STATE_INPUT, type: "float64", dims: ["N", stateWidth] }],
    [{ name: LOGITS_OUTPUT, type: "float64", dims: ["N", 1] }],
  );
}

/**
 * The one graph of a network: integer-valued float64, every value on a power-of-two grid, an Add after every MatMul.
 *
 * @throws TracewrightError "bad_network_shape", "off_grid", "weight_out_of_range" or "bias_out_of_range"
 */
export function exactGraph(network: ExactNetwork): OnnxModel {
  checkNetwork(network);
  return network.kind === "actor_critic" ? actorCriticGraph(network) : estimatorGraph(network);
}

/** {@link exactGraph} as an ONNX file: what a checkpoint stores and `admit` accepts. */
export function writeExactNetwork(network: ExactNetwork): Uint8Array<ArrayBuffer> {
  return writeOnnx(exactGraph(network));
}
