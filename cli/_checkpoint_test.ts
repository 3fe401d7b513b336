import assert from "node:assert/strict";
import { digestOf } from "../lib/core/digest.ts";
import { VARIANTS } from "../lib/pipeline/config_variants.ts";
import { ACTION_SCHEMA, keyOf, type Params } from "../lib/store/action_record.ts";
import type { RecordedAction } from "../lib/store/action_cache.ts";
import { Store } from "../lib/store/store.ts";
import { loadGraph, requireMaker } from "./_checkpoint.ts";
import { TestBed } from "./_test_bed.ts";

const bed = new TestBed();
const digest = digestOf("a policy");

/** An action of the store that made the policy. */
function made(stage: string, params: Params, output = "policy.onnx"): RecordedAction {
  const action = {
    schema: ACTION_SCHEMA,
    stage: { name: stage, version: 1, code: digestOf("code") },
    numerics: [],
    params,
    inputs: {},
  } as const;
  const outputs = { [output]: { digest, size: 8, media_type: "a/b" } };
  return { key: keyOf(action), action, outputs, recorded: 0 };
}

const [A, B, , , E, F] = VARIANTS;
const bc = made("bc", { seed: 17 });
const ppoE = made("ppo", { seed: 17, algorithm: "action_ppo", action_mask: true, progress_reward: true });

Deno.test("requireMaker() refuses a checkpoint of another variant or seed, the shared cloned one too", () => {
  const refused = { code: "wrong_variant" };
  for (const variant of [A, B]) {
    requireMaker(digest, { variant, seed: 17 }, [bc]);
    assert.throws(() => requireMaker(digest, { variant, seed: 17 }, [ppoE]), refused);
  }
  requireMaker(digest, { variant: E, seed: 17 }, [ppoE]);
  assert.throws(() => requireMaker(digest, { variant: E, seed: 17 }, [bc]), refused);
  assert.throws(() => requireMaker(digest, { variant: F, seed: 17 }, [ppoE]), refused);
  assert.throws(() => requireMaker(digest, { variant: E, seed: 18 }, [ppoE]), refused);
  requireMaker(digest, { variant: E }, [ppoE]);
});

Deno.test("requireMaker() accepts what the store does not know, and what any known maker fits", () => {
  requireMaker(digestOf("another policy"), { variant: E, seed: 17 }, [bc]);
  requireMaker(digest, { variant: E, seed: 17 }, [bc, ppoE]);
  requireMaker(digest, { variant: E, seed: 17 }, [made("bc", { seed: 17 }, "training.json")]);
  const estimator = made("progress", { seed: 17 }, "estimator.onnx");
  requireMaker(digest, { variant: E, seed: 17 }, [estimator]);
  assert.throws(() => requireMaker(digest, { variant: E, seed: 18 }, [estimator]), { code: "wrong_variant" });
});

Deno.test("loadGraph() refuses a prefix of more than one blob", () => {
  using store = Store.open(bed.store);
  // Among a few hundred texts, two have hashes that begin with the same four digits.
  const seen = new Map<string, string>();
  for (let i = 0;; i++) {
    const prefix = digestOf(`text ${i}`).slice(7, 11);
    const other = seen.get(prefix);
    if (other !== undefined) {
      for (const text of [other, `text ${i}`]) store.blobs.put(new TextEncoder().encode(text));
      const request = {
        option: "--checkpoint",
        kind: "actor_critic",
        stateWidth: 64,
        actionWidth: 64,
      } as const;
      assert.throws(() => loadGraph({ ...request, hidden: 48, reference: prefix }, store), {
        code: "ambiguous_checkpoint",
      });
      return;
    }
    seen.set(prefix, `text ${i}`);
  }
});
