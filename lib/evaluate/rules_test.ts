import assert from "node:assert/strict";
import { RULES } from "./rules.ts";

Deno.test("RULES: names and keys differ, and only the oracle sees what policies do not", () => {
  for (const field of ["id", "key"] as const) {
    assert.equal(new Set(RULES.map((rule) => rule[field])).size, RULES.length);
  }
  assert.deepEqual(RULES.filter(({ sees }) => sees === "hidden_plan").map(({ key }) => key), ["oracle"]);
});
