import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { raggedBatch } from "./_ragged_batch.ts";
import { ActorCritic } from "./actor_critic.ts";
import { KernelArena } from "./arena.ts";
import { ProgressEstimator } from "./estimator.ts";
import {
  actorCriticAgreement,
  estimatorAgreement,
  exportActorCritic,
  exportEstimator,
} from "./export_policy.ts";

const SHAPE = { stateWidth: 16, actionWidth: 16, hidden: 24 };

Deno.test("exportActorCritic() gives a graph that decides like the float network", async () => {
  using arena = new KernelArena();
  const network = new ActorCritic(arena, SHAPE);
  const stream = new RandomStream(1);
  network.initialise(stream);
  network.parameters.set(network.parameters.get().map((x) => x + 0.1 * stream.normal()));
  const batch = raggedBatch({
    sizes: Array.from({ length: 60 }, () => 1 + stream.integer(9)),
    ...SHAPE,
    stream,
  });
  const graph = exportActorCritic(network);
  assert.equal(graph.kind, "actor_critic");
  const agreement = await actorCriticAgreement({ network, graph, batch });
  assert.equal(agreement.states, 60);
  assert.ok(agreement.agreeing >= 59, String(agreement.agreeing));
  for (const error of [agreement.logit_error, agreement.value_error!]) {
    // activations are cut to 2^-10; a handful of layers keep that under a few hundredths
    assert.ok(error.max < 0.03 && error.rms <= error.max && error.rms > 0, JSON.stringify(error));
  }
  // the parts are where the exact network expects them: the wrong weight in one place would show
  network.parameters.set(network.parameters.get().map((x, i) => i === 40 ? x + 3 : x));
  const moved = await actorCriticAgreement({ network, graph, batch });
  assert.ok(moved.logit_error.max > 10 * agreement.logit_error.max);
});

Deno.test("exportEstimator() gives a graph with the float estimator's logits", async () => {
  using arena = new KernelArena();
  const estimator = new ProgressEstimator(arena, 16);
  const stream = new RandomStream(2);
  estimator.initialise(stream);
  const states = Float32Array.from({ length: 40 * 16 }, () => (stream.integer(2049) - 1024) / 1024);
  const graph = exportEstimator(estimator);
  const agreement = await estimatorAgreement({ estimator, graph, states });
  assert.equal(agreement.states, 40);
  assert.ok(agreement.agreeing >= 39 && agreement.logit_error.max < 0.03, JSON.stringify(agreement));
  assert.equal(agreement.value_error, null);
});

Deno.test("exportActorCritic() refuses a weight of 8 or more", () => {
  using arena = new KernelArena();
  const network = new ActorCritic(arena, SHAPE);
  network.parameters.set(network.parameters.get().with(0, 8));
  assert.throws(() => exportActorCritic(network), (e) => hasCode(e, "weight_out_of_range"));
});
