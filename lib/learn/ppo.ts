import { exp } from "../core/numerics.ts";
import type { RandomStream } from "../core/random_stream.ts";
import { learnError } from "./_error.ts";
import type { ActorCritic } from "./actor_critic.ts";
import type { Adam } from "./adam.ts";
import { allFinite, type DecisionBatch, decisionCount, selectDecisions } from "./decision_batch.ts";
import { clipGradient } from "./gradient_clip.ts";
import type { Objective } from "./head.ts";

/** N sampled decisions with what was known when they were taken, in the order of the trajectories. */
export interface RolloutBatch {
  /** With the selection mask under which the actions were sampled. */
  readonly decisions: DecisionBatch;
  /** Index of the sampled candidate within its decision, shape [N]. */
  readonly chosen: Int32Array;
  /** ln pi_old(a|s), shape [N]; double precision, so that the first ratio is exactly 1. */
  readonly logProbs: Float64Array;
  /** V_old(s), shape [N]. */
  readonly values: Float32Array;
  /** Shape [N], not standardised. */
  readonly advantages: Float32Array;
  /** Shape [N]. */
  readonly returns: Float32Array;
}

/** Settings of {@link updatePpo}; those with a default may be left out. */
export interface PpoOptions {
  readonly epochs: number;
  /** Decisions of a mini-batch. */
  readonly minibatchSize: number;
  /** c of the clipped objective. */
  readonly clipRatio: number;
  readonly valueCoefficient: number;
  readonly entropyCoefficient: number;
  readonly maxGradientNorm: number;
  /** How far the value may move from the old one; 0.2. */
  readonly valueClip?: number;
  /** Stop after an epoch whose last mini-batch moved further than this; never where left out. */
  readonly targetKl?: number;
}

/** Means over mini-batches; `updates` counts them. */
export interface PpoMetrics {
  readonly policy_loss: number;
  readonly value_loss: number;
  readonly entropy: number;
  readonly approx_kl: number;
  readonly clip_fraction: number;
  readonly grad_norm: number;
  readonly updates: number;
  readonly stopped_early: boolean;
}

/** What one mini-batch reports. */
type MinibatchMetrics = Omit<PpoMetrics, "updates" | "stopped_early">;

/** Names of {@link MinibatchMetrics}, in the order in which they are written. */
const MEANS = ["policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction", "grad_norm"] as const;

/**
 * One update of action-level PPO (Schulman et al. 2017) on one rollout batch. Protocol: policy-and-training.md section 9.
 *
 * @param optimizer Adam, whose moments live on from update to update
 * @param stream gives each epoch its permutation
 * @throws TracewrightError "bad_batch", "masked_choice", "bad_option"; "non_finite" and "non_finite_gradient" before a
 * step that would damage the network
 */
export function updatePpo(
  { network, optimizer, rollout, options, stream }: {
    readonly network: ActorCritic;
    readonly optimizer: Adam;
    readonly rollout: RolloutBatch;
    readonly options: PpoOptions;
    readonly stream: RandomStream;
  },
): PpoMetrics {
  checkOptions(options);
  checkRollout(rollout);
  const standard: RolloutBatch = { ...rollout, advantages: standardised(rollout.advantages) };
  const n = decisionCount(rollout.decisions);
  const reports: MinibatchMetrics[] = [];
  let stopped_early = false;
  for (let epoch = 0; epoch < options.epochs && !stopped_early; epoch++) {
    const order = stream.permutation(n);
    for (let from = 0; from < n; from += options.minibatchSize) {
      const rows = order.subarray(from, Math.min(from + options.minibatchSize, n));
      const loss = new PpoLoss(selectRollout(standard, rows), options);
      network.computeGradient(loss.minibatch.decisions, loss.objective);
      loss.check();
      const grad_norm = clipGradient(network.parameters.gradient, options.maxGradientNorm);
      optimizer.step();
      reports.push({ ...loss.metrics, grad_norm });
    }
    stopped_early = options.targetKl !== undefined && reports.at(-1)!.approx_kl > options.targetKl;
  }
  return { ...means(reports), updates: reports.length, stopped_early };
}

/** Iterations of one training as one record: means of the means, all updates, stopped if any was. */
export function combinePpoMetrics(iterations: readonly PpoMetrics[]): PpoMetrics {
  return {
    ...means(iterations),
    updates: iterations.reduce((sum, { updates }) => sum + updates, 0),
    stopped_early: iterations.some(({ stopped_early }) => stopped_early),
  };
}

function means(reports: readonly MinibatchMetrics[]): MinibatchMetrics {
  const sums = MEANS.map((
    name,
  ) => [name, reports.reduce((sum, report) => sum + report[name], 0) / reports.length]);
  return Object.fromEntries(sums) as Record<(typeof MEANS)[number], number>;
}

/** (A - mean) / (standard deviation of the population + 1e-8); a single advantage stays as it is. */
export function standardised(advantages: Float32Array): Float32Array {
  const n = advantages.length;
  if (n < 2) return advantages;
  let sum = 0;
  for (let i = 0; i < n; i++) sum += advantages[i]!;
  const mean = sum / n;
  let squares = 0;
  for (let i = 0; i < n; i++) squares += (advantages[i]! - mean) * (advantages[i]! - mean);
  const deviation = Math.sqrt(squares / n);
  return advantages.map((advantage) => (advantage - mean) / (deviation + 1e-8));
}

/**
 * The loss of one mini-batch of N decisions, in double precision:
 *
 *     total = policy + valueCoefficient * value - entropyCoefficient * entropy
 */
export class PpoLoss {
  readonly minibatch: RolloutBatch;
  readonly #options: PpoOptions;
  readonly #sums = { policy_loss: 0, value_loss: 0, entropy: 0, approx_kl: 0, clip_fraction: 0 };

  constructor(minibatch: RolloutBatch, options: PpoOptions) {
    this.minibatch = minibatch;
    this.#options = options;
  }

  /** Means over the mini-batch, once {@link objective} has run. */
  get metrics(): Omit<MinibatchMetrics, "grad_norm"> {
    const n = decisionCount(this.minibatch.decisions);
    const { policy_loss, value_loss, entropy, approx_kl, clip_fraction } = this.#sums;
    return {
      policy_loss: policy_loss / n,
      value_loss: value_loss / n,
      entropy: entropy / n,
      approx_kl: approx_kl / n,
      clip_fraction: clip_fraction / n,
    };
  }

  /** The number whose gradient {@link objective} sets. */
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

  readonly objective: Objective = (head) => {
    const { chosen, decisions } = this.minibatch;
    const n = head.decisions;
    for (let d = 0; d < n; d++) {
      const first = head.offsets[d]!;
      const { probabilities: p, normaliser } = head.softmax(d, decisions.mask);
      const action = chosen[d]!;
      const surrogate = this.#policy(d, head.logits[first + action]! - normaliser);
      let entropy = 0;
      for (let a = 0; a < p.length; a++) {
        if (p[a]! > 0) entropy -= p[a]! * (head.logits[first + a]! - normaliser);
      }
      this.#sums.entropy += entropy;
      for (let a = 0; a < p.length; a++) {
        // d log pi(action) / d logit = [a = action] - p;  d entropy / d logit = -p (log p + entropy)
        const policy = surrogate * ((a === action ? 1 : 0) - p[a]!);
        const spread = p[a]! > 0 ? -p[a]! * (head.logits[first + a]! - normaliser + entropy) : 0;
        head.setLogitGradient(first + a, (policy - this.#options.entropyCoefficient * spread) / n);
      }
      head.setValueGradient(d, this.#options.valueCoefficient * this.#value(d, head.values[d]!) / n);
    }
  };

  /**
   * Clipped surrogate (eq. 7): -min(r A, clip(r, 1 - c, 1 + c) A) with r = pi / pi_old.
   * KL: mean((r - 1) - ln r), the low-variance estimator (Schulman 2020).
   *
   * @returns d loss / d ln pi: -r A, or 0 where the clipped term is the smaller one
   */
  #policy(decision: number, logProb: number): number {
    const { clipRatio: c } = this.#options;
    const advantage = this.minibatch.advantages[decision]!;
    const logRatio = logProb - this.minibatch.logProbs[decision]!;
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
   * @returns d loss / d V, which is 0 where the clipped term is the larger one
   */
  #value(decision: number, value: number): number {
    const { valueClip: e = 0.2 } = this.#options;
    const target = this.minibatch.returns[decision]!;
    const old = this.minibatch.values[decision]!;
    const free = value - target;
    const moved = value - old;
    const clipped = old + clamp(moved, { low: -e, high: e }) - target;
    const within = moved >= -e && moved <= e;
    const larger = !within && clipped * clipped > free * free;
    this.#sums.value_loss += 0.5 * (larger ? clipped * clipped : free * free);
    return larger ? 0 : free;
  }
}

function clamp(x: number, { low, high }: { readonly low: number; readonly high: number }): number {
  return x < low ? low : x > high ? high : x;
}

function selectRollout(rollout: RolloutBatch, rows: Int32Array): RolloutBatch {
  const select = (column: Float32Array) => Float32Array.from(rows, (row) => column[row]!);
  return {
    decisions: selectDecisions(rollout.decisions, rows),
    chosen: Int32Array.from(rows, (row) => rollout.chosen[row]!),
    logProbs: Float64Array.from(rows, (row) => rollout.logProbs[row]!),
    values: select(rollout.values),
    advantages: select(rollout.advantages),
    returns: select(rollout.returns),
  };
}

function checkOptions(options: PpoOptions): void {
  for (const option of ["epochs", "minibatchSize"] as const) {
    if (!Number.isSafeInteger(options[option]) || options[option] < 1) {
      throw learnError("bad_option", { option, expected: "a positive integer", actual: options[option] });
    }
  }
  for (const option of ["clipRatio", "valueCoefficient", "entropyCoefficient", "maxGradientNorm"] as const) {
    if (!(options[option] >= 0 && options[option] < Infinity)) {
      throw learnError("bad_option", { option, expected: "finite and at least 0", actual: options[option] });
    }
  }
}

function checkRollout(rollout: RolloutBatch): void {
  const { decisions, chosen, logProbs, values, advantages, returns } = rollout;
  const n = decisionCount(decisions);
  const lengths = [chosen, logProbs, values, advantages, returns].map(({ length }) => length);
  if (n === 0 || lengths.some((length) => length !== n)) {
    throw learnError("bad_batch", { expected: `columns of ${n} decisions, at least 1`, actual: lengths });
  }
  for (let d = 0; d < n; d++) {
    const at = decisions.offsets[d]! + chosen[d]!;
    if (chosen[d]! < 0 || at >= decisions.offsets[d + 1]! || decisions.mask[at] !== 1) {
      throw learnError("masked_choice", {
        decision: d,
        expected: "a selectable candidate",
        actual: chosen[d],
      });
    }
  }
  if (![logProbs, values, advantages, returns].every(allFinite)) {
    throw learnError("bad_batch", { message: "a column of the rollout is not finite" });
  }
}
