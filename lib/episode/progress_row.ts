import { episodeError } from "./_error.ts";

/** Names of the four prefixes of a task's first plan, in order. */
export const PREFIX_NAMES = ["0", "33", "67", "last_nonterminal"] as const;

/** One row for the estimator: an encoded state and whether the continuation that passed through it succeeded. */
export interface ProgressRow {
  readonly case_id: string;
  readonly family: string;
  readonly prefix: (typeof PREFIX_NAMES)[number];
  readonly trial: number;
  /** Grid integers, shape [S]. */
  readonly state: Int32Array;
  readonly label: boolean;
  /** True for the row of the state in which the episode ended. */
  readonly terminal: boolean;
}

/**
 * The four prefix lengths of a task: 0, a third, two thirds, and one step before the end.
 *
 * @throws TracewrightError "bad_prefixes" if two of them are equal, as in a task of fewer than four steps
 */
export function prefixLengths(optimalSteps: number): number[] {
  const lengths = [0, Math.floor(optimalSteps / 3), Math.floor((2 * optimalSteps) / 3), optimalSteps - 1];
  if (new Set(lengths).size !== lengths.length) {
    throw episodeError("bad_prefixes", {
      message: "a task is too short for four distinct prefixes",
      expected: "at least 4 optimal steps",
      actual: optimalSteps,
    });
  }
  return lengths;
}
