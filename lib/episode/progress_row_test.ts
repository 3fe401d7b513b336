import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { prefixLengths } from "./progress_row.ts";

Deno.test("prefixLengths() are 0, a third, two thirds and the last step but one", () => {
  assert.deepEqual(prefixLengths(6), [0, 2, 4, 5]);
  assert.deepEqual(prefixLengths(10), [0, 3, 6, 9]);
  assert.deepEqual(prefixLengths(15), [0, 5, 10, 14]);
  for (const steps of [1, 2, 3]) {
    assert.throws(() => prefixLengths(steps), (error) => hasCode(error, "bad_prefixes"));
  }
});
