import assert from "node:assert/strict";
import fc from "fast-check";
import { minimumDetectableEffect, powerAt } from "./detectable_effect.ts";

const NORMAL = { alpha: 0.05, degreesOfFreedom: null };

Deno.test("minimumDetectableEffect() is 2.8015852181129683 standard errors at 5 % and 80 %", () => {
  // 1.959963984540054 + 0.8416212335729143
  const actual = minimumDetectableEffect({ ...NORMAL, standardError: 1, power: 0.8 });
  assert.ok(Math.abs(actual - 2.8015852181129683) < 1e-13, `${actual}`);
  const airline = minimumDetectableEffect({
    ...NORMAL,
    standardError: Math.SQRT2 * 0.05221619109284877,
    power: 0.8,
  });
  assert.ok(Math.abs(airline - 0.20688262791994602) < 1e-13, `${airline}`);
});

Deno.test("minimumDetectableEffect() is larger where the standard error is estimated from five seeds", () => {
  const actual = minimumDetectableEffect({ standardError: 1, alpha: 0.05, power: 0.8, degreesOfFreedom: 4 });
  // More than t at 0.975 plus z at 0.8, for the estimate errs too.
  assert.ok(actual > 2.7764 + 0.8416 && actual < 3.9, `${actual}`);
});

Deno.test("powerAt() inverts minimumDetectableEffect(), by either reference", () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1e-4, max: 0.5, noNaN: true }),
      fc.constantFrom(0.5, 0.8, 0.95),
      fc.constantFrom(null, 2, 4, 7.5, 400),
      (standardError, power, degreesOfFreedom) => {
        const design = { standardError, alpha: 0.05, degreesOfFreedom };
        const effect = minimumDetectableEffect({ ...design, power });
        assert.ok(Math.abs(powerAt(effect, design) - power) < 1e-9);
        assert.equal(powerAt(-effect, design), powerAt(effect, design));
      },
    ),
    { numRuns: 20 },
  );
});

Deno.test("powerAt() of no effect is half the error rate: the other half would be an effect the wrong way round", () => {
  assert.ok(Math.abs(powerAt(0, { ...NORMAL, standardError: 0.1 }) - 0.025) < 1e-14);
});

Deno.test("powerAt() of a difference that never varies is certainty, and of none at all nothing", () => {
  assert.equal(powerAt(0.01, { ...NORMAL, standardError: 0 }), 1);
  assert.equal(powerAt(0, { ...NORMAL, standardError: 0 }), 0);
  assert.equal(minimumDetectableEffect({ ...NORMAL, standardError: 0, power: 0.8 }), 0);
});
