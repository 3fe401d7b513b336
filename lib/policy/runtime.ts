/**
 * The one interface behind which the three runtimes stand: `native` (onnxruntime-node), `wasm` (onnxruntime-web) and
 * `reference` (our interpreter). All give the same bytes for the same graph and batch.
 */

export const RUNTIME_NAMES = ["native", "wasm", "reference"] as const;
export type RuntimeName = (typeof RUNTIME_NAMES)[number];

/**
 * A ragged batch of N decisions with M candidates in all. All numbers are integers on the feature grid 2^-10.
 * For a state-only graph (the progress estimator) `action` and `segment` are empty.
 */
export interface PolicyBatch {
  /** Shape [N, S], row-major. */
  readonly state: Float64Array;
  /** Shape [M, D], row-major, candidates of decision 0 first. */
  readonly action: Float64Array;
  /** Shape [M]: the decision that each candidate belongs to. */
  readonly segment: Int32Array;
}

/** Integers on the grid 2^-26. */
export interface PolicyOutput {
  /** Shape [M] for an actor-critic; shape [N] for a state-only graph. */
  readonly logits: Float64Array;
  /** Shape [N]; empty for a state-only graph. */
  readonly values: Float64Array;
}

/** One admitted graph, loaded. Calls may not overlap. */
export interface PolicySession extends Disposable {
  readonly runtime: RuntimeName;
  logits(batch: PolicyBatch): Promise<PolicyOutput>;
}
