import assert from "node:assert/strict";
import { outcomesOf, randomOutcomes, reversed } from "./_example_outcomes.ts";
import { crossedT } from "./crossed_t.ts";
import { pairedTable, sumTable } from "./paired_table.ts";

function near(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) < 1e-9, `${actual} is not ${expected}`);
}

Deno.test("crossedT() of two seeds and two cases equals the computation by hand", () => {
  // Differences 1 0 | 1 1: mean 3/4. Seed means 1/2, 1: 2 (1/16 + 1/16) / 1 = 1/4. Case means 1, 1/2: 1/4 as well.
  // Residuals 1/4 -1/4 | -1/4 1/4: 4/16 / 1 = 1/4. Variance (1/4 + 0) / 4, so the standard error is 1/4, with
  // (1/4)^2 / ((1/4)^2 / 1) = 1 degree of freedom, for which t = tan(0.475 pi) and P(|T| > 3) = 1 - 2 atan(3) / pi.
  const result = crossedT(
    pairedTable({ treatment: outcomesOf({ 1: "++", 2: "++" }), baseline: outcomesOf({ 1: "-+", 2: "--" }) }),
    0.95,
  )!;
  const quarter = { numerator: 1, denominator: 4, value: 0.25 };
  assert.deepEqual(result.mean_square, { seeds: quarter, cases: quarter, residual: quarter });
  assert.deepEqual([result.standard_error, result.degrees_of_freedom], [0.25, 1]);
  const margin = Math.tan(0.475 * Math.PI) / 4;
  near(result.low, 0.75 - margin);
  near(result.high, 0.75 + margin);
  near(result.p_value, 1 - 2 * Math.atan(3) / Math.PI);
});

Deno.test("crossedT() is Student's interval over seed means where cases add nothing", () => {
  // Seed means 0, 1/2, 1/2, 1 over four cases; residuals outweigh the cases.
  const table = sumTable({
    seeds: [1, 2, 3, 4],
    cases: ["a", "b"],
    rows: [[0, 0], [1, 0], [0, 1], [1, 1]].map((row) => Int8Array.from(row)),
  });
  const result = crossedT(table, 0.95)!;
  const deviation = Math.sqrt((0.25 + 0.25) / 3);
  near(result.standard_error, deviation / 2);
  near(result.degrees_of_freedom, 3);
  near(result.high, 0.5 + 3.182446305284263 * deviation / 2);
});

Deno.test("crossedT() has many degrees of freedom where cases are what varies", () => {
  const cases = Array.from({ length: 200 }, (_, c) => String(c));
  const row = Int8Array.from(cases, (_, c) => (c % 3) - 1);
  const result = crossedT(sumTable({ seeds: [1, 2, 3], cases, rows: [row, row, row] }), 0.95)!;
  assert.equal(result.mean_square.seeds.value, 0);
  assert.equal(result.mean_square.residual.value, 0);
  near(result.degrees_of_freedom, 199);
});

Deno.test("crossedT() never has fewer degrees of freedom than seeds - 1, however little seeds differ", () => {
  // Seed sums 14 15 13 15 13 of 40: between seeds 1/40, and cases above the residual by less than 1/1000.
  const [treatment, baseline] = [{ name: "B", rate: 0.45 }, { name: "A", rate: 0.1 }].map((one) =>
    randomOutcomes({ ...one, seeds: [17, 29, 43, 71, 101], cases: 40 })
  );
  const table = pairedTable({ treatment: treatment!, baseline: baseline! });
  const result = crossedT(table, 0.95)!;
  assert.deepEqual([...table.seedSums], [14, 15, 13, 15, 13]);
  assert.equal(result.degrees_of_freedom, 4);
  assert.ok(result.high - result.low < 0.1);
});

Deno.test("crossedT() is not certain because seeds happen to agree", () => {
  // Every seed wins one case, each another one: M_seeds = M_cases = 0, M_residual = (3 - 1) / 4 = 1/2.
  const table = sumTable({
    seeds: [1, 2, 3],
    cases: ["a", "b", "c"],
    rows: [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((row) => Int8Array.from(row)),
  });
  const { standard_error, degrees_of_freedom, low, high, p_value } = crossedT(table, 0.95)!;
  near(standard_error, Math.sqrt(1 / 2 / 9));
  assert.equal(degrees_of_freedom, 2);
  assert.ok(low < 0 && high > 0 && p_value > 0.05);
});

Deno.test("crossedT() of a variant with itself is exactly no difference; of a constant one, certainty", () => {
  const same = outcomesOf({ 1: "+-+", 2: "--+" });
  const none = crossedT(pairedTable({ treatment: same, baseline: same }), 0.95)!;
  assert.deepEqual([none.low, none.high, none.p_value, none.standard_error], [0, 0, 1, 0]);
  const always = crossedT(
    pairedTable({ treatment: outcomesOf({ 1: "++", 2: "++" }), baseline: outcomesOf({ 1: "--", 2: "--" }) }),
    0.95,
  )!;
  assert.deepEqual([always.low, always.high, always.p_value], [1, 1, 0]);
});

Deno.test("crossedT() is antisymmetric and does not depend on the order of rows", () => {
  const [a, b] = ["a", "b"].map((name) =>
    randomOutcomes({ name, rate: 0.5, seeds: [1, 2, 3, 4, 5], cases: 30 })
  );
  const forth = crossedT(pairedTable({ treatment: a!, baseline: b! }), 0.95)!;
  const back = crossedT(pairedTable({ treatment: reversed(b!), baseline: a! }), 0.95)!;
  assert.deepEqual([back.low, back.high, back.p_value], [-forth.high, -forth.low, forth.p_value]);
});

Deno.test("crossedT() is not made from one seed or one case", () => {
  const one = outcomesOf({ 1: "+-" });
  assert.equal(crossedT(pairedTable({ treatment: one, baseline: one }), 0.95), null);
  const single = outcomesOf({ 1: "+", 2: "-" });
  assert.equal(crossedT(pairedTable({ treatment: single, baseline: single }), 0.95), null);
});
