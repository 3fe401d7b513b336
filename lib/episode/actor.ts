import { argmax, logSoftmax } from "../core/numerics.ts";
import type { EncodedDecision } from "../policy/encoder.ts";
import type { PolicySession } from "../policy/runtime.ts";
import type { PolicyInput } from "../world/policy_input.ts";

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

/** Logits and values of the exact graph are integers on this grid. */
const OUTPUT_GRID = 2 ** -26;

/** Gathers encoded decisions into one ragged batch for a {@link PolicySession}. */
export function gatherBatch(decisions: readonly EncodedDecision[]): {
  state: Float64Array;
  action: Float64Array;
  segment: Int32Array;
} {
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

/** The greedy policy of an exact graph: the selectable candidate with the largest logit, lowest index on ties. */
export function greedyActor(session: PolicySession): Actor {
  return async (decisions) => {
    const { logits, values } = await session.logits(gatherBatch(decisions.map((d) => d.features)));
    let row = 0;
    return decisions.map(({ features: { mask } }, n) => {
      const own = logits.subarray(row, row + mask.length);
      row += mask.length;
      const index = argmax(own, mask);
      const scaled = Float64Array.from(own, (logit) => logit * OUTPUT_GRID);
      return { index, logProb: logSoftmax(scaled, mask)[index]! + 0, value: values[n]! * OUTPUT_GRID + 0 };
    });
  };
}
