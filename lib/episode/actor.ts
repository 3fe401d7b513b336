import { greedyDecision } from "../policy/decision.ts";
import type { EncodedDecision } from "../policy/encoder.ts";
import type { PolicyBatch, PolicySession } from "../policy/runtime.ts";
import type { PolicyInput } from "../world/policy_input.ts";
import { episodeError } from "./_error.ts";

/** A decision that waits for an answer. `input` is all that a policy may look at; `features` are computed from it alone. */
export interface PendingDecision {
  readonly input: PolicyInput;
  readonly features: EncodedDecision;
  /** Position of the episode in the caller's list: which stream a sampling actor draws from. */
  readonly episode: number;
}

/** What an actor chose, with the numbers a trace keeps. */
export interface Choice {
  /** Index into the candidates. */
  readonly index: number;
  /** Natural logarithm of the probability that the policy gave it. */
  readonly logProb: number;
  /** State value. */
  readonly value: number;
}

/** Answers a batch of decisions. An answer may depend on its own decision only, never on the rest of the batch. */
export type Actor = (decisions: readonly PendingDecision[]) => Promise<readonly Choice[]>;

/** Gathers encoded decisions of one encoder into the ragged batch that a {@link PolicySession} takes. */
export function gatherBatch(decisions: readonly EncodedDecision[]): PolicyBatch {
  const stateWidth = decisions[0]?.state.length ?? 0;
  let candidates = 0;
  let values = 0;
  for (const { mask, actions } of decisions) {
    candidates += mask.length;
    values += actions.length;
  }
  const state = new Float64Array(decisions.length * stateWidth);
  const action = new Float64Array(values);
  const segment = new Int32Array(candidates);
  let row = 0;
  let at = 0;
  decisions.forEach((decision, n) => {
    state.set(decision.state, n * stateWidth);
    action.set(decision.actions, at);
    at += decision.actions.length;
    segment.fill(n, row, row + decision.mask.length);
    row += decision.mask.length;
  });
  return { state, action, segment };
}

/**
 * The greedy policy of an exact graph: the selectable candidate with the largest logit, lowest index on ties. Greedy or
 * not, the log-probability is that of the softmax over the selectable candidates. Source:
 * protocol/policy-and-training.md section 3.
 *
 * @throws TracewrightError "bad_answer" where the graph has no value for each decision, "bad_decision" where it has no logit
 * for each candidate or nothing is selectable
 */
export function greedyActor(session: PolicySession): Actor {
  return async (decisions) => {
    const { logits, values } = await session.logits(gatherBatch(decisions.map((d) => d.features)));
    if (values.length !== decisions.length) {
      throw episodeError("bad_answer", {
        message: "another number of values than decisions",
        hint: "the graph reads features of other widths",
        expected: decisions.length,
        actual: values.length,
      });
    }
    let row = 0;
    return decisions.map(({ features: { mask } }, n) => {
      const own = logits.subarray(row, row += mask.length);
      const { action, logProb, value } = greedyDecision({ logits: own, value: values[n]! }, mask);
      return { index: action, logProb, value };
    });
  };
}
