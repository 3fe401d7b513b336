import { deepEqual } from "node:assert/strict";
import { foldersOf } from "./folders_of.ts";

Deno.test("foldersOf() gives every folder on the way to each name", () => {
  deepEqual([...foldersOf(["a", "b/c/d", "b/e"])], ["b", "b/c"]);
});
