import assert from "node:assert/strict";
import { CANONICAL_MATRIX } from "../evaluate/canonical_matrix.ts";
import { findVariant, variantLetter, VARIANTS } from "./config_variants.ts";

Deno.test("VARIANTS is the protocol's frozen matrix", () => {
  assert.deepEqual(
    VARIANTS.map((v) => [variantLetter(v.name), v.algorithm, v.progress_reward, v.action_mask]),
    [
      ["A", "bc", false, false],
      ["B", "bc", false, true],
      ["C", "action_ppo", false, false],
      ["D", "action_ppo", false, true],
      ["E", "action_ppo", true, true],
      ["F", "sequence_ppo", true, true],
    ],
  );
});

Deno.test("findVariant() takes a letter or a name in either case, and nothing else", () => {
  for (const text of ["E", "e", "E-PPO-Progress-Mask", "e-ppo-progress-mask"]) {
    assert.equal(findVariant(text)?.name, "E-PPO-Progress-Mask");
  }
  for (const text of ["", "G", "E-PPO", "EE"]) assert.equal(findVariant(text), undefined);
});

Deno.test("VARIANTS and the matrix that a claim is held against are two copies of one thing", () => {
  assert.deepEqual(CANONICAL_MATRIX.variants, VARIANTS);
});
