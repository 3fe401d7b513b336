/** Fields that never become features: identities, hidden bookkeeping and labels. */
export const DROPPED_FIELDS: ReadonlySet<string> = new Set([
  "approval_token",
  "audit_log",
  "call_id",
  "candidate_valid",
  "entity_id",
  "idempotency_results",
  "invalid_kind",
  "label_source",
  "predicted_valid",
  "processed_call_ids",
  "schema_label",
  "state_sha256",
  "valid_label",
]);
