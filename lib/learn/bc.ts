import { argmax, exp, ln } from "../core/numerics.ts";
import type { RandomStream } from "../core/random_stream.ts";
import { learnError } from "./_error.ts";
import type { ActorCritic } from "./actor_critic.ts";
import type { Adam } from "./adam.ts";
import { decisionCount } from "./decision_batch.ts";
import { type Demonstrations, type Lesson, lessonOf, selectLesson } from "./demonstrations.ts";
import { clipGradient } from "./gradient_clip.ts";
import type { Objective } from "./head.ts";

/** Settings of {@link trainBc}. */
export interface BcOptions {
  readonly epochs: number;
  /** Decisions of a mini-batch; the last of an epoch may be shorter. */
  readonly batchSize: number;
  /** Largest global norm of a gradient; 1 where left out. */
  readonly maxGradientNorm?: number;
}

/** What a training reports; loss, entropy and norm are of the last mini-batch, accuracy of the full set afterwards. */
export interface BcMetrics {
  readonly loss: number;
  readonly entropy: number;
  readonly grad_norm: number;
  readonly accuracy: number;
  readonly updates: number;
}

/** Further metrics of sets of right candidates, over the full set after training. */
export interface ExpertBcMetrics extends BcMetrics {
  readonly set_nll: number;
  readonly positive_probability_mass: number;
  readonly top1_in_positive_set_accuracy: number;
  readonly mean_positive_count: number;
}

/** Means over the decisions of a mini-batch, which {@link bcObjective} fills in. */
export interface BcLoss {
  loss: number;
  entropy: number;
}

/**
 * Behaviour cloning: the mean of -ln(sum of pi(a|s) over the right candidates), which for one right candidate is the
 * plain negative log-likelihood. Protocol: policy-and-training.md section 4. Single labels train under an all-true
 * mask, so that the result serves masked and unmasked variants; sets of labels under the public mask.
 *
 * @param stream gives each epoch its permutation
 * @param onEpoch is told how many epochs are done
 * @throws TracewrightError "masked_choice", "no_positive", "duplicate_state", "bad_batch" for bad demonstrations;
 * "non_finite", "non_finite_gradient" before a step that would damage the network
 */
export function trainBc(
  { network, optimizer, demonstrations, options, stream, onEpoch = () => {} }: {
    readonly network: ActorCritic;
    readonly optimizer: Adam;
    readonly demonstrations: Demonstrations;
    readonly options: BcOptions;
    readonly stream: RandomStream;
    readonly onEpoch?: (done: number) => void;
  },
): BcMetrics | ExpertBcMetrics {
  for (const option of ["epochs", "batchSize"] as const) {
    if (!Number.isSafeInteger(options[option]) || options[option] < 1) {
      throw learnError("bad_option", { option, expected: "a positive integer", actual: options[option] });
    }
  }
  const lesson = lessonOf(demonstrations);
  const n = decisionCount(lesson.decisions);
  let last = { loss: 0, entropy: 0, grad_norm: 0 };
  let updates = 0;
  for (let epoch = 0; epoch < options.epochs; epoch++) {
    const order = stream.permutation(n);
    for (let from = 0; from < n; from += options.batchSize) {
      const rows = order.subarray(from, Math.min(from + options.batchSize, n));
      last = updateBc({ network, optimizer, lesson: selectLesson(lesson, rows), ...options });
      updates++;
    }
    onEpoch(epoch + 1);
  }
  const { accuracy, set_nll, mass, positives } = evaluateBc(network, lesson);
  const metrics: BcMetrics = { ...last, accuracy, updates };
  if (demonstrations.kind === "single_label") return metrics;
  return {
    ...metrics,
    set_nll,
    positive_probability_mass: mass,
    top1_in_positive_set_accuracy: accuracy,
    mean_positive_count: positives,
  };
}

/** One update on one mini-batch; parameters and moments change only if everything was finite. */
function updateBc(
  { network, optimizer, lesson, maxGradientNorm = 1 }: {
    readonly network: ActorCritic;
    readonly optimizer: Adam;
    readonly lesson: Lesson;
    readonly maxGradientNorm?: number;
  },
): BcLoss & { grad_norm: number } {
  const report: BcLoss = { loss: 0, entropy: 0 };
  network.computeGradient(lesson.decisions, bcObjective(lesson, report));
  if (!Number.isFinite(report.loss)) {
    throw learnError("non_finite", { message: "the loss of behaviour cloning", actual: report.loss });
  }
  const grad_norm = clipGradient(network.parameters.gradient, maxGradientNorm);
  optimizer.step();
  return { ...report, grad_norm };
}

/**
 * With p the softmax over all selectable candidates and q the one over the right ones:
 * loss = normaliser(p) - normaliser(q); d loss / d logit = p - q. All right: exactly 0.
 */
export function bcObjective({ decisions, positives }: Lesson, report: BcLoss): Objective {
  return (head) => {
    let loss = 0;
    let entropy = 0;
    for (let d = 0; d < head.decisions; d++) {
      const first = head.offsets[d]!;
      const all = head.softmax(d, decisions.mask);
      const p = all.probabilities.slice();
      const right = head.softmax(d, positives);
      const q = right.probabilities;
      loss += all.normaliser - right.normaliser;
      for (let a = 0; a < p.length; a++) {
        if (p[a]! > 0) entropy -= p[a]! * (head.logits[first + a]! - all.normaliser);
        head.setLogitGradient(first + a, (p[a]! - q[a]!) / head.decisions);
      }
    }
    report.loss = loss / head.decisions;
    report.entropy = entropy / head.decisions;
  };
}

/** ln of the sum of exp over the selected entries, in the order of the kernels' softmax. */
function logSumExp(values: Float32Array, selected: readonly boolean[]): number {
  let maximum = -Infinity;
  for (let i = 0; i < values.length; i++) if (selected[i] && values[i]! > maximum) maximum = values[i]!;
  let sum = 0;
  for (let i = 0; i < values.length; i++) if (selected[i]) sum += exp(values[i]! - maximum);
  return ln(sum) + maximum;
}

/** Share of decisions whose best candidate is right, and the means of the loss, of the mass and of the set size. */
function evaluateBc(network: ActorCritic, { decisions, positives }: Lesson) {
  const { logits } = network.forward(decisions);
  const n = decisionCount(decisions);
  let hits = 0, set_nll = 0, mass = 0, count = 0;
  for (let d = 0; d < n; d++) {
    const span = [decisions.offsets[d]!, decisions.offsets[d + 1]!] as const;
    const row = logits.subarray(...span);
    const mask = Array.from(decisions.mask.subarray(...span), (bit) => bit !== 0);
    const right = Array.from(positives.subarray(...span), (bit) => bit !== 0);
    if (right[argmax(row, mask)]) hits++;
    const nll = logSumExp(row, mask) - logSumExp(row, right);
    set_nll += nll;
    mass += exp(-nll);
    count += right.filter(Boolean).length;
  }
  return { accuracy: hits / n, set_nll: set_nll / n, mass: mass / n, positives: count / n };
}
