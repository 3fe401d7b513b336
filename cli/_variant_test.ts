import assert from "node:assert/strict";
import { variantOf } from "./_variant.ts";

Deno.test("variantOf() takes a letter or a name and suggests what is near", () => {
  assert.equal(variantOf("f").algorithm, "sequence_ppo");
  assert.throws(() => variantOf("B-BC-Maks"), { code: "unknown_variant", message: /did you mean B-BC-Mask/ });
  assert.throws(() => variantOf("G"), { code: "unknown_variant" });
});
