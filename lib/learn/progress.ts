import type { RandomStream } from "../core/random_stream.ts";
import { FEATURE_SCALE } from "../policy/feature_grid.ts";
import { learnError } from "./_error.ts";
import type { Adam } from "./adam.ts";
import type { ProgressEstimator } from "./estimator.ts";
import { clipGradient } from "./gradient_clip.ts";

/** Adam's learning rate for the estimator; protocol, not configuration. */
export const PROGRESS_LEARNING_RATE = 3e-3;
/** Rows of a mini-batch; protocol, not configuration. */
export const PROGRESS_BATCH = 128;

/** A labelled state. */
export interface LabelledState {
  /** Grid integers, shape [S]. */
  readonly state: Int32Array;
  /** Whether the episode that passed through the state succeeded. */
  readonly label: boolean;
  /** Whether the state is an episode's last. */
  readonly terminal: boolean;
}

/** What a fit reports; loss and norm are of the last mini-batch. */
export interface ProgressFit {
  readonly loss: number;
  readonly grad_norm: number;
  readonly updates: number;
}

/** How long the estimator is fitted, from how long behaviour cloning is. */
export function progressEpochs(bcEpochs: number): number {
  return Math.max(10, 3 * bcEpochs);
}

/** States as the rows of a matrix of feature values, grid / 1024: shape [N, S]. */
export function stateMatrix(rows: readonly LabelledState[], stateWidth: number): Float32Array {
  const states = new Float32Array(rows.length * stateWidth);
  rows.forEach(({ state }, row) => {
    if (state.length !== stateWidth) {
      throw learnError("bad_batch", { row, expected: `${stateWidth} features`, actual: state.length });
    }
    for (let i = 0; i < stateWidth; i++) states[row * stateWidth + i] = state[i]! / FEATURE_SCALE;
  });
  return states;
}

/**
 * Fits the progress estimator by mini-batches of binary cross-entropy. Protocol: policy-and-training.md section 5.
 *
 * @param stream gives each epoch its permutation
 * @param onEpoch is told how many epochs are done
 * @throws TracewrightError "bad_batch", "bad_option"; "non_finite", "non_finite_gradient" before a step that would damage
 * the network
 */
export function fitProgress(
  { estimator, optimizer, rows, epochs, batchSize = PROGRESS_BATCH, stream, onEpoch = () => {} }: {
    readonly estimator: ProgressEstimator;
    readonly optimizer: Adam;
    readonly rows: readonly LabelledState[];
    readonly epochs: number;
    readonly batchSize?: number;
    readonly stream: RandomStream;
    readonly onEpoch?: (done: number) => void;
  },
): ProgressFit {
  for (const [option, actual] of Object.entries({ epochs, batchSize, rows: rows.length })) {
    if (!Number.isSafeInteger(actual) || actual < 1) {
      throw learnError("bad_option", { option, expected: "a positive integer", actual });
    }
  }
  const S = estimator.stateWidth;
  const states = stateMatrix(rows, S);
  let fit: ProgressFit = { loss: 0, grad_norm: 0, updates: 0 };
  for (let epoch = 0; epoch < epochs; epoch++) {
    const order = stream.permutation(rows.length);
    for (let from = 0; from < rows.length; from += batchSize) {
      const chosen = order.subarray(from, Math.min(from + batchSize, rows.length));
      const batch = new Float32Array(chosen.length * S);
      chosen.forEach((row, i) => batch.set(states.subarray(row * S, (row + 1) * S), i * S));
      const loss = estimator.computeGradient(
        batch,
        Uint8Array.from(chosen, (row) => rows[row]!.label ? 1 : 0),
      );
      if (!Number.isFinite(loss)) {
        throw learnError("non_finite", { message: "the loss of the progress estimator", actual: loss });
      }
      const grad_norm = clipGradient(estimator.parameters.gradient, Infinity);
      optimizer.step();
      fit = { loss, grad_norm, updates: fit.updates + 1 };
    }
    onEpoch(epoch + 1);
  }
  return fit;
}
