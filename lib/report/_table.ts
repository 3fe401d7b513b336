import type { Rational } from "../evaluate/rational.ts";

/** What stands where a number does not exist. */
export const NONE = "–";

/** A share as percent, or a difference of shares as percentage points. */
export function percent(value: number, digits = 2): string {
  return (value * 100).toFixed(digits);
}

/** A share as percent, or nothing. */
export function percentOr(value: Rational | null): string {
  return value === null ? NONE : percent(value.value);
}

/** An exact fraction as it is. */
export function fraction(value: Rational): string {
  return `${value.numerator}/${value.denominator}`;
}

/** Two ends in percentage points. */
export function span({ low, high }: { readonly low: number; readonly high: number }): string {
  return `[${percent(low)}, ${percent(high)}]`;
}

/** A Markdown table. The first column names the row; the others are numbers unless told otherwise. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  others: "---" | "---:" = "---:",
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : others))), ...rows.map(line)].join("\n");
}
