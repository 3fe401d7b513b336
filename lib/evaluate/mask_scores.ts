import { INVALID_KINDS, type InvalidActionKind } from "../world/contracts.ts";
import { meanOf, type Rational, rational } from "./rational.ts";

/** The whole numbers that a set of rows contributes to the scores of a mask. */
export interface MaskCounts {
  truePositive: number;
  falseNegative: number;
  trueNegative: number;
  falsePositive: number;
  /** Invalid rows of each kind. */
  readonly kindRows: Record<InvalidActionKind, number>;
  /** Those of them that the mask refused for the same kind. */
  readonly kindFound: Record<InvalidActionKind, number>;
}

/** Classification scores; null where a class or kind is absent. */
export interface MaskScores {
  readonly confusion_matrix: {
    readonly true_positive: number;
    readonly false_negative: number;
    readonly true_negative: number;
    readonly false_positive: number;
  };
  /** TP / (TP + FN). */
  readonly valid_recall: Rational | null;
  /** TN / (TN + FP). */
  readonly invalid_recall: Rational | null;
  /** Mean of both recalls. */
  readonly balanced_accuracy: Rational | null;
  /** Mean of the F1 scores of both classes, 2 TP / (2 TP + FP + FN) and the same for the other class. */
  readonly macro_f1: Rational | null;
  /** Share of a kind's rows that the mask refuses for that very kind. */
  readonly invalid_kind_recall: Readonly<Record<InvalidActionKind, Rational | null>>;
}

function share(part: number, whole: number): Rational | null {
  return whole === 0 ? null : rational(part, whole);
}

function mean(one: Rational | null, other: Rational | null): Rational | null {
  return one === null || other === null ? null : meanOf([one, other]);
}

/** Scores of several sets of rows together, as exact fractions. */
export function maskScores(parts: readonly MaskCounts[]): MaskScores {
  let [tp, fn, tn, fp] = [0, 0, 0, 0];
  const rows = Object.fromEntries(INVALID_KINDS.map((kind) => [kind, 0])) as Record<
    InvalidActionKind,
    number
  >;
  const found = { ...rows };
  for (const part of parts) {
    tp += part.truePositive;
    fn += part.falseNegative;
    tn += part.trueNegative;
    fp += part.falsePositive;
    for (const kind of INVALID_KINDS) {
      rows[kind] += part.kindRows[kind];
      found[kind] += part.kindFound[kind];
    }
  }
  const recalls = [share(tp, tp + fn), share(tn, tn + fp)] as const;
  const f1 = [share(2 * tp, 2 * tp + fp + fn), share(2 * tn, 2 * tn + fp + fn)] as const;
  return {
    confusion_matrix: { true_positive: tp, false_negative: fn, true_negative: tn, false_positive: fp },
    valid_recall: recalls[0],
    invalid_recall: recalls[1],
    balanced_accuracy: mean(...recalls),
    macro_f1: mean(...f1),
    invalid_kind_recall: Object.fromEntries(
      INVALID_KINDS.map((kind) => [kind, share(found[kind], rows[kind])]),
    ) as Record<InvalidActionKind, Rational | null>,
  };
}
