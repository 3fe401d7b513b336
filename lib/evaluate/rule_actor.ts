import type { Actor } from "../episode/actor.ts";
import type { PublicRule } from "../benchmark/public_rules.ts";

/** A public rule as a policy: it sees the policy input and nothing else, is certain of its choice and predicts no value. */
export function ruleActor(rule: PublicRule): Actor {
  return (decisions) =>
    Promise.resolve(
      decisions.map(({ input }) => ({ index: rule.choose(input).actionIndex, logProb: 0, value: 0 })),
    );
}
