import { evaluateError } from "./_error.ts";

/**
 * A metric as an exact fraction, in lowest terms with a positive denominator. Both numbers are safe integers, so
 * `value`, the one division, is the correctly rounded quotient and the same on every machine.
 */
export interface Rational {
  readonly numerator: number;
  readonly denominator: number;
  readonly value: number;
}

function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}

/**
 * numerator / denominator, reduced.
 *
 * @throws TracewrightError "metric_overflow" if either reduced number leaves the safe integers; "zero_denominator"
 */
export function rational(numerator: bigint | number, denominator: bigint | number): Rational {
  let n = BigInt(numerator);
  let d = BigInt(denominator);
  if (d === 0n) {
    throw evaluateError("zero_denominator", { numerator: String(n) });
  }
  if (d < 0n) [n, d] = [-n, -d];
  const common = n === 0n ? d : gcd(n, d);
  n /= common;
  d /= common;
  const limit = BigInt(Number.MAX_SAFE_INTEGER);
  if (n > limit || n < -limit || d > limit) {
    throw evaluateError("metric_overflow", {
      expected: "numerator and denominator below 2^53",
      actual: `${n} / ${d}`,
    });
  }
  return { numerator: Number(n), denominator: Number(d), value: Number(n) / Number(d) };
}

/** a - b, exactly. */
export function subtract(a: Rational, b: Rational): Rational {
  const [an, ad, bn, bd] = [
    BigInt(a.numerator),
    BigInt(a.denominator),
    BigInt(b.numerator),
    BigInt(b.denominator),
  ];
  return rational(an * bd - bn * ad, ad * bd);
}

/** The unweighted mean of fractions, exactly. */
export function meanOf(parts: readonly Rational[]): Rational {
  let n = 0n;
  let d = 1n;
  for (const part of parts) {
    n = n * BigInt(part.denominator) + BigInt(part.numerator) * d;
    d *= BigInt(part.denominator);
    const common = gcd(n, d);
    if (common > 1n) [n, d] = [n / common, d / common];
  }
  return rational(n, d * BigInt(parts.length));
}
