import { learnError } from "./_error.ts";
import { type DecisionBatch, decisionCount, selectCandidates, selectDecisions } from "./decision_batch.ts";

/** Demonstrations with one right candidate each: `labels` [N] counts from 0 within the decision. */
export interface LabelledDemonstrations {
  readonly kind: "single_label";
  readonly decisions: DecisionBatch;
  readonly labels: Int32Array;
}

/** Demonstrations with a set of right candidates each: `positives` [M] is 1 for a right candidate, else 0. */
export interface ExpertDemonstrations {
  readonly kind: "multi_positive";
  readonly decisions: DecisionBatch;
  readonly positives: Uint8Array;
  /** Hash of each decision's public state, shape [N]; no two may be equal. */
  readonly stateHashes: readonly string[];
}

/** What behaviour cloning learns from. */
export type Demonstrations = LabelledDemonstrations | ExpertDemonstrations;

/** Decisions with the mask to train under and the right candidates [M], whatever the kind of demonstration. */
export interface Lesson {
  readonly decisions: DecisionBatch;
  readonly positives: Uint8Array;
}

/** The decisions `rows` of a lesson, in that order. */
export function selectLesson({ decisions, positives }: Lesson, rows: Int32Array): Lesson {
  return {
    decisions: selectDecisions(decisions, rows),
    positives: selectCandidates(decisions.offsets, positives, rows),
  };
}

/**
 * Checks demonstrations and gives both kinds one form. Single labels get an all-true mask.
 *
 * @throws TracewrightError "masked_choice" for a right candidate that is masked or absent; "no_positive",
 * "duplicate_state", "bad_batch"
 */
export function lessonOf(demonstrations: Demonstrations): Lesson {
  const { decisions } = demonstrations;
  const { offsets, mask } = decisions;
  const n = decisionCount(decisions);
  if (n === 0) throw learnError("bad_batch", { message: "there is no demonstration to learn from" });
  if (demonstrations.kind === "single_label") {
    const { labels } = demonstrations;
    if (labels.length !== n) {
      throw learnError("bad_batch", { expected: `${n} labels`, actual: labels.length });
    }
    const positives = new Uint8Array(mask.length);
    labels.forEach((label, d) => {
      const at = offsets[d]! + label;
      if (label < 0 || at >= offsets[d + 1]! || mask[at] !== 1) {
        throw learnError("masked_choice", { decision: d, expected: "a selectable candidate", actual: label });
      }
      positives[at] = 1;
    });
    return { decisions: { ...decisions, mask: new Uint8Array(mask.length).fill(1) }, positives };
  }
  const { positives, stateHashes } = demonstrations;
  if (positives.length !== mask.length || stateHashes.length !== n) {
    throw learnError("bad_batch", {
      message: "positives or hashes do not fit the decisions",
      expected: [mask.length, n],
      actual: [positives.length, stateHashes.length],
    });
  }
  const seen = new Map<string, number>();
  for (let d = 0; d < n; d++) {
    const earlier = seen.get(stateHashes[d]!);
    if (earlier !== undefined) throw learnError("duplicate_state", { decision: d, same_as: earlier });
    seen.set(stateHashes[d]!, d);
    let count = 0;
    for (let i = offsets[d]!; i < offsets[d + 1]!; i++) {
      if (positives[i]! > mask[i]!) {
        throw learnError("masked_choice", { decision: d, candidate: i - offsets[d]! });
      }
      count += positives[i]!;
    }
    if (count === 0) throw learnError("no_positive", { message: "no candidate is right", decision: d });
  }
  return { decisions, positives };
}
