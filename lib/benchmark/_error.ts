/** Every code the benchmark throws. */
export type BenchmarkCode =
  // asking for something that cannot be generated
  | "bad_size"
  | "bad_seed"
  | "too_few_plans"
  // splits that overlap or do not hold what they say
  | "duplicate_in_split"
  | "split_overlap"
  | "wrong_split"
  | "wrong_version"
  | "wrong_seed"
  | "unsolvable_task"
  // task files
  | "bad_line"
  | "blank_line"
  | "line_too_long"
  | "missing_newline"
  | "not_sorted"
  | "not_utf8"
  // public rules
  | "not_a_policy_input"
  // labelled calls
  | "plan_too_short"
  | "no_such_candidate"
  | "no_final_action"
  | "no_collision"
  // the audit of the public rule
  | "other_benchmark"
  | "audit_leak"
  | "audit_mismatch"
  // service times from the public trace
  | "bad_duration"
  | "too_many_invocations"
  | "bad_quantile"
  | "no_durations"
  | "bad_duration_file"
  | "wrong_days";
