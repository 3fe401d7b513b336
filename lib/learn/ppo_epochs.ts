import type { RandomStream } from "../core/random_stream.ts";
import { learnError } from "./_error.ts";
import type { ActorCritic } from "./actor_critic.ts";
import type { Adam } from "./adam.ts";
import type { ClippedMetrics, ClippedOptions, ClippedTerms } from "./clipped_terms.ts";
import type { DecisionBatch } from "./decision_batch.ts";
import { clipGradient } from "./gradient_clip.ts";
import type { Objective } from "./head.ts";

/** What both kinds of PPO are told. */
export interface EpochOptions extends ClippedOptions {
  readonly epochs: number;
  readonly maxGradientNorm: number;
  /** Stop after an epoch whose last mini-batch moved further than this; never where left out. */
  readonly targetKl?: number;
}

/** Means over mini-batches; `updates` counts them. */
export interface PpoMetrics extends ClippedMetrics {
  readonly grad_norm: number;
  readonly updates: number;
  readonly stopped_early: boolean;
}

type MinibatchMetrics = Omit<PpoMetrics, "updates" | "stopped_early">;

/** Names of {@link MinibatchMetrics}, in the order in which they are written. */
const MEANS = ["policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction", "grad_norm"] as const;

/** The loss of one mini-batch. */
export interface MinibatchLoss {
  readonly decisions: DecisionBatch;
  readonly objective: Objective;
  readonly terms: ClippedTerms;
}

/**
 * The updates of one rollout: every epoch permutes the samples, cuts them at `bounds` and steps once a piece.
 *
 * @param bounds where mini-batches begin and end, from 0 to the number of samples
 * @param lossOf the loss of the samples with these indices
 * @throws TracewrightError "non_finite", "non_finite_gradient" before a step that would damage the network
 */
export function runPpoEpochs(
  { network, optimizer, options, bounds, stream, lossOf }: {
    readonly network: ActorCritic;
    readonly optimizer: Adam;
    readonly options: EpochOptions;
    readonly bounds: readonly number[];
    readonly stream: RandomStream;
    readonly lossOf: (rows: Int32Array) => MinibatchLoss;
  },
): PpoMetrics {
  const samples = bounds.at(-1)!;
  const reports: MinibatchMetrics[] = [];
  let stopped_early = false;
  for (let epoch = 0; epoch < options.epochs && !stopped_early; epoch++) {
    const order = stream.permutation(samples);
    for (let b = 0; b + 1 < bounds.length; b++) {
      const { decisions, objective, terms } = lossOf(order.subarray(bounds[b], bounds[b + 1]));
      network.computeGradient(decisions, objective);
      terms.check();
      const grad_norm = clipGradient(network.parameters.gradient, options.maxGradientNorm);
      optimizer.step();
      reports.push({ ...terms.metrics, grad_norm });
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

/** @throws TracewrightError "bad_option" */
export function checkEpochOptions(options: EpochOptions): void {
  checkPositive({ epochs: options.epochs });
  for (const option of ["clipRatio", "valueCoefficient", "entropyCoefficient", "maxGradientNorm"] as const) {
    if (!(options[option] >= 0 && options[option] < Infinity)) {
      throw learnError("bad_option", { option, expected: "finite and at least 0", actual: options[option] });
    }
  }
}

/** @throws TracewrightError "bad_option" for a number that is not a positive integer */
export function checkPositive(options: Readonly<Record<string, number>>): void {
  for (const [option, actual] of Object.entries(options)) {
    if (!Number.isSafeInteger(actual) || actual < 1) {
      throw learnError("bad_option", { option, expected: "a positive integer", actual });
    }
  }
}
