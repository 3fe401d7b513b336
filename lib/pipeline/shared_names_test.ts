import assert from "node:assert/strict";
import { SharedNames } from "./shared_names.ts";

Deno.test("SharedNames.of() gives the text that it is asked for, however often and in whatever order", () => {
  const names = new SharedNames();
  const asked = ["case-1", "case-2", "case-1", "", "__proto__", "case-2", "Case-1", ""];
  assert.deepEqual(asked.map((name) => names.of(name)), asked);
});
