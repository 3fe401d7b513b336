import type { RandomStream } from "../core/random_stream.ts";
import type { ActorCritic } from "./actor_critic.ts";
import type { Adam } from "./adam.ts";
import { type ClippedOptions, ClippedTerms, decisionTerms, setDecisionGradient } from "./clipped_terms.ts";
import type { DecisionBatch } from "./decision_batch.ts";
import type { Objective } from "./head.ts";
import {
  checkEpochOptions,
  checkPositive,
  type EpochOptions,
  type MinibatchLoss,
  type PpoMetrics,
  runPpoEpochs,
  standardised,
} from "./ppo_epochs.ts";
import {
  checkSequenceBatch,
  type EpisodeDecisions,
  episodeSamples,
  selectEpisodes,
  type SequenceBatch,
} from "./sequence_batch.ts";

/** Settings of {@link updateSequencePpo}. */
export interface SequencePpoOptions extends EpochOptions {
  /** Into how many mini-batches an epoch cuts the episodes, as evenly as they go; see `sequence_minibatch.ts`. */
  readonly minibatches: number;
}

/**
 * One update of sequence-level PPO on complete episodes: as in `ppo.ts`, but an episode is one sample. Its ratio is
 * exp(sum of ln pi - sum of ln pi_old), its advantage the discounted return less the value of the first state (no GAE),
 * standardised over episodes; its entropy the mean over its decisions; and only the first value is trained.
 * Protocol: policy-and-training.md section 10.
 *
 * @param optimizer Adam, whose moments live on from update to update
 * @param stream gives each epoch its permutation of episodes
 * @throws TracewrightError the codes of `checkSequenceBatch`, "bad_option"; "non_finite" and "non_finite_gradient" before a
 * step that would damage the network
 */
export function updateSequencePpo(
  { batch, options, ...rest }: {
    readonly network: ActorCritic;
    readonly optimizer: Adam;
    readonly batch: SequenceBatch;
    readonly options: SequencePpoOptions;
    readonly stream: RandomStream;
  },
): PpoMetrics {
  checkEpochOptions(options);
  checkPositive({ minibatches: options.minibatches });
  checkSequenceBatch(batch);
  const n = batch.starts.length;
  const pieces = Math.min(options.minibatches, n);
  const { logProbs, initialValues, advantages } = episodeSamples(batch);
  const standard = standardised(advantages);
  return runPpoEpochs({
    ...rest,
    options,
    bounds: Array.from({ length: pieces + 1 }, (_, piece) => Math.floor((piece * n) / pieces)),
    lossOf: (rows) =>
      new SequencePpoLoss({
        ...selectEpisodes(batch, rows),
        logProbs: Float64Array.from(rows, (row) => logProbs[row]!),
        values: Float32Array.from(rows, (row) => initialValues[row]!),
        advantages: Float32Array.from(rows, (row) => standard[row]!),
        returns: Float32Array.from(rows, (row) => batch.returns[row]!),
      }, options),
  });
}

/** E episodes of a mini-batch, with what is known of each: shape [E]. */
export interface SequenceMinibatch extends EpisodeDecisions {
  /** Sums of ln pi_old. */
  readonly logProbs: Float64Array;
  /** V_old of the first states. */
  readonly values: Float32Array;
  readonly advantages: Float32Array;
  readonly returns: Float32Array;
}

/** The loss of one mini-batch of episodes. */
export class SequencePpoLoss implements MinibatchLoss {
  readonly decisions: DecisionBatch;
  readonly terms: ClippedTerms;
  readonly objective: Objective;

  constructor(minibatch: SequenceMinibatch, options: ClippedOptions) {
    const { decisions, chosen, bounds, logProbs, values, advantages, returns } = minibatch;
    const samples = logProbs.length;
    const terms = new ClippedTerms(options, samples);
    this.decisions = decisions;
    this.terms = terms;
    this.objective = (head) => {
      for (let e = 0; e < samples; e++) {
        const first = bounds[e]!;
        const end = bounds[e + 1]!;
        const termsOf = (decision: number) =>
          decisionTerms(head, { decision, action: chosen[decision]!, mask: decisions.mask });
        let logProb = 0;
        let entropy = 0;
        for (let d = first; d < end; d++) {
          const now = termsOf(d);
          logProb += now.logProb;
          entropy += now.entropy;
        }
        const policy = terms.policy({ logRatio: logProb - logProbs[e]!, advantage: advantages[e]! });
        terms.entropy(entropy / (end - first));
        // The sum's derivative is that of every summand.
        const spread = options.entropyCoefficient / (end - first);
        for (let d = first; d < end; d++) {
          setDecisionGradient(head, termsOf(d), { action: chosen[d]!, policy, spread, samples });
        }
        const value = terms.value({ value: head.values[first]!, old: values[e]!, target: returns[e]! });
        head.setValueGradient(first, value / samples);
      }
    };
  }
}
