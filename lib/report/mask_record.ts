import { z } from "zod";
import { MASK_METRICS_SCHEMA, type MaskMetrics } from "../evaluate/mask_metrics.ts";
import { parseRecord } from "./_parse_record.ts";
import { count, partialInterval, positive, rational } from "./_record_fields.ts";

/** One value for each kind of invalid call. */
function byKind<T extends z.ZodType>(value: T) {
  return z.strictObject({ schema: value, grounding: value, precondition: value, safety: value });
}

const mask = z.strictObject({
  schema: z.literal(MASK_METRICS_SCHEMA),
  count: positive,
  cases: positive,
  valid_count: count,
  invalid_count: count,
  is_canonical_20k: z.boolean(),
  confusion_matrix: z.strictObject({
    true_positive: count,
    false_negative: count,
    true_negative: count,
    false_positive: count,
  }),
  valid_recall: rational.nullable(),
  invalid_recall: rational.nullable(),
  balanced_accuracy: rational.nullable(),
  macro_f1: rational.nullable(),
  invalid_kind_recall: byKind(rational.nullable()),
  bootstrap: z.strictObject({
    valid_recall: partialInterval.nullable(),
    invalid_recall: partialInterval.nullable(),
    balanced_accuracy: partialInterval.nullable(),
    macro_f1: partialInterval.nullable(),
    invalid_kind_recall: byKind(partialInterval.nullable()),
  }),
});

/**
 * Reads a record of mask metrics strictly.
 *
 * @throws TracewrightError "not_canonical" or "bad_record"
 */
export function parseMaskMetrics(bytes: Uint8Array): MaskMetrics {
  return parseRecord<MaskMetrics>(mask, bytes, "mask metrics");
}
