import { argmax, logSoftmax } from "../core/numerics.ts";
import { policyError } from "./_error.ts";
import { LOGIT_SCALE } from "./exact_network.ts";

/** Logits and value of one decision as a session returns them: integers on the grid 2^-26. */
export interface DecisionOutput {
  /** Shape [A]. */
  readonly logits: Float64Array;
  readonly value: number;
}

/** What a policy says about one decision, as real numbers. */
export interface PolicyDecision {
  /** Index of the chosen candidate. */
  readonly action: number;
  /** Natural logarithm of its probability. */
  readonly logProb: number;
  /** State value. */
  readonly value: number;
}

/** One logit or value as a double. Exact: a power of two only moves the exponent. Never -0. */
export function toReal(integer: number): number {
  return integer / LOGIT_SCALE + 0;
}

/**
 * Natural logarithms of the action probabilities, -Infinity at masked slots.
 *
 * @param logits shape [A], integers on 2^-26
 * @param mask shape [A], at least one true
 * @throws TracewrightError "bad_decision" where sizes differ or nothing is selectable
 */
export function logProbabilities(logits: Float64Array, mask: readonly boolean[]): Float64Array {
  if (logits.length !== mask.length || !mask.includes(true)) {
    throw policyError("bad_decision", {
      message: "logits and mask must have one entry a candidate, with one selectable",
      expected: [logits.length, "1 or more"],
      actual: [mask.length, mask.filter((selectable) => selectable).length],
    });
  }
  return logSoftmax(logits.map(toReal), mask);
}

/**
 * The greedy decision: the selectable candidate with the largest integer logit, the lowest index on a tie.
 *
 * @throws TracewrightError "bad_decision" where sizes differ or nothing is selectable
 */
export function greedyDecision({ logits, value }: DecisionOutput, mask: readonly boolean[]): PolicyDecision {
  const logProbs = logProbabilities(logits, mask);
  const action = argmax(logits, mask);
  return { action, logProb: logProbs[action]! + 0, value: toReal(value) };
}
