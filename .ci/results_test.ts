import assert from "node:assert/strict";
import full from "../fixtures/results/full.json" with { type: "json" };
import { type Results, withResults } from "./results.ts";

const README = await Deno.readTextFile(new URL("../README.md", import.meta.url));

Deno.test("the README's result table is the one of the recorded run", () => {
  assert.equal(withResults(README, full as Results), README);
});

Deno.test("withResults() writes what a run says, so that an edited table is seen", () => {
  const edited = {
    ...full,
    rows: full.rows.map((row, i) => (i === 0 ? { ...row, successes: "5000/5000" } : row)),
  };
  assert.notEqual(withResults(README, edited as Results), README);
  assert.throws(() => withResults("no markers", full as Results), /no place/);
});
