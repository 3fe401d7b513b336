import { canonicalJson } from "../core/canonical_json.ts";
import { type Digest, digestOfJson, sha256 } from "../core/digest.ts";
import type { FeatureEncoder } from "../policy/encoder.ts";
import { ActionMask } from "../world/action_mask.ts";
import type { ToolCall, WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { PolicyInputBuilder } from "../world/policy_input_builder.ts";
import { episodeError } from "./_error.ts";
import { oraclePositive } from "./positive_set.ts";

/** The fixed policy whose success the progress estimator learns to predict: 0.75 towards the goal, errors absorb. */
export const CONTINUATION_POLICY = {
  schema: "tracewright.continuation.v1",
  rule: "oracle-positive, absorbing error",
  follow_probability: 0.75,
  trials_per_prefix: 8,
} as const;

const POLICY_DIGEST = digestOfJson(CONTINUATION_POLICY);

/** Names of the four prefixes, in order. */
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

/** Where a draw stands: hashed together with the policy and the seed, so no draw depends on another. */
interface DrawPlace {
  readonly case_id: string;
  readonly prefix_name: string;
  readonly prefix: number;
  readonly trial: number;
  readonly step: number;
}

/** The first 8 bytes of a hash as a whole number below 2^64. */
function draw64(
  seed: number,
  namespace: "follow" | "rank",
  place: DrawPlace,
  candidate: number | null,
): bigint {
  const bytes = sha256(canonicalJson([POLICY_DIGEST, seed, namespace, place, candidate]));
  return new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, false);
}

/** 0.75 of 2^64; compared as integers, so no rounding is involved. */
const FOLLOW_BELOW = 3n * 2n ** 62n;

function smallestRank(indices: readonly number[], seed: number, place: DrawPlace): number {
  let best = indices[0]!;
  let rank = draw64(seed, "rank", place, best);
  for (const index of indices.slice(1)) {
    const other = draw64(seed, "rank", place, index);
    if (other < rank) [best, rank] = [index, other];
  }
  return best;
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

/** What the continuation does next: a candidate index, and whether it strayed. */
function choose(
  task: WorkflowTask,
  environment: WorkflowEnvironment,
  candidates: readonly ToolCall[],
  { seed, place, strayed }: { seed: number; place: DrawPlace; strayed: boolean },
): { index: number; strayed: boolean } {
  const positive = oraclePositive(task, environment, candidates);
  const follow = !strayed && draw64(seed, "follow", place, null) < FOLLOW_BELOW;
  const all = candidates.map((_, i) => i);
  const towards = all.filter((i) => positive[i]);
  if (follow && towards.length > 0) return { index: smallestRank(towards, seed, place), strayed: false };
  const away = all.filter((i) => !positive[i]);
  const executable = away.filter((i) => environment.dryRun(candidates[i]!).valid);
  const pool = executable.length > 0 ? executable : away.length > 0 ? away : towards;
  return { index: smallestRank(pool, seed, place), strayed: true };
}

/** The environment after the first `prefix` calls of plan 0. */
function environmentAfter(task: WorkflowTask, prefix: number): WorkflowEnvironment {
  const environment = new WorkflowEnvironment(task);
  const plan = task.oracle_plans[0] ?? [];
  for (let step = 0; step < prefix; step++) {
    const call = plan[step];
    if (call !== undefined && environment.step(call).accepted && !environment.done) continue;
    throw episodeError("bad_prefixes", {
      message: "plan 0 does not lead to a prefix state",
      case: task.case_id,
      step,
      expected: `${prefix} accepted calls before the end`,
      actual: call === undefined ? "no call" : environment.done ? "the end" : "a rejected call",
    });
  }
  return environment;
}

/** Follows the policy to the end of the episode. */
function runOut(
  task: WorkflowTask,
  environment: WorkflowEnvironment,
  { seed, ...trial }: Omit<DrawPlace, "step"> & { readonly seed: number },
): void {
  let strayed = false;
  for (let step = 0; !environment.done; step++) {
    const candidates = environment.candidates();
    const choice = choose(task, environment, candidates, { seed, place: { ...trial, step }, strayed });
    strayed = choice.strayed;
    environment.step(candidates[choice.index]!);
  }
}

/**
 * Labels for the progress estimator: from four prefixes of plan 0, eight continuations each under the fixed policy, run to
 * the end of the real environment. Each continuation gives two rows with its outcome: the prefix state and the terminal
 * state. The follow probability is the same for every prefix, so a label tells of the state and not of the prefix. Draws
 * are hashes that name the case, so no task's rows depend on the others.
 * Source: protocol/policy-and-training.md section 5.1.
 *
 * @param seed run seed
 * @throws TracewrightError "bad_prefixes" if a task has no four prefix states along plan 0
 */
export function* progressRows(
  tasks: Iterable<WorkflowTask>,
  encoder: FeatureEncoder,
  seed: number,
): Generator<ProgressRow> {
  for (const task of tasks) {
    const { case_id, family, optimal_steps } = task;
    const mask = new ActionMask(task.tool_schemas);
    const inputs = new PolicyInputBuilder(task.tool_schemas);
    const encode = (environment: WorkflowEnvironment): Int32Array => {
      const observation = environment.observe();
      const candidates = environment.candidates();
      const selectable = mask.mask(observation, candidates);
      return encoder.encodeState(inputs.build({ observation, candidates, mask: selectable }).observation);
    };
    for (const [p, prefix] of prefixLengths(optimal_steps).entries()) {
      const prefixName = PREFIX_NAMES[p]!;
      const start = encode(environmentAfter(task, prefix)); // the same for every trial
      for (let trial = 0; trial < CONTINUATION_POLICY.trials_per_prefix; trial++) {
        const environment = environmentAfter(task, prefix);
        runOut(task, environment, { seed, case_id, prefix_name: prefixName, prefix, trial });
        const { success: label } = environment.evaluate();
        const row = { case_id, family, prefix: prefixName, trial, label };
        yield { ...row, state: start, terminal: false };
        yield { ...row, state: encode(environment), terminal: true };
      }
    }
  }
}

/** Continuations of one kind, and how many of them succeeded. */
export interface OutcomeCount {
  readonly continuations: number;
  readonly successes: number;
}

/** How the labels came out. */
export interface LabelAudit {
  /** Digest of {@link CONTINUATION_POLICY}, which fixes the follow probability and the trials of every prefix. */
  readonly policy: Digest;
  /** The labelled cases, sorted. */
  readonly case_ids: readonly string[];
  readonly continuations: number;
  /** Rows of both kinds: two a continuation. */
  readonly rows: number;
  /** Rows of terminal states: one a continuation. */
  readonly terminal_rows: number;
  readonly successes: number;
  readonly families: Readonly<Record<string, OutcomeCount>>;
  readonly prefixes: Readonly<Record<string, OutcomeCount>>;
}

function countOutcomes(
  rows: readonly ProgressRow[],
  groupOf: (row: ProgressRow) => string,
): Record<string, OutcomeCount> {
  const groups: Record<string, { continuations: number; successes: number }> = {};
  for (const row of rows) {
    const group = groups[groupOf(row)] ??= { continuations: 0, successes: 0 };
    group.continuations++;
    if (row.label) group.successes++;
  }
  return groups;
}

/**
 * Counts outcomes and refuses labels that teach nothing. Source: protocol/policy-and-training.md section 5.1.
 *
 * @throws TracewrightError "unbalanced_labels" if the share of successes leaves [0.20, 0.80], a family has one outcome
 * only, or a continuation lacks one of its two rows
 */
export function auditLabels(rows: readonly ProgressRow[]): LabelAudit {
  const prefixRows = rows.filter((row) => !row.terminal);
  const continuations = prefixRows.length;
  const terminalRows = rows.length - continuations;
  const successes = prefixRows.filter((row) => row.label).length;
  if (terminalRows !== continuations) {
    throw episodeError("unbalanced_labels", {
      message: "every continuation has a row of its prefix state and one of its terminal state",
      expected: `${continuations} terminal rows`,
      actual: terminalRows,
    });
  }
  // The bounds in whole numbers: successes / continuations in [1/5, 4/5].
  if (continuations === 0 || 5 * successes < continuations || 5 * successes > 4 * continuations) {
    throw episodeError("unbalanced_labels", {
      expected: "between 20 % and 80 % successes",
      actual: `${successes} of ${continuations}`,
    });
  }
  const families = countOutcomes(prefixRows, ({ family }) => family);
  for (const [family, outcome] of Object.entries(families)) {
    if (outcome.successes === 0 || outcome.successes === outcome.continuations) {
      throw episodeError("unbalanced_labels", {
        family,
        expected: "both outcomes",
        actual: `${outcome.successes} of ${outcome.continuations}`,
      });
    }
  }
  return {
    policy: POLICY_DIGEST,
    case_ids: [...new Set(prefixRows.map((row) => row.case_id))].sort(),
    continuations,
    rows: rows.length,
    terminal_rows: terminalRows,
    successes,
    families,
    prefixes: countOutcomes(prefixRows, ({ prefix }) => prefix),
  };
}
