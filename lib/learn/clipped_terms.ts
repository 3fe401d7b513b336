import { exp } from "../core/numerics.ts";
import { learnError } from "./_error.ts";
import type { Head } from "./head.ts";

/** Settings of the clipped objective. */
export interface ClippedOptions {
  /** c of the clipped surrogate. */
  readonly clipRatio: number;
  readonly valueCoefficient: number;
  readonly entropyCoefficient: number;
  /** How far the value may move from the old one; 0.2. */
  readonly valueClip?: number;
}

/** Means over the samples of a mini-batch. */
export interface ClippedMetrics {
  readonly policy_loss: number;
  readonly value_loss: number;
  readonly entropy: number;
  readonly approx_kl: number;
  readonly clip_fraction: number;
}

/**
 * The terms of the clipped objective (Schulman et al. 2017), summed over the samples of one mini-batch in double precision:
 *
 *     total = policy + valueCoefficient * value - entropyCoefficient * entropy
 *
 * What a sample is, a decision or a whole episode, is the caller's business.
 */
export class ClippedTerms {
  readonly #options: ClippedOptions;
  readonly #samples: number;
  readonly #sums = { policy_loss: 0, value_loss: 0, entropy: 0, approx_kl: 0, clip_fraction: 0 };

  constructor(options: ClippedOptions, samples: number) {
    this.#options = options;
    this.#samples = samples;
  }

  /** Means so far. */
  get metrics(): ClippedMetrics {
    const n = this.#samples;
    const { policy_loss, value_loss, entropy, approx_kl, clip_fraction } = this.#sums;
    return {
      policy_loss: policy_loss / n,
      value_loss: value_loss / n,
      entropy: entropy / n,
      approx_kl: approx_kl / n,
      clip_fraction: clip_fraction / n,
    };
  }

  /** The loss. */
  get total(): number {
    const { policy_loss, value_loss, entropy } = this.metrics;
    return policy_loss + this.#options.valueCoefficient * value_loss -
      this.#options.entropyCoefficient * entropy;
  }

  /** @throws TracewrightError "non_finite" */
  check(): void {
    if (!Number.isFinite(this.total) || !Number.isFinite(this.metrics.approx_kl)) {
      throw learnError("non_finite", { message: "the loss of PPO is not finite", actual: this.metrics });
    }
  }

  /**
   * Clipped surrogate (eq. 7): -min(r A, clip(r, 1 - c, 1 + c) A) with r = pi / pi_old.
   * KL: mean((r - 1) - ln r), the low-variance estimator (Schulman 2020).
   *
   * @param logRatio ln r
   * @returns d loss / d ln pi: -r A, or 0 where the clipped term is the smaller one
   */
  policy({ logRatio, advantage }: { readonly logRatio: number; readonly advantage: number }): number {
    const { clipRatio: c } = this.#options;
    const ratio = exp(logRatio);
    const free = ratio * advantage;
    const clipped = clamp(ratio, { low: 1 - c, high: 1 + c }) * advantage;
    this.#sums.policy_loss -= Math.min(free, clipped);
    this.#sums.approx_kl += ratio - 1 - logRatio;
    this.#sums.clip_fraction += Math.abs(ratio - 1) > c ? 1 : 0;
    return clipped < free ? 0 : -free;
  }

  /**
   * Clipped value loss: 0.5 max((V - R)^2, (V_old + clip(V - V_old, -e, e) - R)^2).
   *
   * @returns d total / d V times the number of samples; 0 where the clipped term is the larger one
   */
  value(
    { value, old, target }: { readonly value: number; readonly old: number; readonly target: number },
  ): number {
    const { valueClip: e = 0.2, valueCoefficient } = this.#options;
    const free = value - target;
    const moved = value - old;
    const clipped = old + clamp(moved, { low: -e, high: e }) - target;
    const within = moved >= -e && moved <= e;
    const larger = !within && clipped * clipped > free * free;
    this.#sums.value_loss += 0.5 * (larger ? clipped * clipped : free * free);
    return valueCoefficient * (larger ? 0 : free);
  }

  /** Adds a sample's entropy. */
  entropy(entropy: number): void {
    this.#sums.entropy += entropy;
  }
}

/** The policy in one decision. */
export interface DecisionTerms {
  readonly decision: number;
  /** Shape [A]; a view that the next softmax overwrites. */
  readonly probabilities: Float64Array;
  readonly normaliser: number;
  /** ln pi of the chosen candidate. */
  readonly logProb: number;
  /** Of the distribution over the selectable candidates. */
  readonly entropy: number;
}

/** The policy in decision `decision`, of whose candidates `action` was chosen. */
export function decisionTerms(
  head: Head,
  { decision, action, mask }: {
    readonly decision: number;
    readonly action: number;
    readonly mask: Uint8Array;
  },
): DecisionTerms {
  const first = head.offsets[decision]!;
  const { probabilities: p, normaliser } = head.softmax(decision, mask);
  let entropy = 0;
  for (let a = 0; a < p.length; a++) {
    if (p[a]! > 0) entropy -= p[a]! * (head.logits[first + a]! - normaliser);
  }
  const logProb = head.logits[first + action]! - normaliser;
  return { decision, probabilities: p, normaliser, logProb, entropy };
}

/**
 * Sets the gradients of a decision's logits:
 * d ln pi(action) / d logit = [a = action] - p and d entropy / d logit = -p (ln p + entropy).
 *
 * @param weights of ln pi(action) and of the entropy in the loss, and the number of samples that the loss is a mean over
 */
export function setDecisionGradient(
  head: Head,
  { decision, probabilities: p, normaliser, entropy }: DecisionTerms,
  { action, policy, spread, samples }: {
    readonly action: number;
    readonly policy: number;
    readonly spread: number;
    readonly samples: number;
  },
): void {
  const first = head.offsets[decision]!;
  for (let a = 0; a < p.length; a++) {
    const chosen = policy * ((a === action ? 1 : 0) - p[a]!);
    const spreads = p[a]! > 0 ? -p[a]! * (head.logits[first + a]! - normaliser + entropy) : 0;
    head.setLogitGradient(first + a, (chosen - spread * spreads) / samples);
  }
}

function clamp(x: number, { low, high }: { readonly low: number; readonly high: number }): number {
  return x < low ? low : x > high ? high : x;
}
