import type { FeatureEncoder } from "../policy/encoder.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { byCaseId } from "./_case_order.ts";
import { CONTINUATION_RULE, continuationRows } from "./continuation.ts";
import { auditLabels, type LabelAudit, type LabelRule } from "./label_audit.ts";
import { NOISY_RULE, noisyRows } from "./noisy_continuation.ts";
import type { ProgressRow } from "./progress_row.ts";
import { selectProgressTasks } from "./select_tasks.ts";

/** The rules by which states are labelled for the progress estimator. */
export const PROGRESS_LABELS = ["absorbing-error", "noisy-continuation"] as const;
/** One of {@link PROGRESS_LABELS}. */
export type ProgressLabels = (typeof PROGRESS_LABELS)[number];

/** Labelled states of a split, with the audit of their labels. */
export interface LabelledSplit {
  readonly rows: readonly ProgressRow[];
  readonly audit: LabelAudit;
}

/** Where labels come from, and for what. */
export interface LabelSettings {
  readonly labels: ProgressLabels;
  /** The split that the tasks are: `train` to fit, `dev` to measure. */
  readonly split: "train" | "dev";
  readonly encoder: FeatureEncoder;
  /** Run seed. */
  readonly seed: number;
}

/** At most this many train tasks are labelled by an absorbing error. */
const TRAIN_LIMIT = 360;
/** How many tasks, first by case id, the published results labelled. */
const NOISY_TASKS = { train: 256, dev: 128 } as const;

interface Protocol {
  readonly rule: LabelRule;
  select(tasks: readonly WorkflowTask[], settings: LabelSettings): readonly WorkflowTask[];
  rows(tasks: readonly WorkflowTask[], encoder: FeatureEncoder, seed: number): Iterable<ProgressRow>;
}

const PROTOCOLS: Readonly<Record<ProgressLabels, Protocol>> = {
  "absorbing-error": {
    rule: CONTINUATION_RULE,
    select: (tasks, { split, seed }) =>
      split === "dev" ? tasks : selectProgressTasks(tasks, { limit: TRAIN_LIMIT, seed }),
    rows: continuationRows,
  },
  "noisy-continuation": {
    rule: NOISY_RULE,
    select: (tasks, { split }) => [...tasks].sort(byCaseId).slice(0, NOISY_TASKS[split]),
    rows: noisyRows,
  },
};

/**
 * Chooses tasks of a split, labels their states and checks the balance of the labels.
 * Source: protocol/policy-and-training.md sections 5.1 (`absorbing-error`: up to 360 train tasks spread over strata, all of
 * dev) and 5.2 (`noisy-continuation`: the first 256 train or 128 dev tasks by case id).
 *
 * @throws TracewrightError "bad_prefixes", "unbalanced_labels"
 */
export function labelSplit(tasks: readonly WorkflowTask[], settings: LabelSettings): LabelledSplit {
  const { rule, select, rows } = PROTOCOLS[settings.labels];
  const labelled = [...rows(select(tasks, settings), settings.encoder, settings.seed)];
  return { rows: labelled, audit: auditLabels(labelled, rule) };
}
