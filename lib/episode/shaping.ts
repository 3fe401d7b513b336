import { episodeError } from "./_error.ts";

/** The potentials of one step, as a trace records them. */
export interface ProgressPotential {
  /** Phi of the state in which the decision was taken. */
  readonly phi_raw: number;
  /** Phi of the next state; null where the estimator is not asked: at the end of an episode, when that counts as zero. */
  readonly phi_next_raw: number | null;
  /** What shaping used: `phi_next_raw`, or 0 where that is null. */
  readonly phi_next_used: number;
  readonly terminal_zeroed: boolean;
}

/** Phi of the state in which an episode ended: zero by definition, or what the estimator says, as it once was. */
export const TERMINAL_POTENTIALS = ["zero", "estimated"] as const;
/** One of {@link TERMINAL_POTENTIALS}. */
export type TerminalPotential = (typeof TERMINAL_POTENTIALS)[number];

/** Weight and discount of shaping. */
export interface ShapingSettings {
  readonly beta: number;
  readonly gamma: number;
}

/**
 * Potential-based shaping, beta (gamma Phi(s') - Phi(s)) (Ng, Harada and Russell 1999). With Phi = 0 after the last step the
 * discounted sum over an episode telescopes to -beta Phi(s0), whatever the policy does; with an estimated Phi there,
 * beta gamma^T Phi(s_T) comes on top, and the optimal policy may change.
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

/** The potentials of a step; `phiNext` is null exactly where the step ended the episode and that counts as zero. */
export function progressPotential(phi: number, phiNext: number | null): ProgressPotential {
  return {
    phi_next_raw: phiNext,
    phi_next_used: phiNext ?? 0,
    phi_raw: phi,
    terminal_zeroed: phiNext === null,
  };
}
