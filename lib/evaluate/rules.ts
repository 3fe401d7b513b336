import {
  firstCandidateRule,
  maskedRandomRule,
  type PublicRule,
  readyGreedyRule,
} from "../benchmark/public_rules.ts";
import type { Actor } from "../episode/actor.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { oracleActor } from "./oracle_actor.ts";
import { ruleActor } from "./rule_actor.ts";

/** What an untrained row of a results table is played by. */
export interface Rule {
  /** How tables call it. */
  readonly id: string;
  /** File-name part of its traces. */
  readonly key: "oracle" | "random" | "first" | "ready";
  /** What it decides by. A rule that reads hidden plans is a ceiling, not a competitor. */
  readonly sees: "hidden_plan" | "policy_input";
  /**
   * @param tasks the list that the episodes are run over, in the same order
   * @param seed what the random rule draws from; nothing else uses it
   */
  actor(given: { readonly tasks: readonly WorkflowTask[]; readonly seed: number }): Actor;
}

function publicRule(key: Rule["key"], ruleOf: (seed: number) => PublicRule): Rule {
  const { id } = ruleOf(0);
  return { id, key, sees: "policy_input", actor: ({ seed }) => ruleActor(ruleOf(seed)) };
}

/**
 * The rules that are run beside the learned variants, so that a reader sees what they must be compared with. In the order in
 * which tables list them. Source of R0 and R1: protocol/benchmark-v1.4.md section 9.
 */
export const RULES: readonly Rule[] = [
  { id: "O-oracle-plan-v1", key: "oracle", sees: "hidden_plan", actor: ({ tasks }) => oracleActor(tasks) },
  publicRule("random", maskedRandomRule),
  publicRule("first", () => firstCandidateRule),
  publicRule("ready", () => readyGreedyRule),
];
