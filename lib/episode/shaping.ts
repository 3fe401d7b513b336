import { episodeError } from "./_error.ts";

/** The potentials of one step, as a trace records them. */
export interface ProgressPotential {
  /** Phi of the state in which the decision was taken. */
  readonly phi_raw: number;
  /** Phi of the next state; null when the step ended the episode, for the estimator is not asked then. */
  readonly phi_next_raw: number | null;
  /** What shaping used: `phi_next_raw`, or 0 at the end of an episode. */
  readonly phi_next_used: number;
  readonly terminal_zeroed: boolean;
}

/** Weight and discount of shaping. */
export interface ShapingSettings {
  readonly beta: number;
  readonly gamma: number;
}

/**
 * Potential-based shaping, beta (gamma Phi(s') - Phi(s)) (Ng, Harada and Russell 1999), with Phi = 0 after the last step.
 * The discounted sum over an episode then telescopes to -beta Phi(s0), whatever the policy does.
 *
 * @throws TracewrightError "bad_shaping" if beta is negative, gamma leaves [0, 1], or a potential is not finite
 */
export function shapingReward(potential: ProgressPotential, { beta, gamma }: ShapingSettings): number {
  const { phi_raw, phi_next_used } = potential;
  if (
    !(beta >= 0) || !(gamma >= 0 && gamma <= 1) || !Number.isFinite(phi_raw) ||
    !Number.isFinite(phi_next_used)
  ) {
    throw episodeError("bad_shaping", {
      expected: "beta >= 0, gamma in [0, 1], finite potentials",
      actual: { beta, gamma, phi_raw, phi_next_used },
    });
  }
  return beta * (gamma * phi_next_used - phi_raw) + 0;
}

/** The potentials of a step; `phiNext` is null exactly when the step ended the episode. */
export function progressPotential(phi: number, phiNext: number | null): ProgressPotential {
  return {
    phi_raw: phi,
    phi_next_raw: phiNext,
    phi_next_used: phiNext ?? 0,
    terminal_zeroed: phiNext === null,
  };
}
