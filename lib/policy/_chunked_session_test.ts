import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { ChunkedSession, type GraphEvaluator } from "./_chunked_session.ts";
import type { PolicyCode } from "./_error.ts";
import { randomActorCritic, randomEstimator } from "./_random_network.ts";
import { admit } from "./admission.ts";
import { writeExactNetwork } from "./exact_graph.ts";
import { openReference } from "./reference_runtime.ts";
import type { PolicyBatch, PolicySession } from "./runtime.ts";

const SIZES = { stateWidth: 4, actionWidth: 3, hidden: 2 };
const ACTOR = admit(writeExactNetwork(randomActorCritic(SIZES, new RandomStream(1))));
const ESTIMATOR = admit(writeExactNetwork(randomEstimator(4, new RandomStream(2))));

function batch(parts: Partial<PolicyBatch> = {}): PolicyBatch {
  return {
    state: new Float64Array(8),
    action: new Float64Array(9),
    segment: Int32Array.of(0, 1, 1),
    ...parts,
  };
}

const refused = (session: PolicySession, parts: PolicyBatch, code: PolicyCode) =>
  assert.rejects(session.logits(parts), (error) => hasCode(error, code));

Deno.test("PolicySession.logits() refuses batches whose parts do not fit", async () => {
  using session = openReference(ACTOR);
  await session.logits(batch());
  await refused(session, batch({ state: new Float64Array(7) }), "bad_batch");
  await refused(session, batch({ action: new Float64Array(8) }), "bad_batch");
  await refused(session, batch({ segment: Int32Array.of(0, 1, 2) }), "bad_batch");
  await refused(session, batch({ segment: Int32Array.of(-1, 0, 1) }), "bad_batch");
  await refused(session, batch({ segment: Int32Array.of(1, 0, 1) }), "bad_batch");
  using estimator = openReference(ESTIMATOR);
  await refused(estimator, batch({ action: new Float64Array(0) }), "bad_batch");
  await refused(estimator, batch({ action: new Float64Array(3), segment: new Int32Array(0) }), "bad_batch");
});

Deno.test("PolicySession.logits() refuses features that the proof does not cover", async () => {
  using session = openReference(ACTOR);
  for (const value of [0.5, 8192, -8192, NaN, Infinity, -Infinity]) {
    const state = new Float64Array(8);
    state[5] = value;
    await refused(session, batch({ state }), "feature_out_of_range");
    const action = new Float64Array(9);
    action[8] = value;
    await refused(session, batch({ action }), "feature_out_of_range");
  }
  const edge = new Float64Array(8).fill(-8191);
  await session.logits(batch({ state: edge }));
});

Deno.test("PolicySession.logits() refuses calls that overlap or come after disposal", async () => {
  let answer: (() => void) | undefined;
  let released = 0;
  const evaluator: GraphEvaluator = {
    evaluate: ({ candidates, decisions }) =>
      new Promise((resolve) =>
        answer = () => resolve({ logits: new Float64Array(candidates), values: new Float64Array(decisions) })
      ),
    release: () => released++,
  };
  const session = new ChunkedSession("reference", ACTOR, evaluator);
  const first = session.logits(batch());
  await refused(session, batch(), "session_busy");
  session[Symbol.dispose]();
  assert.equal(released, 0, "not while a call is running");
  answer?.();
  await first;
  assert.equal(released, 1);
  await refused(session, batch(), "session_closed");
  session[Symbol.dispose]();
  assert.equal(released, 1, "released once");
});
