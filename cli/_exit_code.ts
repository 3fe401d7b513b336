import { TracewrightError } from "../lib/core/error.ts";
import type { SqlCode } from "../lib/evaluate/sql_error.ts";
import type { CanaryCode } from "../lib/pipeline/canary.ts";
import type { CanonicalCode } from "../lib/pipeline/canonical.ts";
import type { ConfigCode } from "../lib/pipeline/config_problem.ts";
import type { StageCode } from "../lib/stage/stage_error.ts";
import type { BundleCode } from "../lib/store/bundle_error.ts";
import type { StoreCode } from "../lib/store/store_error.ts";
import type { UsageCode } from "./_usage_error.ts";

/** 0 good, 1 checked and wrong, 2 usage or configuration, 3 could not complete, 130 interrupted. */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

type MachineCode = StoreCode | BundleCode | StageCode | SqlCode;
type Listed<Code extends string> = Readonly<Record<Code, true>>;

/** Codes that mean: the request itself was wrong. The types make a new code of these rooms an error here. */
const USAGE: Listed<ConfigCode | UsageCode | CanonicalCode | CanaryCode> & Partial<Listed<MachineCode>> = {
  unknown_key: true,
  missing_key: true,
  duplicate_key: true,
  wrong_type: true,
  wrong_value: true,
  not_finite: true,
  out_of_range: true,
  inconsistent: true,
  yaml_syntax: true,
  yaml_feature: true,
  config_too_large: true,
  config_too_deep: true,
  other_seeds: true,
  other_test_size: true,
  other_variants: true,
  other_action_rows: true,
  too_few_samples: true,
  no_comparison: true,
  not_registered: true,
  too_few_repetitions: true,
  bad_command_line: true,
  unknown_variant: true,
  unknown_stage: true,
  wrong_variant: true,
  no_such_case: true,
  no_such_checkpoint: true,
  ambiguous_checkpoint: true,
  wrong_checkpoint: true,
  missing_estimator: true,
  needless_estimator: true,
  other_inputs: true,
  output_not_allowed: true,
  not_a_file: true,
  no_such_entry: true,
  no_key_yet: true,
  unknown_release: true,
  no_such_name: true,
  file_exists: true,
  key_in_repository: true,
  folder_exists: true,
  bad_key: true,
  no_such_file: true,
  run_not_found: true,
  ambiguous_run: true,
  reference_not_found: true,
  ambiguous_reference: true,
  codes_stale: true,
};

/** Codes that mean: the machine did not let the work finish. */
const UNFINISHED: Partial<Listed<MachineCode>> & Readonly<Record<string, true>> = {
  disk_full: true,
  read_only: true,
  not_readable: true,
  io_error: true,
  stage_failed: true,
  worker_failed: true,
  runtime_unavailable: true,
  runtime_failed: true,
  arena_exhausted: true,
  store_in_use: true,
  sql_unavailable: true,
  sql_failed: true,
};

/**
 * The exit code for an error that ended a command. An error of ours that is neither about the request nor about the
 * machine says that something was looked at and is wrong; an error that is not ours is one that nobody foresaw.
 */
export function exitCodeOf(error: unknown): 1 | 2 | 3 {
  if (error instanceof TracewrightError) {
    if (Object.hasOwn(USAGE, error.code)) return 2;
    return Object.hasOwn(UNFINISHED, error.code) ? 3 : 1;
  }
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable ? 2 : 3;
}
