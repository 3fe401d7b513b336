import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import { sequenceMinibatches } from "./sequence_minibatch.ts";

Deno.test("sequenceMinibatches() of the full experiment: one by protocol, as many as action PPO when matched", () => {
  const full = { episodes: 128, decisions: 1578, minibatchSize: 512 }; // the published 12,626 steps over 8 iterations
  assert.equal(sequenceMinibatches("protocol", full), 1);
  assert.equal(sequenceMinibatches("matched", full), 4);
  assert.equal(sequenceMinibatches("protocol", { ...full, minibatchSize: 32 }), 4);
});

Deno.test("sequenceMinibatches() is at least 1 and never more than there are episodes", () => {
  const size = fc.integer({ min: 1, max: 1000 });
  fc.assert(fc.property(size, fc.nat(5000), size, (episodes, more, minibatchSize) => {
    const decisions = episodes + more;
    for (const kind of ["matched", "protocol"] as const) {
      const pieces = sequenceMinibatches(kind, { episodes, decisions, minibatchSize });
      assert.ok(Number.isInteger(pieces) && pieces >= 1 && pieces <= episodes);
    }
  }));
});

Deno.test("sequenceMinibatches() refuses sizes that are none", () => {
  for (const change of [{ episodes: 0 }, { decisions: 1.5 }, { minibatchSize: NaN }]) {
    assert.throws(
      () => sequenceMinibatches("matched", { episodes: 8, decisions: 80, minibatchSize: 16, ...change }),
      (error) => hasCode(error, "bad_option"),
    );
  }
});
