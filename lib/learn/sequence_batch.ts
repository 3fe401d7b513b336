import { totalReward } from "../episode/reward.ts";
import { learnError } from "./_error.ts";
import {
  allFinite,
  checkChosen,
  type DecisionBatch,
  decisionBatch,
  decisionCount,
  type FeatureWidths,
  selectDecisions,
} from "./decision_batch.ts";
import type { TrainingEpisode } from "./rollout_batch.ts";

/** E complete episodes of N decisions in all, one after the other. Each episode is one sample. */
export interface SequenceBatch {
  /** With the selection mask under which the actions were sampled. */
  readonly decisions: DecisionBatch;
  /** Index of the sampled candidate within its decision, shape [N]. */
  readonly chosen: Int32Array;
  /** ln pi_old(a|s), shape [N]; double precision, so that the first ratio is exactly 1. */
  readonly logProbs: Float64Array;
  /** V_old(s), shape [N]; only an episode's first one is used. */
  readonly values: Float32Array;
  /** All components together, shape [N]. */
  readonly rewards: Float64Array;
  /** The task component alone, shape [N]: what tells that credit is given to whole episodes. */
  readonly taskRewards: Float64Array;
  /** Which episode a decision belongs to, from 0 on, shape [N]. */
  readonly episodes: Int32Array;
  /** 1 at the last decision of an episode, shape [N]. */
  readonly dones: Uint8Array;
  /** The first decision of each episode, shape [E]. */
  readonly starts: Int32Array;
  /** The discounted sum of an episode's rewards, shape [E]. */
  readonly returns: Float32Array;
  readonly gamma: number;
}

/** What an episode is worth and how likely the old policy made it, shape [E] each. */
export interface EpisodeSamples {
  /** The sum of ln pi_old over the episode, from its first decision on. */
  readonly logProbs: Float64Array;
  /** V_old of the first state. */
  readonly initialValues: Float32Array;
  /** return - V_old of the first state; not standardised. */
  readonly advantages: Float32Array;
}

/** Where the decisions of episode `e` lie: from the first to behind the last. */
export function episodeSpan(
  { starts, episodes }: Pick<SequenceBatch, "starts" | "episodes">,
  e: number,
): readonly [number, number] {
  return [starts[e]!, e + 1 < starts.length ? starts[e + 1]! : episodes.length];
}

/** Finished episodes as one batch. */
export function sequenceBatch(
  episodes: readonly TrainingEpisode[],
  { gamma, ...widths }: FeatureWidths & { readonly gamma: number },
): SequenceBatch {
  const steps = episodes.flatMap((episode, e) => episode.steps.map((step) => ({ ...step, e })));
  const starts = new Int32Array(episodes.length);
  episodes.forEach((episode, e) => {
    if (e + 1 < episodes.length) starts[e + 1] = starts[e]! + episode.steps.length;
  });
  const batch = {
    decisions: decisionBatch(steps.map(({ features }) => features), widths),
    chosen: Int32Array.from(steps, ({ choice }) => choice.index),
    logProbs: Float64Array.from(steps, ({ choice }) => choice.logProb),
    values: Float32Array.from(steps, ({ choice }) => choice.value),
    rewards: Float64Array.from(steps, ({ reward }) => totalReward(reward)),
    taskRewards: Float64Array.from(steps, ({ reward }) => reward.task),
    episodes: Int32Array.from(steps, ({ e }) => e),
    dones: Uint8Array.from(steps, ({ outcome }) => outcome.done ? 1 : 0),
    starts,
    gamma,
  };
  return { ...batch, returns: discountedReturns(batch) };
}

/** sum of gamma^t r_t over each episode, from the last step back; double precision, rounded once. */
export function discountedReturns(
  batch: Pick<SequenceBatch, "rewards" | "starts" | "episodes" | "gamma">,
): Float32Array {
  return Float32Array.from(batch.starts, (_, e) => {
    const [first, end] = episodeSpan(batch, e);
    let sum = 0;
    for (let t = end - 1; t >= first; t--) sum = batch.rewards[t]! + batch.gamma * sum;
    return sum;
  });
}

/** One sample an episode. Source: protocol/policy-and-training.md section 10. */
export function episodeSamples(batch: SequenceBatch): EpisodeSamples {
  const initialValues = Float32Array.from(batch.starts, (start) => batch.values[start]!);
  return {
    logProbs: Float64Array.from(batch.starts, (_, e) => {
      const [first, end] = episodeSpan(batch, e);
      let sum = 0;
      for (let t = first; t < end; t++) sum += batch.logProbs[t]!;
      return sum;
    }),
    initialValues,
    advantages: batch.returns.map((value, e) => value - initialValues[e]!),
  };
}

/** The decisions of some episodes, in the order of `rows`. */
export interface EpisodeDecisions {
  readonly decisions: DecisionBatch;
  readonly chosen: Int32Array;
  /** Where each episode begins, and behind the last one its end: shape [rows + 1]. */
  readonly bounds: Int32Array;
}

/** The decisions of the episodes `rows`, one after the other. */
export function selectEpisodes(batch: SequenceBatch, rows: Int32Array): EpisodeDecisions {
  const bounds = new Int32Array(rows.length + 1);
  rows.forEach((row, e) => {
    const [first, end] = episodeSpan(batch, row);
    bounds[e + 1] = bounds[e]! + end - first;
  });
  const steps = new Int32Array(bounds[rows.length]!);
  rows.forEach((row, e) => {
    const [first] = episodeSpan(batch, row);
    for (let i = bounds[e]!; i < bounds[e + 1]!; i++) steps[i] = first + i - bounds[e]!;
  });
  return {
    decisions: selectDecisions(batch.decisions, steps),
    chosen: Int32Array.from(steps, (step) => batch.chosen[step]!),
    bounds,
  };
}

/**
 * Checks that a batch holds complete episodes whose credit lies at their ends.
 *
 * @throws TracewrightError "bad_batch" for columns that do not fit or are not finite, "masked_choice",
 * "scattered_episode" where the decisions of an episode do not lie side by side in the order of episodes, "bad_start",
 * "bad_end" where an episode goes on after its end or does not end, "early_task_reward" where the task pays before the end,
 * "bad_return" where a return is not the discounted sum of its episode's rewards
 */
export function checkSequenceBatch(batch: SequenceBatch): void {
  const { decisions, chosen, logProbs, values, rewards, taskRewards, episodes, dones, starts, returns } =
    batch;
  const n = decisionCount(decisions);
  const lengths = [chosen, logProbs, values, rewards, taskRewards, episodes, dones].map((one) => one.length);
  if (n === 0 || lengths.some((length) => length !== n) || starts.length !== returns.length) {
    throw learnError("bad_batch", { expected: `columns of ${n} decisions, at least 1`, actual: lengths });
  }
  if (![logProbs, values, rewards, taskRewards, returns].every(allFinite)) {
    throw learnError("bad_batch", { message: "a column of the episodes is not finite" });
  }
  if (!(batch.gamma >= 0 && batch.gamma <= 1)) {
    throw learnError("bad_option", { option: "gamma", expected: "0 to 1", actual: batch.gamma });
  }
  checkChosen(decisions, chosen);
  const firsts: number[] = [];
  for (let t = 0; t < n; t++) {
    const before = t === 0 ? -1 : episodes[t - 1]!;
    if (episodes[t] === before + 1) firsts.push(t);
    else if (episodes[t] !== before || t === 0) {
      throw learnError("scattered_episode", {
        decision: t,
        expected: `episode ${Math.max(before, 0)} or the one after it`,
        actual: episodes[t],
      });
    }
  }
  if (firsts.length !== starts.length || firsts.some((first, e) => first !== starts[e])) {
    throw learnError("bad_start", { expected: firsts, actual: [...starts] });
  }
  for (let t = 0; t < n; t++) {
    const last = t + 1 === n || episodes[t + 1] !== episodes[t];
    if (dones[t] !== (last ? 1 : 0)) {
      throw learnError("bad_end", { decision: t, episode: episodes[t], expected: last, actual: dones[t] });
    }
    if (!last && taskRewards[t] !== 0) {
      throw learnError("early_task_reward", { decision: t, expected: 0, actual: taskRewards[t] });
    }
  }
  discountedReturns(batch).forEach((expected, e) => {
    if (returns[e] !== expected) {
      throw learnError("bad_return", { episode: e, expected, actual: returns[e] });
    }
  });
}
