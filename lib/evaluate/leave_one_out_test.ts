import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { outcomesOf } from "./_example_outcomes.ts";
import { leaveOneFamilyOut, leaveOneSeedOut } from "./leave_one_out.ts";
import { pairedTable } from "./paired_table.ts";

// Differences 1 1 0 0 | 1 0 1 -1, altogether 3 of 8.
const TABLE = pairedTable({
  treatment: outcomesOf({ 17: "+++-", 29: "+++-" }),
  baseline: outcomesOf({ 17: "--+-", 29: "-+-+" }),
});
const FAMILIES = new Map([["c0", "one"], ["c1", "two"], ["c2", "two"], ["c3", "one"]]);

Deno.test("leaveOneSeedOut() gives the difference of the other seeds", () => {
  assert.deepEqual(leaveOneSeedOut(TABLE), [
    { seed: 17, difference: { numerator: 1, denominator: 4, value: 0.25 } },
    { seed: 29, difference: { numerator: 1, denominator: 2, value: 0.5 } },
  ]);
});

Deno.test("leaveOneFamilyOut() gives the difference of the other families", () => {
  // Family one: 1 + 0 + 1 - 1 = 1 of 4; family two: 1 + 0 + 0 + 1 = 2 of 4.
  assert.deepEqual(leaveOneFamilyOut(TABLE, FAMILIES), [
    { family: "one", cases: 2, difference: { numerator: 1, denominator: 2, value: 0.5 } },
    { family: "two", cases: 2, difference: { numerator: 1, denominator: 4, value: 0.25 } },
  ]);
});

Deno.test("leaveOneSeedOut() and leaveOneFamilyOut() have nothing to say where nothing is left", () => {
  const one = pairedTable({ treatment: outcomesOf({ 1: "+" }), baseline: outcomesOf({ 1: "-" }) });
  assert.deepEqual(leaveOneSeedOut(one), [{ seed: 1, difference: null }]);
  assert.deepEqual(leaveOneFamilyOut(one, FAMILIES), [{ family: "one", cases: 0, difference: null }]);
});

Deno.test("leaveOneFamilyOut() refuses a case without a family", () => {
  assert.throws(
    () => leaveOneFamilyOut(TABLE, new Map([...FAMILIES].slice(1))),
    (error) => hasCode(error, "unknown_family"),
  );
});
