import { z } from "zod";
import { CANONICAL_MATRIX, type MatrixVariantName } from "../evaluate/canonical_matrix.ts";
import { CLAIM_CHECK_SCHEMA, type ClaimCheck } from "../evaluate/claim_check.ts";
import { parseRecord } from "./_parse_record.ts";
import { bootstrap, interval, rational } from "./_record_fields.ts";

const variant = z.enum(CANONICAL_MATRIX.variants.map(({ name }) => name) as MatrixVariantName[]);

const side = z.strictObject({
  variant,
  tsr: rational.nullable(),
  successful_conditional_simulated_service_time_s: rational.nullable(),
  timeout_penalized_simulated_cost_s: rational.nullable(),
});

const comparison = z.strictObject({
  treatment: variant,
  baseline: variant,
  tsr_difference: rational.nullable(),
  successful_conditional_simulated_service_time_s_difference: rational.nullable(),
  timeout_penalized_simulated_cost_s_difference: rational.nullable(),
  interval: interval.nullable(),
});

const claim = z.strictObject({
  schema: z.literal(CLAIM_CHECK_SCHEMA),
  preregistered_hypothesis: z.literal(CANONICAL_MATRIX.hypothesis),
  canonical: z.boolean(),
  hypothesis_passed: z.boolean(),
  passed: z.boolean(),
  treatment: side,
  matched_baseline: side,
  total_system_baseline: side,
  primary_comparison: comparison,
  total_system_comparison: comparison,
  action_validity_balanced_accuracy: rational,
  bootstrap,
  checks: z.array(z.strictObject({
    name: z.string(),
    passed: z.boolean(),
    actual: z.number(),
    comparator: z.enum(["==", ">=", ">"]),
    threshold: z.number(),
    detail: z.string(),
  })).min(1),
});

/**
 * Reads a claim check strictly. That its two facts follow from its checks is for `verify` to say, which makes it again.
 *
 * @throws TracewrightError "not_canonical" or "bad_record"
 */
export function parseClaimCheck(bytes: Uint8Array): ClaimCheck {
  return parseRecord<ClaimCheck>(claim, bytes, "claim");
}
