import { type ErrorDetails, TracewrightError } from "../core/error.ts";

/** Everything the room `stage` itself can throw; errors of a stage and of the store pass through with their codes. */
export type StageCode =
  | "bad_stage"
  | "bad_params"
  | "bad_plan"
  | "duplicate_node"
  | "unknown_node"
  | "unknown_output"
  | "unknown_stage"
  | "missing_input"
  | "unknown_input"
  | "media_type_mismatch"
  | "cycle"
  | "output_missing"
  | "output_twice"
  | "output_closed"
  | "not_well_formed"
  | "bad_fraction"
  | "stage_failed"
  | "worker_failed"
  | "bad_codes"
  | "unknown_code"
  | "codes_stale"
  | "reference_not_found"
  | "ambiguous_reference";

/** The error of this room. */
export function stageError(code: StageCode, details: ErrorDetails): TracewrightError<"stage", StageCode> {
  return new TracewrightError<"stage", StageCode>(code, details);
}
