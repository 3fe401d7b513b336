import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { outcomesOf, reversed } from "./_example_outcomes.ts";
import type { Outcomes } from "./paired_comparison.ts";
import { pairedDifference, pairedTable } from "./paired_table.ts";

const TREATMENT = outcomesOf({ 17: "+++-", 29: "+++-" });
const BASELINE = outcomesOf({ 17: "--+-", 29: "-+-+" });

Deno.test("pairedTable() holds every difference and its sums", () => {
  const table = pairedTable({ treatment: TREATMENT, baseline: BASELINE });
  assert.deepEqual(table.rows.map((row) => [...row]), [[1, 1, 0, 0], [1, 0, 1, -1]]);
  assert.deepEqual([...table.seedSums], [2, 1]);
  assert.deepEqual([...table.caseSums], [2, 1, 1, -1]);
  assert.equal(table.total, 3);
  assert.deepEqual(pairedDifference(table), { numerator: 3, denominator: 8, value: 0.375 });
});

Deno.test("pairedTable() does not depend on the order of seeds or cases", () => {
  assert.deepEqual(
    pairedTable({ treatment: reversed(TREATMENT), baseline: BASELINE }),
    pairedTable({ treatment: TREATMENT, baseline: reversed(BASELINE) }),
  );
});

Deno.test("pairedTable() refuses what has no pair", () => {
  const refused = (baseline: Outcomes) =>
    assert.throws(
      () => pairedTable({ treatment: TREATMENT, baseline }),
      (error) => hasCode(error, "unpaired_outcomes"),
    );
  refused(outcomesOf({ 17: "--+-" }));
  refused(outcomesOf({ 17: "--+-", 30: "-+-+" }));
  refused(outcomesOf({ 17: "--+-", 29: "-+-" }));
  refused(new Map([[17, BASELINE.get(17)!], [29, new Map([...BASELINE.get(29)!, ["c3", 1 as never]])]]));
  refused(
    new Map([[17, BASELINE.get(17)!], [29, new Map([...BASELINE.get(29)!].map(([, v], i) => [`x${i}`, v]))]]),
  );
  const nothing = new Map([[17, new Map<string, boolean>()]]);
  assert.throws(
    () => pairedTable({ treatment: nothing, baseline: nothing }),
    (error) => hasCode(error, "unpaired_outcomes"),
  );
});
