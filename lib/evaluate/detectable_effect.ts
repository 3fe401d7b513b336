import { normalCdf, normalQuantile } from "./normal_distribution.ts";
import { nonCentralUpperTail, studentCriticalValue } from "./student_t.ts";

/** A two-sided test of "no difference" by estimate / standard error. */
export interface TestDesign {
  /** Standard error of the difference; 0 where nothing varies. */
  readonly standardError: number;
  /** Two-sided error rate, in (0, 1). */
  readonly alpha: number;
  /** Of the standard error, when Student's t is the reference; null for the normal distribution. */
  readonly degreesOfFreedom: number | null;
}

/**
 * The chance that the interval lies wholly on the effect's side of zero. Normal reference: Phi(effect / SE - z), z the
 * quantile at 1 - alpha / 2. Student reference: the non-central t, which also knows that the standard error is itself
 * an estimate. An interval on the wrong side of zero is no discovery and is not counted.
 * Source: Cohen 1988, Statistical Power Analysis, chapter 2.
 *
 * @param effect a difference of success rates; its sign does not matter
 */
export function powerAt(effect: number, { standardError, alpha, degreesOfFreedom }: TestDesign): number {
  if (standardError === 0) return effect === 0 ? 0 : 1;
  const shift = Math.abs(effect) / standardError;
  return degreesOfFreedom === null ? normalCdf(shift - normalQuantile(1 - alpha / 2)) : nonCentralUpperTail({
    critical: studentCriticalValue(alpha, degreesOfFreedom),
    shift,
    degreesOfFreedom,
  });
}

/**
 * The smallest true difference that such a test finds with the wished chance; the inverse of {@link powerAt}. Normal
 * reference: (z at 1 - alpha / 2 + z at power) SE, which is 2.8016 SE for 5 % and 80 % (Bloom 1995, Minimum detectable
 * effects). Student reference: by bisection over the shift.
 *
 * @param power in (alpha / 2, 1)
 */
export function minimumDetectableEffect(
  { power, ...design }: TestDesign & { readonly power: number },
): number {
  const { standardError, alpha, degreesOfFreedom } = design;
  if (degreesOfFreedom === null) {
    return (normalQuantile(1 - alpha / 2) + normalQuantile(power)) * standardError;
  }
  const critical = studentCriticalValue(alpha, degreesOfFreedom);
  const reached = (shift: number) => nonCentralUpperTail({ critical, shift, degreesOfFreedom }) >= power;
  let low = 0;
  let high = 1;
  while (!reached(high)) high *= 2;
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2;
    if (reached(middle)) high = middle;
    else low = middle;
  }
  return high * standardError;
}
