import { sigmoid } from "../core/numerics.ts";
import { toReal } from "../policy/decision.ts";
import type { PolicySession } from "../policy/runtime.ts";

/** The progress estimator as a function: Phi of each encoded state, in [0, 1]. */
export type Potential = (states: readonly Int32Array[]) => Promise<readonly number[]>;

/**
 * Phi = sigmoid(exact logit): the exact graph gives the logit, the project's own `exp` the rest.
 *
 * @param session a graph without actions, the estimator's
 */
export function exactPotential(session: PolicySession): Potential {
  return async (states) => {
    const first = states[0];
    if (first === undefined) return [];
    const state = new Float64Array(states.length * first.length);
    states.forEach((features, n) => state.set(features, n * first.length));
    const { logits } = await session.logits({
      state,
      action: new Float64Array(0),
      segment: new Int32Array(0),
    });
    return Array.from(logits, (logit) => sigmoid(toReal(logit)));
  };
}
