import { nearestName } from "../lib/pipeline/config_problem.ts";
import { findVariant, VARIANTS } from "../lib/pipeline/config_variants.ts";
import { usageError } from "./_usage_error.ts";

/**
 * The variant that a user named by letter or full name.
 *
 * @throws TracewrightError "unknown_variant"
 */
export function variantOf(text: string): (typeof VARIANTS)[number] {
  const found = findVariant(text);
  if (found) return found;
  const names = VARIANTS.map(({ name }) => name);
  const nearest = nearestName(text, names);
  throw usageError("unknown_variant", {
    message: "there is no such variant",
    expected: `a letter from A to F, or one of ${names.join(", ")}`,
    actual: text,
    ...(nearest ? { hint: `did you mean ${nearest}?` } : {}),
  });
}
