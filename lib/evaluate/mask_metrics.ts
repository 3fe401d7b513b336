/**
 * How well the action mask tells valid calls from invalid ones on labelled rows; valid is the positive class. The mask is
 * asked again here, the labels are taken as they stand. Source: protocol/benchmark-v1.3.md section 11.
 */
import {
  type ActionValidityRow,
  CANDIDATES_PER_STATE,
  STATES_PER_TASK,
} from "../benchmark/action_validity.ts";
import { canonicalJson } from "../core/canonical_json.ts";
import { sha256Hex } from "../core/digest.ts";
import { type ErrorDetails, TracewrightError } from "../core/error.ts";
import { ActionMask } from "../world/action_mask.ts";
import { INVALID_KINDS, type InvalidActionKind, type ToolSchema } from "../world/contracts.ts";
import type { BootstrapSettings } from "./case_cluster_bootstrap.ts";
import { type MaskCounts, type MaskScores, maskScores } from "./mask_scores.ts";
import { type MaskIntervals, maskIntervals } from "./mask_intervals.ts";

/** Schema of the record. */
export const MASK_METRICS_SCHEMA = "tracewright.mask-metrics.v1";

/** What can be wrong with rows before anything is measured. */
export type MaskMetricsCode =
  | "wrong_row_count"
  | "duplicate_sample"
  | "unsorted_samples"
  | "unknown_case"
  | "foreign_observation"
  | "state_digest_mismatch"
  | "label_kind_mismatch";

/** The record: counts, exact values and their intervals. It is one per benchmark; no variant changes it. */
export interface MaskMetrics extends MaskScores {
  readonly schema: typeof MASK_METRICS_SCHEMA;
  readonly count: number;
  readonly cases: number;
  readonly valid_count: number;
  readonly invalid_count: number;
  /** 20,000 rows, half of them valid. */
  readonly is_canonical_20k: boolean;
  readonly bootstrap: MaskIntervals;
}

/** The part of a task that the mask is built from. */
export interface MaskCase {
  readonly case_id: string;
  readonly tool_schemas: readonly ToolSchema[];
}

const CANONICAL_ROWS = 20_000;

function refuse(code: MaskMetricsCode, details: ErrorDetails): never {
  throw new TracewrightError<"evaluate", MaskMetricsCode>(code, details);
}

/** The counts of no row at all. */
function noCounts(): MaskCounts {
  const none = () => Object.fromEntries(INVALID_KINDS.map((kind) => [kind, 0]));
  return {
    truePositive: 0,
    falseNegative: 0,
    trueNegative: 0,
    falsePositive: 0,
    kindRows: none() as Record<InvalidActionKind, number>,
    kindFound: none() as Record<InvalidActionKind, number>,
  };
}

/**
 * Measures the mask on rows that come one at a time, case by case. Of the rows only counts are kept, a set for each case.
 */
export class MaskEvaluation {
  readonly #cases: MaskCounts[] = [];
  #count = 0;
  #lastSample = "";
  #caseId = "";
  #mask: ActionMask | undefined;
  #observation: unknown;
  #observationDigest = "";

  /**
   * Takes the next row.
   *
   * @param row rows ascend by sample id
   * @param owner the task with the row's case id; undefined where there is none
   * @throws TracewrightError "duplicate_sample", "unsorted_samples", "unknown_case" (no such task),
   * "foreign_observation" (of another case), "state_digest_mismatch" (the observation is not the one that was labelled) or
   * "label_kind_mismatch" (a valid label with a kind, or the other way round)
   */
  add(row: ActionValidityRow, owner: MaskCase | undefined): void {
    const mask = this.#admit(row, owner);
    const [verdict] = mask.evaluate(row.observation, [row.tool_call]);
    const counts = this.#cases.at(-1)!;
    if (row.valid_label) counts[verdict!.valid ? "truePositive" : "falseNegative"]++;
    else counts[verdict!.valid ? "falsePositive" : "trueNegative"]++;
    if (row.invalid_kind !== null) {
      counts.kindRows[row.invalid_kind]++;
      if (verdict!.invalid_kind === row.invalid_kind) counts.kindFound[row.invalid_kind]++;
    }
    this.#count++;
  }

  #admit(row: ActionValidityRow, owner: MaskCase | undefined): ActionMask {
    const place = { sample: row.sample_id };
    if (row.sample_id <= this.#lastSample) {
      refuse(row.sample_id === this.#lastSample ? "duplicate_sample" : "unsorted_samples", {
        ...place,
        expected: `a sample id after ${this.#lastSample}`,
        actual: row.sample_id,
      });
    }
    if (owner === undefined || owner.case_id !== row.case_id) {
      refuse("unknown_case", {
        ...place,
        expected: owner?.case_id ?? "a case with a task",
        actual: row.case_id,
      });
    }
    if (row.observation.task_id !== row.case_id) {
      refuse("foreign_observation", { ...place, expected: row.case_id, actual: row.observation.task_id });
    }
    // Rows of one state share the observation object when they come from the generator: hash it once then.
    if (this.#observation !== row.observation) {
      this.#observation = row.observation;
      this.#observationDigest = sha256Hex(canonicalJson(row.observation));
    }
    if (this.#observationDigest !== row.state_sha256) {
      refuse("state_digest_mismatch", {
        ...place,
        expected: row.state_sha256,
        actual: this.#observationDigest,
        hint: "the observation is not the one that was labelled",
      });
    }
    if (row.valid_label !== (row.invalid_kind === null)) {
      refuse("label_kind_mismatch", {
        ...place,
        expected: row.valid_label ? "no kind for a valid call" : "a kind for an invalid call",
        actual: row.invalid_kind,
      });
    }
    this.#lastSample = row.sample_id;
    if (this.#mask === undefined || this.#caseId !== row.case_id) {
      this.#caseId = row.case_id;
      this.#mask = new ActionMask(owner.tool_schemas);
      this.#cases.push(noCounts());
    }
    return this.#mask;
  }

  /**
   * The record of all rows taken.
   *
   * @param tasks how many tasks were sampled: each must have given all of its rows
   * @throws TracewrightError "wrong_row_count"
   */
  finish({ tasks, bootstrap }: {
    readonly tasks: number;
    readonly bootstrap: BootstrapSettings;
  }): MaskMetrics {
    const expected = tasks * STATES_PER_TASK * CANDIDATES_PER_STATE;
    if (this.#count !== expected || this.#cases.length !== tasks || tasks === 0) {
      refuse("wrong_row_count", {
        expected: `${expected} rows of ${tasks} tasks`,
        actual: `${this.#count} rows of ${this.#cases.length} tasks`,
      });
    }
    const scores = maskScores(this.#cases);
    const { true_positive, false_negative } = scores.confusion_matrix;
    const valid = true_positive + false_negative;
    return {
      schema: MASK_METRICS_SCHEMA,
      count: this.#count,
      cases: tasks,
      valid_count: valid,
      invalid_count: this.#count - valid,
      is_canonical_20k: this.#count === CANONICAL_ROWS && valid * 2 === CANONICAL_ROWS,
      ...scores,
      bootstrap: maskIntervals(this.#cases, bootstrap),
    };
  }
}
