import { policyError } from "./_error.ts";

/** Features are integers on the grid 2^-10. */
export const FEATURE_SCALE = 1024;
/** Largest magnitude of a feature, in grid steps (just under 8). */
export const FEATURE_MAX = 2 ** 13 - 1;

/**
 * A real number on the feature grid: floor(x * 1024 + 0.5), never -0.
 *
 * @param slot where the value goes, for the error
 * @throws TracewrightError "feature_out_of_range" if the magnitude is above {@link FEATURE_MAX}; nothing is clamped
 */
export function toFeature(x: number, slot: string): number {
  const value = Math.floor(x * FEATURE_SCALE + 0.5) + 0;
  if (value >= -FEATURE_MAX && value <= FEATURE_MAX) return value;
  throw policyError("feature_out_of_range", {
    message: "a feature does not fit the exact grid",
    slot,
    expected: `at most ${FEATURE_MAX / FEATURE_SCALE} in magnitude`,
    actual: x,
  });
}
