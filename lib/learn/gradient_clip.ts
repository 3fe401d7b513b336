import { learnError } from "./_error.ts";

/** Keeps the factor below 1 finite for a zero gradient. */
const EPSILON = 1e-6;

/**
 * Scales a gradient, in place, down to a global norm (Pascanu et al. 2013). The norm is the root of the sum of squares
 * in double precision from the first entry on; a sum that float32 cannot hold counts as not finite, so that an exploded
 * gradient is reported and not scaled away. Call it before the optimizer's step: when it throws, nothing has changed.
 *
 * @returns the norm before scaling
 * @throws TracewrightError "non_finite_gradient"
 */
export function clipGradient(gradient: Float32Array, maxNorm: number): number {
  let squares = 0;
  for (let i = 0; i < gradient.length; i++) squares += gradient[i]! * gradient[i]!;
  if (!Number.isFinite(Math.fround(squares))) {
    throw learnError("non_finite_gradient", {
      message: "the global norm of the gradient is not finite; no parameter was changed",
      expected: "a finite sum of squares in float32",
      actual: squares,
      hint: "look for non-finite features or a learning rate that is too large",
    });
  }
  const norm = Math.sqrt(squares);
  const factor = maxNorm / (norm + EPSILON);
  if (factor < 1) { for (let i = 0; i < gradient.length; i++) gradient[i] = gradient[i]! * factor; }
  return norm;
}
