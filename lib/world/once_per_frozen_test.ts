import assert from "node:assert/strict";
import { frozenCopy } from "./frozen_copy.ts";
import { oncePerFrozen } from "./once_per_frozen.ts";

Deno.test("oncePerFrozen() makes one result of a deeply frozen value, and a fresh one of any other", () => {
  let made = 0;
  const count = oncePerFrozen((value: { inner: number[] }) => ({ sum: value.inner[0]!, nth: ++made }));
  const frozen = frozenCopy({ inner: [1] });
  assert.equal(count(frozen), count(frozen));
  assert.equal(made, 1);
  assert.notEqual(count(frozenCopy({ inner: [1] })), count(frozen));
  const shallow = Object.freeze({ inner: [1] });
  assert.equal(count(shallow).sum, 1);
  shallow.inner[0] = 2;
  assert.equal(count(shallow).sum, 2);
});
