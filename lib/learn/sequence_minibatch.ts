import { learnError } from "./_error.ts";

/** How many episodes a mini-batch of sequence PPO holds, by name. */
export const SEQUENCE_MINIBATCHES = ["matched", "protocol"] as const;
/** One of {@link SEQUENCE_MINIBATCHES}. */
export type SequenceMinibatch = (typeof SEQUENCE_MINIBATCHES)[number];

/**
 * Into how many mini-batches an epoch of sequence PPO cuts a rollout.
 *
 * `protocol`: mini-batches of `minibatchSize` episodes (policy-and-training.md section 10), a number that action PPO counts
 * decisions by; the sequence variant then makes a quarter of the updates or less. `matched`: as many as action PPO makes of
 * the same decisions, so that a contrast between the two is about credit and not about the number of updates.
 *
 * @returns 1 to `episodes`
 * @throws TracewrightError "bad_option" for sizes that are not positive integers
 */
export function sequenceMinibatches(
  kind: SequenceMinibatch,
  sizes: { readonly episodes: number; readonly decisions: number; readonly minibatchSize: number },
): number {
  for (const [option, actual] of Object.entries(sizes)) {
    if (!Number.isSafeInteger(actual) || actual < 1) {
      throw learnError("bad_option", { option, expected: "a positive integer", actual });
    }
  }
  const { episodes, decisions, minibatchSize } = sizes;
  return Math.min(episodes, Math.ceil((kind === "protocol" ? episodes : decisions) / minibatchSize));
}
