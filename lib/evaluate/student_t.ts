import { exp, ln } from "../core/numerics.ts";
import { normalCdf } from "./normal_distribution.ts";

/** ln(2 pi) / 2, correctly rounded. */
const HALF_LN_TWO_PI = 0.9189385332046728;
/** From here on the six terms of Stirling's series below leave less than 1e-17. */
const STIRLING_FROM = 16;

/** ln Gamma(x) for x > 0: Gamma(x + n) = x (x + 1) ... Gamma(x), then Stirling's series (DLMF 5.11.1). */
function lnGamma(x: number): number {
  let product = 1;
  while (x < STIRLING_FROM) {
    product *= x;
    x += 1;
  }
  const y = 1 / (x * x);
  const series = (1 / 12 -
    y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * 691 / 360360))))) / x;
  return (x - 0.5) * ln(x) - x + HALF_LN_TWO_PI + series - ln(product);
}

/** The continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22). */
function betaFraction(x: number, { a, b }: { a: number; b: number }): number {
  const tiny = 1e-300;
  const held = (value: number) => (value > -tiny && value < tiny ? tiny : value);
  let c = 1;
  let d = 1 / held(1 - (a + b) * x / (a + 1));
  let result = d;
  for (let m = 1; m <= 100_000; m++) {
    const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / held(1 + even * d);
    c = held(1 + even / c);
    result *= d * c;
    const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / held(1 + odd * d);
    c = held(1 + odd / c);
    result *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return result;
}

/**
 * P(|T| > t) for Student's t, whole degrees of freedom or not: the incomplete beta function I_x(v/2, 1/2) at
 * x = v / (v + t^2) (Abramowitz and Stegun 26.7.1), with the project's own `exp` and `ln`.
 *
 * @param t at least 0
 * @param degreesOfFreedom above 0
 */
export function studentTwoSidedTail(t: number, degreesOfFreedom: number): number {
  if (t === 0) return 1;
  const [a, b] = [degreesOfFreedom / 2, 0.5];
  const square = t * t;
  const x = degreesOfFreedom / (degreesOfFreedom + square);
  const rest = square / (degreesOfFreedom + square);
  if (x === 0) return 0;
  const front = exp(a * ln(x) + b * ln(rest) + lnGamma(a + b) - lnGamma(a) - lnGamma(b));
  return x < (a + 1) / (a + b + 2)
    ? front * betaFraction(x, { a, b }) / a
    : 1 - front * betaFraction(rest, { a: b, b: a }) / b;
}

/**
 * The t that |T| exceeds with chance `alpha`, by bisection of {@link studentTwoSidedTail}.
 *
 * @param alpha in (0, 1)
 */
export function studentCriticalValue(alpha: number, degreesOfFreedom: number): number {
  let low = 0;
  let high = 1;
  while (studentTwoSidedTail(high, degreesOfFreedom) > alpha) high *= 2;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return high;
    if (studentTwoSidedTail(middle, degreesOfFreedom) > alpha) low = middle;
    else high = middle;
  }
}

/** Simpson panels over the density of the estimated standard error. */
const PANELS = 400;

/**
 * P(T > critical) for the non-central t: (Z + shift) / W, W = sqrt(chi^2_v / v). The chance, over the estimated
 * standard error W, that an effect of `shift` true standard errors passes; the integral over W by Simpson's rule.
 * Source: Johnson, Kotz and Balakrishnan 1995, Continuous Univariate Distributions 2, chapter 31.
 */
export function nonCentralUpperTail(
  { critical, shift, degreesOfFreedom }: {
    readonly critical: number;
    readonly shift: number;
    readonly degreesOfFreedom: number;
  },
): number {
  const half = degreesOfFreedom / 2;
  const constant = ln(2) + half * ln(half) - lnGamma(half);
  const spread = 12 / Math.sqrt(2 * degreesOfFreedom); // twelve standard deviations of W
  const from = Math.sqrt(Math.max(0, 1 - spread));
  const step = (Math.sqrt(1 + spread) - from) / PANELS;
  let sum = 0;
  for (let i = 0; i <= PANELS; i++) {
    const root = from + i * step;
    if (root === 0) continue; // the integrand is 0 there
    const w = root * root;
    const density = exp(constant + (degreesOfFreedom - 1) * ln(w) - half * w * w) * 2 * root;
    const weight = i === 0 || i === PANELS ? 1 : i % 2 === 1 ? 4 : 2;
    sum += weight * density * normalCdf(shift - critical * w);
  }
  return sum * step / 3;
}
