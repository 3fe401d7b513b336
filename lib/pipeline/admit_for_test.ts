import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { ExampleRun } from "./_example_run.ts";
import { admitFor } from "./admit_for.ts";

const RUN = new ExampleRun();

Deno.test("admitFor() lets a graph behind its own encoder only", async () => {
  const policy = (await RUN.outputs("bc/17"))["policy.onnx"]!;
  const estimator = (await RUN.outputs("progress/17"))["estimator.onnx"]!;
  const [S, D] = [32, 32];
  const own = new FeatureEncoder({ stateWidth: S, actionWidth: D });
  assert.equal(admitFor(own, { kind: "actor_critic", bytes: policy }).kind, "actor_critic");
  assert.equal(admitFor(own, { kind: "estimator", bytes: estimator }).kind, "estimator");
  const refused = (encoder: FeatureEncoder, what: Parameters<typeof admitFor>[1]) =>
    assert.throws(() => admitFor(encoder, what), (error) => hasCode(error, "graph_mismatch"));
  refused(own, { kind: "estimator", bytes: policy });
  refused(own, { kind: "actor_critic", bytes: estimator });
  const wideState = new FeatureEncoder({ stateWidth: 40, actionWidth: D });
  refused(wideState, { kind: "actor_critic", bytes: policy });
  refused(wideState, { kind: "estimator", bytes: estimator });
  const wideAction = new FeatureEncoder({ stateWidth: S, actionWidth: 40 });
  refused(wideAction, { kind: "actor_critic", bytes: policy });
  // An estimator reads no actions.
  assert.equal(admitFor(wideAction, { kind: "estimator", bytes: estimator }).actionWidth, 0);
});
