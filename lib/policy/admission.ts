import { type Digest, digestOf } from "../core/digest.ts";
import { policyError } from "./_error.ts";
import { ACTION_INPUT, exactGraph, SEGMENT_INPUT, STATE_INPUT } from "./exact_graph.ts";
import {
  type ActorCriticLayerName,
  actorCriticShapes,
  ESTIMATOR_HIDDEN,
  type EstimatorLayerName,
  estimatorShapes,
  type ExactLayer,
  type ExactNetwork,
  type LayerShape,
} from "./exact_network.ts";
import { FEATURE_MAX } from "./feature_grid.ts";
import { proveExact, type ProvenBound } from "./interval_proof.ts";
import type { OnnxModel, OnnxTensor } from "./onnx_model.ts";
import { readOnnx } from "./onnx_reader.ts";
import { writeOnnx } from "./onnx_writer.ts";

let construct: (content: AdmittedContent) => AdmittedGraph;

interface AdmittedContent {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly network: ExactNetwork;
  readonly model: OnnxModel;
  readonly bounds: readonly ProvenBound[];
}

/**
 * A graph that passed {@link admit}, the only way to make one. Sessions are opened on nothing else, so ONNX Runtime
 * never sees bytes that our writer did not produce.
 */
export class AdmittedGraph {
  static {
    construct = (content) => new AdmittedGraph(content);
  }
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly kind: "actor_critic" | "estimator";
  /** Content address of the ONNX file. */
  readonly digest: Digest;
  /** The parameters, as integers. */
  readonly network: ExactNetwork;
  /** The graph as the strict reader saw it; what the reference runtime runs. */
  readonly model: OnnxModel;
  /** The proof that nothing in it can round. */
  readonly bounds: readonly ProvenBound[];
  readonly stateWidth: number;
  /** 0 for an estimator. */
  readonly actionWidth: number;

  private constructor({ bytes, network, model, bounds }: AdmittedContent) {
    this.#bytes = bytes;
    this.digest = digestOf(bytes);
    this.network = network;
    this.model = model;
    this.bounds = bounds;
    this.kind = network.kind;
    this.stateWidth = network.stateWidth;
    this.actionWidth = network.kind === "actor_critic" ? network.actionWidth : 0;
    Object.freeze(this);
  }

  /** A copy of the ONNX file. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice();
  }

  /** True for what {@link admit} returned, and for nothing that merely looks like it. */
  static isAdmitted(value: unknown): value is AdmittedGraph {
    return typeof value === "object" && value !== null && #bytes in value;
  }
}

function notOurs(message: string, details: { expected?: unknown; actual?: unknown } = {}): never {
  throw policyError("graph_not_ours", { message, ...details });
}

/** Constants by name, taken out as layers. */
class Parameters {
  readonly #tensors: ReadonlyMap<string, OnnxTensor>;

  constructor(tensors: readonly OnnxTensor[]) {
    this.#tensors = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  }

  #tensor(name: string, dims: readonly number[]): Float64Array {
    const tensor = this.#tensors.get(name);
    if (tensor === undefined || tensor.dims.join() !== dims.join()) {
      notOurs(`parameter ${name} is missing or has another shape`, {
        expected: dims,
        actual: tensor?.dims ?? "nothing",
      });
    }
    return tensor.data;
  }

  /** Columns of a matrix: how wide a hidden layer is. */
  columns(name: string): number {
    const tensor = this.#tensors.get(name);
    return tensor?.dims[1] ??
      notOurs(`parameter ${name} is not a matrix`, {
        expected: "two dimensions",
        actual: tensor?.dims ?? "nothing",
      });
  }

  layers<Name extends string>(shapes: Record<Name, LayerShape>): Record<Name, ExactLayer> {
    const layers: Partial<Record<Name, ExactLayer>> = {};
    for (const name of Object.keys(shapes) as Name[]) {
      const [inputs, outputs] = shapes[name];
      const weights = name === "actor_hidden"
        ? this.#joined(name, outputs)
        : this.#tensor(name + ".weight", [inputs, outputs]);
      layers[name] = { name, inputs, outputs, weights, bias: this.#tensor(name + ".bias", [outputs]) };
    }
    return layers as Record<Name, ExactLayer>;
  }

  #joined(name: string, hidden: number): Float64Array {
    const perState = this.#tensor(name + ".weight_state", [hidden, hidden]);
    const perAction = this.#tensor(name + ".weight_action", [2 * hidden, hidden]);
    // Only now: with both parts there, the sum is no larger than the file. Until then `hidden` is what the file says.
    const weights = new Float64Array(perState.length + perAction.length);
    weights.set(perState);
    weights.set(perAction, perState.length);
    return weights;
  }
}

function inputWidth(model: OnnxModel, name: string): number | undefined {
  const width = model.inputs.find((port) => port.name === name)?.dims[1];
  return typeof width === "number" ? width : undefined;
}

/** Takes the parameters out of a graph; whether the rest of it is ours, the re-export decides. */
function networkOf(model: OnnxModel): ExactNetwork {
  const stateWidth = inputWidth(model, STATE_INPUT) ??
    notOurs("the graph has no state input of fixed width", {
      expected: STATE_INPUT,
      actual: model.inputs.map(({ name, dims }) => [name, ...dims]),
    });
  const parameters = new Parameters(model.tensors);
  const actionWidth = inputWidth(model, ACTION_INPUT);
  if (actionWidth === undefined) {
    const layers = parameters.layers<EstimatorLayerName>(estimatorShapes(stateWidth));
    return { kind: "estimator", stateWidth, hidden: ESTIMATOR_HIDDEN, layers };
  }
  const hidden = parameters.columns("state_encoder.weight");
  const sizes = { stateWidth, actionWidth, hidden };
  const layers = parameters.layers<ActorCriticLayerName>(actorCriticShapes(sizes));
  return { kind: "actor_critic", ...sizes, layers };
}

/**
 * The gate in front of every runtime. Reads a file strictly, takes the weights out, exports them again and demands the
 * same bytes, then proves from the weights that nothing can round. What an attacker can still choose is the weights
 * themselves, within their bounds.
 *
 * @throws TracewrightError: a code that starts with `onnx_` from the strict reader; "graph_not_ours";
 * "bad_network_shape", "off_grid", "weight_out_of_range" or "bias_out_of_range" for parameters;
 * "graph_not_canonical" where the export differs; a code that starts with `proof_`
 */
export function admit(bytes: Uint8Array): AdmittedGraph {
  const model = readOnnx(bytes);
  const network = networkOf(model);
  const exported = writeOnnx(exactGraph(network));
  if (exported.length !== bytes.length) {
    throw policyError("graph_not_canonical", {
      message: "the file is not what our exporter writes for its weights",
      expected: `${exported.length} bytes`,
      actual: `${bytes.length} bytes`,
    });
  }
  for (let i = 0; i < bytes.length; i++) {
    if (exported[i] !== bytes[i]) {
      throw policyError("graph_not_canonical", {
        message: "the file is not what our exporter writes for its weights",
        byte: i,
        expected: exported[i],
        actual: bytes[i],
      });
    }
  }
  const bounds = proveExact(model, {
    [STATE_INPUT]: FEATURE_MAX,
    [ACTION_INPUT]: FEATURE_MAX,
    [SEGMENT_INPUT]: 2 ** 31,
  });
  return construct({ bytes: exported, network, model, bounds });
}
