import assert from "node:assert/strict";
import fc from "fast-check";
import { caseSignFlip, SMALLEST_P } from "./case_sign_flip.ts";
import { sumTable } from "./paired_table.ts";

const SETTINGS = { samples: 20_000, seed: 3 };

/** A table of five seeds whose cases have these sums. */
function tableOf(sums: readonly number[]) {
  return sumTable({
    seeds: [0, 1, 2, 3, 4],
    cases: sums.map((_, c) => String(c).padStart(5, "0")),
    rows: [0, 1, 2, 3, 4].map((s) => Int8Array.from(sums, (sum) => s < Math.abs(sum) ? Math.sign(sum) : 0)),
  });
}

Deno.test("caseSignFlip() of 2 and 1 is 2 of 4 by hand: sums 3, 1, -1, -3", () => {
  assert.deepEqual(caseSignFlip(tableOf([2, 1, 0]), SETTINGS), {
    method: "exact",
    p_value: 0.5,
    flipped_cases: 2,
    samples: null,
  });
});

Deno.test("caseSignFlip() with one seed's worth of differences is the exact McNemar test", () => {
  // b = 9, c = 10 of the airline trials: p = 1; b = 8, c = 9 gives 1; b = 7, c = 5: 0.7744140625.
  const mcnemar = (b: number, c: number) =>
    caseSignFlip(
      tableOf([...Array.from({ length: b }, () => -1), ...Array.from({ length: c }, () => 1)]),
      SETTINGS,
    )
      .p_value;
  assert.equal(mcnemar(9, 10), 1);
  assert.equal(mcnemar(7, 5), 0.7744140625);
  assert.ok(Math.abs(mcnemar(96, 181) / 3.66609e-7 - 1) < 1e-5);
  assert.ok(Math.abs(mcnemar(49, 557) / 4.05057e-110 - 1) < 1e-5);
});

Deno.test("caseSignFlip() equals plain enumeration, and halves are exact", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -5, max: 5 }), { minLength: 1, maxLength: 10 }), (sums) => {
      const observed = Math.abs(sums.reduce((a, b) => a + b, 0));
      let extreme = 0;
      for (let flip = 0; flip < 2 ** sums.length; flip++) {
        const sum = sums.reduce((total, d, c) => total + ((flip >> c) & 1 ? -d : d), 0);
        if (Math.abs(sum) >= observed) extreme++;
      }
      assert.equal(caseSignFlip(tableOf(sums), SETTINGS).p_value, extreme / 2 ** sums.length);
    }),
  );
});

Deno.test("caseSignFlip() without any difference is 1", () => {
  assert.equal(caseSignFlip(tableOf([0, 0]), SETTINGS).p_value, 1);
  assert.equal(caseSignFlip(tableOf([3, -3]), SETTINGS).p_value, 1);
});

Deno.test("caseSignFlip() never states a p of zero", () => {
  const result = caseSignFlip(tableOf(Array.from({ length: 1200 }, () => 5)), SETTINGS); // 2 / 2^1200
  assert.deepEqual([result.method, result.p_value], ["exact", SMALLEST_P]);
});

Deno.test("caseSignFlip() samples what it may not enumerate, near the exact value and never below 1 / (n + 1)", () => {
  const sums = Array.from({ length: 100 }, (_, c) => (c % 11) - 4);
  const exact = caseSignFlip(tableOf(sums), SETTINGS);
  const sampled = caseSignFlip(tableOf(sums), { ...SETTINGS, exactWork: 0 });
  assert.deepEqual([exact.method, sampled.method, sampled.samples], ["exact", "monte_carlo", 20_000]);
  const error = Math.sqrt(exact.p_value * (1 - exact.p_value) / 20_000);
  assert.ok(Math.abs(sampled.p_value - exact.p_value) < 4 * error, `${sampled.p_value} ${exact.p_value}`);
  const certain = tableOf(Array.from({ length: 100 }, () => 5));
  assert.equal(caseSignFlip(certain, { ...SETTINGS, samples: 99, exactWork: 0 }).p_value, 0.01);
});
