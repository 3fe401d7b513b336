import type { RandomStream } from "../core/random_stream.ts";
import { learnError } from "./_error.ts";
import type { ActorCritic } from "./actor_critic.ts";
import type { Adam } from "./adam.ts";
import { type ClippedOptions, ClippedTerms, decisionTerms, setDecisionGradient } from "./clipped_terms.ts";
import {
  allFinite,
  checkChosen,
  type DecisionBatch,
  decisionCount,
  selectDecisions,
} from "./decision_batch.ts";
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
export interface PpoOptions extends EpochOptions {
  /** Decisions of a mini-batch; the last of an epoch may be shorter. */
  readonly minibatchSize: number;
}

/**
 * One update of action-level PPO (Schulman et al. 2017) on one rollout batch. Protocol: policy-and-training.md section 9.
 *
 * @param optimizer Adam, whose moments live on from update to update
 * @param stream gives each epoch its permutation
 * @throws TracewrightError "bad_batch", "masked_choice", "bad_option"; "non_finite" and "non_finite_gradient" before a
 * step that would damage the network
 */
export function updatePpo(
  { rollout, options, ...rest }: {
    readonly network: ActorCritic;
    readonly optimizer: Adam;
    readonly rollout: RolloutBatch;
    readonly options: PpoOptions;
    readonly stream: RandomStream;
  },
): PpoMetrics {
  checkEpochOptions(options);
  checkPositive({ minibatchSize: options.minibatchSize });
  checkRollout(rollout);
  const standard: RolloutBatch = { ...rollout, advantages: standardised(rollout.advantages) };
  const n = decisionCount(rollout.decisions);
  const bounds = [];
  for (let from = 0; from < n; from += options.minibatchSize) bounds.push(from);
  return runPpoEpochs({
    ...rest,
    options,
    bounds: [...bounds, n],
    lossOf: (rows) => new PpoLoss(selectRollout(standard, rows), options),
  });
}

/** The loss of one mini-batch of N decisions. */
export class PpoLoss implements MinibatchLoss {
  readonly decisions: DecisionBatch;
  readonly terms: ClippedTerms;
  readonly objective: Objective;

  constructor(
    { decisions, chosen, logProbs, values, advantages, returns }: RolloutBatch,
    options: ClippedOptions,
  ) {
    const samples = decisionCount(decisions);
    const terms = new ClippedTerms(options, samples);
    this.decisions = decisions;
    this.terms = terms;
    this.objective = (head) => {
      for (let d = 0; d < samples; d++) {
        const action = chosen[d]!;
        const now = decisionTerms(head, { decision: d, action, mask: decisions.mask });
        const policy = terms.policy({
          logRatio: now.logProb - logProbs[d]!,
          advantage: advantages[d]!,
        });
        terms.entropy(now.entropy);
        setDecisionGradient(head, now, { action, policy, spread: options.entropyCoefficient, samples });
        const value = terms.value({ value: head.values[d]!, old: values[d]!, target: returns[d]! });
        head.setValueGradient(d, value / samples);
      }
    };
  }
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

function checkRollout(rollout: RolloutBatch): void {
  const { decisions, chosen, logProbs, values, advantages, returns } = rollout;
  const n = decisionCount(decisions);
  const lengths = [chosen, logProbs, values, advantages, returns].map(({ length }) => length);
  if (n === 0 || lengths.some((length) => length !== n)) {
    throw learnError("bad_batch", { expected: `columns of ${n} decisions, at least 1`, actual: lengths });
  }
  checkChosen(decisions, chosen);
  if (![logProbs, values, advantages, returns].every(allFinite)) {
    throw learnError("bad_batch", { message: "a column of the rollout is not finite" });
  }
}
