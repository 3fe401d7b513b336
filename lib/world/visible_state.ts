import type { JsonObject } from "../core/canonical_json.ts";
import type { WorkflowState } from "./contracts.ts";

/** The keys of a state that are never shown. Source: protocol/environment.md section 3. */
export const INTERNAL_STATE_KEYS = ["processed_call_ids", "idempotency_results", "audit_log"] as const;

/** The public part of a state, frozen: everything but {@link INTERNAL_STATE_KEYS}, effects of committed nodes included. */
export function visibleState(state: WorkflowState): JsonObject {
  const { processed_call_ids: _ids, idempotency_results: _ledger, audit_log: _audit, ...visible } = state;
  return Object.freeze(visible as JsonObject);
}
