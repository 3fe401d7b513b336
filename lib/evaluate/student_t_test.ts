import assert from "node:assert/strict";
import { normalCdf, normalQuantile } from "./normal_distribution.ts";
import { nonCentralUpperTail, studentCriticalValue, studentTwoSidedTail } from "./student_t.ts";

function near(actual: number, { expected, relative }: { expected: number; relative: number }): void {
  assert.ok(Math.abs(actual - expected) <= relative * Math.abs(expected), `${actual} is not ${expected}`);
}

/** P(|T| > t) in closed form, with s = t / sqrt(v + t^2) and c^2 = v / (v + t^2): Abramowitz and Stegun 26.7.3 and 26.7.4. */
function closedForm(t: number, v: 1 | 2 | 3 | 4): number {
  const angle = Math.atan(t / Math.sqrt(v));
  const [s, c] = [Math.sin(angle), Math.cos(angle)];
  if (v === 1) return 1 - 2 / Math.PI * angle;
  if (v === 2) return 1 - s;
  if (v === 3) return 1 - 2 / Math.PI * (angle + s * c);
  return 1 - s * (1 + c * c / 2);
}

Deno.test("studentTwoSidedTail() equals the closed forms for 1 to 4 degrees of freedom", () => {
  for (const v of [1, 2, 3, 4] as const) {
    for (const t of [0.01, 0.5, 1, 2, 2.7764451051977987, 6, 20]) {
      near(studentTwoSidedTail(t, v), { expected: closedForm(t, v), relative: 1e-10 });
    }
  }
  assert.equal(studentTwoSidedTail(0, 7), 1);
});

Deno.test("studentTwoSidedTail() nears the normal tail with many degrees of freedom", () => {
  near(studentTwoSidedTail(1.96, 1e7), { expected: 2 * normalCdf(-1.96), relative: 1e-6 });
});

Deno.test("studentCriticalValue() gives the table's values", () => {
  for (
    const [v, expected] of [
      [1, 12.706204736432095],
      [2, 4.302652729911275],
      [4, 2.7764451051977987],
      [9, 2.2621571627409915],
      [49, 2.0095752371292392],
      [1e7, 1.959964221767], // z + (z^3 + z) / (4 v): Abramowitz and Stegun 26.7.5
    ] as const
  ) near(studentCriticalValue(0.05, v), { expected, relative: 1e-10 });
});

Deno.test("studentCriticalValue() with fractional degrees of freedom lies between its neighbours", () => {
  const [four, between, five] = [4, 4.5, 5].map((v) => studentCriticalValue(0.05, v));
  assert.ok(four! > between! && between! > five!);
});

/**
 * Two degrees of freedom: W^2 is exponential, so P(Z + d > t W) = Phi(d) - sqrt(v) exp(-d^2 / (2 (1 + s))) Phi(m / sqrt(v)),
 * with s = t^2 / 2, v = s / (1 + s), m = d v, by completing the square.
 */
function twoDegrees(critical: number, shift: number): number {
  const s = critical * critical / 2;
  const v = s / (1 + s);
  const rest = Math.sqrt(v) * Math.exp(-shift * shift / (2 * (1 + s))) * normalCdf(shift * v / Math.sqrt(v));
  return normalCdf(shift) - rest;
}

Deno.test("nonCentralUpperTail() equals the closed form for 2 degrees of freedom", () => {
  for (const shift of [0, 1, 3, 5.65]) {
    const critical = 4.302652729911275;
    const actual = nonCentralUpperTail({ critical, shift, degreesOfFreedom: 2 });
    assert.ok(Math.abs(actual - twoDegrees(critical, shift)) < 1e-7, `${actual}`);
  }
});

Deno.test("nonCentralUpperTail() is half the error rate without a shift, and the normal power with many degrees", () => {
  for (const degreesOfFreedom of [1, 1.5, 4, 49, 1000]) {
    const critical = studentCriticalValue(0.05, degreesOfFreedom);
    near(nonCentralUpperTail({ critical, shift: 0, degreesOfFreedom }), { expected: 0.025, relative: 1e-6 });
  }
  const critical = studentCriticalValue(0.05, 1e6);
  const actual = nonCentralUpperTail({ critical, shift: 2, degreesOfFreedom: 1e6 });
  near(actual, { expected: normalCdf(2 - normalQuantile(0.975)), relative: 1e-5 });
});
