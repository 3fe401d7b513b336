import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import { progressPotential, shapingReward } from "./shaping.ts";

Deno.test("progressPotential() zeroes the potential after the last step", () => {
  assert.deepEqual(progressPotential(0.4, null), {
    phi_raw: 0.4,
    phi_next_raw: null,
    phi_next_used: 0,
    terminal_zeroed: true,
  });
  assert.equal(progressPotential(0.4, 0.6).phi_next_used, 0.6);
});

Deno.test("shapingReward() keeps fractions with whole-number inputs: 0.5 (1 x 1 - 0) = 0.5", () => {
  assert.equal(shapingReward(progressPotential(0, 1), { beta: 0.5, gamma: 1 }), 0.5);
});

Deno.test("shapingReward() telescopes to -beta Phi(s0) over an episode", () => {
  const phi = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(fc.property(fc.array(phi, { minLength: 1, maxLength: 19 }), (phis) => {
    const [beta, gamma] = [0.35, 0.99];
    let discount = 1;
    let sum = 0;
    phis.forEach((value, t) => {
      sum += discount * shapingReward(progressPotential(value, phis[t + 1] ?? null), { beta, gamma });
      discount *= gamma;
    });
    assert.ok(Math.abs(sum + beta * phis[0]!) < 1e-12);
  }));
});

Deno.test("progressPotential() of an estimated terminal state is used as it is", () => {
  assert.deepEqual(progressPotential(0.25, 0.75), {
    phi_raw: 0.25,
    phi_next_raw: 0.75,
    phi_next_used: 0.75,
    terminal_zeroed: false,
  });
});

Deno.test("shapingReward() refuses a negative weight, a discount outside [0, 1] and infinite potentials", () => {
  const refused = (phi: number, beta: number, gamma: number) =>
    assert.throws(
      () => shapingReward(progressPotential(phi, 0), { beta, gamma }),
      (e) => hasCode(e, "bad_shaping"),
    );
  refused(0, -1, 0.9);
  refused(0, 1, 1.1);
  refused(0, 1, NaN);
  refused(Infinity, 1, 0.9);
});
