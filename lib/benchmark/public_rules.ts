/**
 * Rules that decide from a policy input alone: what any policy must beat. Source: protocol/benchmark-v1.4.md section 9.
 */
import { canonicalJson } from "../core/canonical_json.ts";
import { digestOf, hexOf } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { isPolicyInput, type PolicyCandidate, type PolicyInput } from "../world/policy_input.ts";
import { seededChoice } from "../world/seeded_choice.ts";
import type { BenchmarkCode } from "./_error.ts";

/** What a rule chose, and why, in fixed words. */
export interface RuleChoice {
  readonly actionIndex: number;
  readonly reason: string;
}

/** A rule without a memory. */
export interface PublicRule {
  readonly id: string;
  /**
   * @param input a policy input made by `lib/world`; anything else, even of the same shape, is refused
   * @throws TracewrightError "not_a_policy_input"
   */
  choose(input: PolicyInput): RuleChoice;
}

function admit(input: unknown): PolicyInput {
  if (isPolicyInput(input)) return input;
  throw new TracewrightError<"benchmark", BenchmarkCode>("not_a_policy_input", {
    message: "a public rule sees a policy input and nothing else",
    hint: "build it with policyInputFromDecision() or read it with parsePolicyInput()",
    actual: typeof input,
  });
}

/** Selectable slots in candidate order; never empty, since a policy input has at least one. */
function selectableSlots(input: PolicyInput): number[] {
  return input.candidates.flatMap((candidate, i) => candidate.action_mask ? [i] : []);
}

function isOpenMutation(candidate: PolicyCandidate, completed: ReadonlySet<unknown>): boolean {
  const { mutating, operation_id } = candidate.tool_schema;
  return candidate.action_mask && mutating && operation_id !== null && !completed.has(operation_id);
}

/**
 * R0: uniform among the selectable candidates, drawn from a hash of the seed and of all the input but its goal, so
 * that cases that differ only in their goal get the same choice.
 */
export function maskedRandomRule(seed: number): PublicRule {
  return {
    id: "R0-masked-random-v1",
    choose(value) {
      const input = admit(value);
      const slots = selectableSlots(input);
      const blanked = { ...input, observation: { ...input.observation, user_goal: "" } };
      const hex = hexOf(digestOf(`${seed}:${canonicalJson(blanked)}`));
      return {
        actionIndex: slots[seededChoice(hex, slots.length)]!,
        reason: "drawn among the selectable candidates",
      };
    },
  };
}

/** R1: the first candidate that is selectable and allowed and whose operation mutates and is not done yet. */
export const readyGreedyRule: PublicRule = {
  id: "R1-public-ready-greedy-v1",
  choose(value) {
    const input = admit(value);
    const done = input.observation.visible_state.completed_nodes;
    const completed = new Set<unknown>(Array.isArray(done) ? done : []);
    const found = input.candidates.findIndex((candidate) =>
      candidate.tool_schema.policy_allowed && isOpenMutation(candidate, completed)
    );
    return found >= 0
      ? { actionIndex: found, reason: "first ready operation that is not done" }
      : { actionIndex: selectableSlots(input)[0]!, reason: "nothing to do; first selectable candidate" };
  },
};

/** The first selectable candidate, whatever it does: what the order of candidates alone is worth. */
export const firstCandidateRule: PublicRule = {
  id: "first-candidate-v1",
  choose(value) {
    return { actionIndex: selectableSlots(admit(value))[0]!, reason: "first selectable candidate" };
  },
};
