import type { EncodedDecision } from "../policy/encoder.ts";
import { FEATURE_SCALE } from "../policy/feature_grid.ts";
import { learnError } from "./_error.ts";

/**
 * A ragged batch of N decisions with M candidates in all, no padding. Decision d owns the candidates `offsets[d]` to
 * `offsets[d + 1]` - 1. Features are grid integers / 1024, exact in float32.
 */
export interface DecisionBatch {
  /** Shape [N + 1], from 0 to M, ascending. */
  readonly offsets: Int32Array;
  /** Shape [N, S], row-major. */
  readonly state: Float32Array;
  /** Shape [M, D], row-major. */
  readonly action: Float32Array;
  /** Shape [M]: 1 where the candidate may be selected, else 0. */
  readonly mask: Uint8Array;
}

/** Feature widths: S of a state and D of an action. */
export interface FeatureWidths {
  readonly stateWidth: number;
  readonly actionWidth: number;
}

/** Number of decisions in a batch. */
export function decisionCount(batch: DecisionBatch): number {
  return batch.offsets.length - 1;
}

/** Joins encoded decisions into one batch, in the order given. */
export function decisionBatch(decisions: readonly EncodedDecision[], widths: FeatureWidths): DecisionBatch {
  const { stateWidth: S, actionWidth: D } = widths;
  const offsets = new Int32Array(decisions.length + 1);
  decisions.forEach((decision, d) => offsets[d + 1] = offsets[d]! + decision.mask.length);
  const candidates = offsets[decisions.length]!;
  const state = new Float32Array(decisions.length * S);
  const action = new Float32Array(candidates * D);
  const mask = new Uint8Array(candidates);
  decisions.forEach((decision, d) => {
    const first = offsets[d]!;
    const shape = [decision.state.length, decision.actions.length];
    if (shape[0] !== S || shape[1] !== decision.mask.length * D) {
      throw learnError("bad_batch", {
        message: "an encoded decision has other widths than the network",
        decision: d,
        expected: [S, decision.mask.length * D],
        actual: shape,
      });
    }
    for (let i = 0; i < S; i++) state[d * S + i] = decision.state[i]! / FEATURE_SCALE;
    for (let i = 0; i < decision.actions.length; i++) {
      action[first * D + i] = decision.actions[i]! / FEATURE_SCALE;
    }
    decision.mask.forEach((selectable, a) => mask[first + a] = selectable ? 1 : 0);
  });
  const batch = { offsets, state, action, mask };
  checkDecisionBatch(batch, widths);
  return batch;
}

/** The decisions `rows`, in that order, as a batch of their own. */
export function selectDecisions(batch: DecisionBatch, rows: Int32Array): DecisionBatch {
  const n = decisionCount(batch);
  const S = n === 0 ? 0 : batch.state.length / n;
  const D = batch.mask.length === 0 ? 0 : batch.action.length / batch.mask.length;
  const offsets = selectedOffsets(batch.offsets, rows);
  const candidates = offsets[rows.length]!;
  const state = new Float32Array(rows.length * S);
  const action = new Float32Array(candidates * D);
  rows.forEach((row, d) => {
    state.set(batch.state.subarray(row * S, (row + 1) * S), d * S);
    action.set(batch.action.subarray(batch.offsets[row]! * D, batch.offsets[row + 1]! * D), offsets[d]! * D);
  });
  return { offsets, state, action, mask: selectCandidates(batch.offsets, batch.mask, rows) };
}

/** The first `count` decisions, or all where there are fewer. */
export function firstDecisions(batch: DecisionBatch, count: number): DecisionBatch {
  return selectDecisions(
    batch,
    Int32Array.from({ length: Math.min(count, decisionCount(batch)) }, (_, d) => d),
  );
}

/** A value per candidate, shape [M], for the candidates of the decisions `rows`. */
export function selectCandidates(offsets: Int32Array, values: Uint8Array, rows: Int32Array): Uint8Array {
  const chosen = selectedOffsets(offsets, rows);
  const out = new Uint8Array(chosen[rows.length]!);
  rows.forEach((row, d) => out.set(values.subarray(offsets[row]!, offsets[row + 1]!), chosen[d]!));
  return out;
}

function selectedOffsets(offsets: Int32Array, rows: Int32Array): Int32Array {
  const out = new Int32Array(rows.length + 1);
  rows.forEach((row, d) => out[d + 1] = out[d]! + offsets[row + 1]! - offsets[row]!);
  return out;
}

/**
 * Checks what the kernels take for granted.
 *
 * @throws TracewrightError "bad_batch" for shapes that do not fit, a mask that is not 0 or 1, and numbers that are not
 * finite; "no_candidate" for a decision in which nothing may be selected
 */
export function checkDecisionBatch(batch: DecisionBatch, widths: FeatureWidths): void {
  const n = decisionCount(batch);
  const candidates = batch.offsets[n] ?? 0;
  const shape = {
    offsets: 0,
    state: n * widths.stateWidth,
    action: candidates * widths.actionWidth,
    mask: candidates,
  };
  const seen = {
    offsets: batch.offsets[0],
    state: batch.state.length,
    action: batch.action.length,
    mask: batch.mask.length,
  };
  for (const part of ["offsets", "state", "action", "mask"] as const) {
    if (seen[part] !== shape[part]) {
      throw learnError("bad_batch", {
        message: `${part} does not fit`,
        expected: shape[part],
        actual: seen[part],
      });
    }
  }
  for (let d = 0; d < n; d++) {
    let selectable = 0;
    for (let i = batch.offsets[d]!; i < batch.offsets[d + 1]!; i++) {
      if (batch.mask[i]! > 1) {
        throw learnError("bad_batch", { decision: d, expected: "a mask of 0 and 1", actual: batch.mask[i] });
      }
      selectable += batch.mask[i]!;
    }
    if (selectable === 0) {
      throw learnError("no_candidate", { message: "nothing may be selected", decision: d });
    }
  }
  if (!allFinite(batch.state) || !allFinite(batch.action)) {
    throw learnError("bad_batch", { message: "a feature is not finite" });
  }
}

/**
 * Checks that what was chosen could be chosen.
 *
 * @param chosen index of a candidate within its decision, shape [N]
 * @throws TracewrightError "masked_choice"
 */
export function checkChosen({ offsets, mask }: DecisionBatch, chosen: Int32Array): void {
  for (let d = 0; d < chosen.length; d++) {
    const at = offsets[d]! + chosen[d]!;
    if (chosen[d]! < 0 || at >= offsets[d + 1]! || mask[at] !== 1) {
      throw learnError("masked_choice", {
        decision: d,
        expected: "a selectable candidate",
        actual: chosen[d],
      });
    }
  }
}

/** True where no value is NaN or infinite. */
export function allFinite(values: Float32Array | Float64Array): boolean {
  for (let i = 0; i < values.length; i++) if (!Number.isFinite(values[i]!)) return false;
  return true;
}
