/** Every code the world throws. A rejected call is not an error: it is a {@link ValidationResult} with a code of its own. */
export type WorldCode =
  // a task that contradicts itself
  | "bad_task"
  | "duplicate_tool"
  | "duplicate_node"
  | "reserved_effect"
  | "bad_service_time"
  | "unknown_predecessor"
  | "self_dependency"
  | "unknown_node_tool"
  | "dependency_cycle"
  // an oracle plan that does not do what it must
  | "unknown_plan"
  | "plan_rejected"
  | "plan_too_long"
  | "plan_incomplete"
  // the environment
  | "episode_over"
  | "transaction_breach"
  // the boundary to a policy
  | "empty_decision"
  | "mask_mismatch"
  | "nothing_selectable"
  | "unknown_candidate_tool"
  | "bad_identity"
  | "forbidden_key"
  | "raw_identity"
  | "not_policy_input";
