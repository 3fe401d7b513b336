import { argmax } from "../core/numerics.ts";
import { admit, type AdmittedGraph } from "../policy/admission.ts";
import { toReal } from "../policy/decision.ts";
import { exactGraph } from "../policy/exact_graph.ts";
import { ACTOR_CRITIC_LAYERS, ESTIMATOR_LAYERS } from "../policy/exact_network.ts";
import { FEATURE_SCALE } from "../policy/feature_grid.ts";
import { type FloatLayer, quantiseActorCritic, quantiseEstimator } from "../policy/float_to_exact.ts";
import { writeOnnx } from "../policy/onnx_writer.ts";
import { openReference } from "../policy/reference_runtime.ts";
import { learnError } from "./_error.ts";
import type { ActorCritic } from "./actor_critic.ts";
import { type DecisionBatch, decisionCount } from "./decision_batch.ts";
import type { ProgressEstimator } from "./estimator.ts";
import type { ParameterBlock } from "./parameter_block.ts";

/** Size of the differences between the float32 network and its exact export. */
export interface LogitError {
  readonly max: number;
  /** Root of the mean square. */
  readonly rms: number;
}

/** How far an exact graph follows the float32 network that it was exported from. */
export interface Agreement {
  /** States compared. */
  readonly states: number;
  /**
   * States in which both choose the same: the candidate with the largest logit, or for an estimator the side of 1/2 on
   * which the probability lies.
   */
  readonly agreeing: number;
  readonly logit_error: LogitError;
  /** Null for an estimator. */
  readonly value_error: LogitError | null;
}

/** The layers of a network under the names of the exact one. */
function floatLayers<Name extends string>(
  block: ParameterBlock,
  names: readonly Name[],
): Record<Name, FloatLayer> {
  const parameters = block.get();
  const part = (name: string): Float32Array => {
    const entry = block.layout.find((candidate) => candidate.name === name);
    if (entry === undefined) throw learnError("bad_shape", { message: "no such part", actual: name });
    return parameters.subarray(entry.offset, entry.offset + entry.rows * entry.cols);
  };
  const layers = names.map((name) => [name, { weights: part(`${name}.weight`), bias: part(`${name}.bias`) }]);
  return Object.fromEntries(layers) as Record<Name, FloatLayer>;
}

/**
 * Rounds the network onto the exact grids and writes its graph, already admitted: what is evaluated and published.
 *
 * @throws TracewrightError "weight_out_of_range" and the other codes of the policy room
 */
export function exportActorCritic(network: ActorCritic): AdmittedGraph {
  const layers = floatLayers(network.parameters, ACTOR_CRITIC_LAYERS);
  return admit(writeOnnx(exactGraph(quantiseActorCritic({ ...network.shape, layers }))));
}

/** Rounds the estimator onto the exact grids and writes its graph; see {@link exportActorCritic}. */
export function exportEstimator(estimator: ProgressEstimator): AdmittedGraph {
  const layers = floatLayers(estimator.parameters, ESTIMATOR_LAYERS);
  return admit(writeOnnx(exactGraph(quantiseEstimator({ stateWidth: estimator.stateWidth, layers }))));
}

/** Compares a network with its export on given decisions, by the reference runtime. */
export async function actorCriticAgreement(
  { network, graph, batch }: {
    readonly network: ActorCritic;
    readonly graph: AdmittedGraph;
    readonly batch: DecisionBatch;
  },
): Promise<Agreement> {
  const float = network.forward(batch);
  const n = decisionCount(batch);
  const segment = new Int32Array(batch.mask.length);
  for (let d = 0; d < n; d++) segment.fill(d, batch.offsets[d]!, batch.offsets[d + 1]!);
  using session = openReference(graph);
  const exact = await session.logits({ state: onGrid(batch.state), action: onGrid(batch.action), segment });
  let agreeing = 0;
  for (let d = 0; d < n; d++) {
    const span = [batch.offsets[d]!, batch.offsets[d + 1]!] as const;
    const mask = Array.from(batch.mask.subarray(...span), (bit) => bit !== 0);
    if (argmax(float.logits.subarray(...span), mask) === argmax(exact.logits.subarray(...span), mask)) {
      agreeing++;
    }
  }
  return {
    states: n,
    agreeing,
    logit_error: errorOf({ float: float.logits, exact: exact.logits }),
    value_error: errorOf({ float: float.values, exact: exact.values }),
  };
}

/**
 * Compares an estimator with its export on given states, by the reference runtime.
 *
 * @param states shape [N, S], feature values
 */
export async function estimatorAgreement(
  { estimator, graph, states }: {
    readonly estimator: ProgressEstimator;
    readonly graph: AdmittedGraph;
    readonly states: Float32Array;
  },
): Promise<Agreement> {
  const float = estimator.forward(states);
  using session = openReference(graph);
  const { logits } = await session.logits({
    state: onGrid(states),
    action: new Float64Array(0),
    segment: new Int32Array(0),
  });
  const agreeing = float.reduce((count, logit, i) => count + ((logit > 0) === (logits[i]! > 0) ? 1 : 0), 0);
  return {
    states: float.length,
    agreeing,
    logit_error: errorOf({ float, exact: logits }),
    value_error: null,
  };
}

/** Feature values as grid integers; exact, because features lie on the grid. */
function onGrid(features: Float32Array): Float64Array {
  return Float64Array.from(features, (feature) => feature * FEATURE_SCALE + 0);
}

function errorOf(
  { float, exact }: { readonly float: Float32Array; readonly exact: Float64Array },
): LogitError {
  let max = 0, squares = 0;
  for (let i = 0; i < float.length; i++) {
    const error = Math.abs(float[i]! - toReal(exact[i]!));
    max = Math.max(max, error);
    squares += error * error;
  }
  return { max, rms: float.length === 0 ? 0 : Math.sqrt(squares / float.length) };
}
