import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { ActorCritic } from "../learn/actor_critic.ts";
import { KernelArena } from "../learn/arena.ts";
import { readCheckpoint } from "../learn/checkpoint.ts";
import { ProgressEstimator } from "../learn/estimator.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { ESTIMATOR_HIDDEN } from "../policy/exact_network.ts";
import { actorCriticCheckpoint, estimatorCheckpoint, restoreActorCritic } from "./checkpoints.ts";

const WIDTHS = { stateWidth: 32, actionWidth: 32 };
const ENCODER = new FeatureEncoder(WIDTHS);

function network(
  arena: KernelArena,
  { hidden = 16, ...widths }: Partial<typeof WIDTHS & { hidden: number }> = {},
) {
  const network = new ActorCritic(arena, { ...WIDTHS, ...widths, hidden });
  network.initialise(new RandomStream(hidden, "test"));
  return network;
}

Deno.test("restoreActorCritic() puts back what actorCriticCheckpoint() kept", () => {
  using arena = new KernelArena();
  const trained = network(arena);
  const bytes = actorCriticCheckpoint(trained, ENCODER);
  const fresh = new ActorCritic(arena, { ...WIDTHS, hidden: 16 });
  restoreActorCritic(fresh, bytes, ENCODER);
  assert.deepEqual(fresh.parameters.get(), trained.parameters.get());
  assert.deepEqual(actorCriticCheckpoint(fresh, ENCODER), bytes);
});

Deno.test("restoreActorCritic() refuses a checkpoint of another network, encoder or kind", () => {
  using arena = new KernelArena();
  const bytes = actorCriticCheckpoint(network(arena), ENCODER);
  const refused = (target: ActorCritic, from: Uint8Array, encoder: FeatureEncoder, field: string) => {
    const before = target.parameters.get();
    assert.throws(() => restoreActorCritic(target, from, encoder), (error) => {
      assert.ok(hasCode(error, "checkpoint_mismatch"), String(error));
      assert.equal(error.details["field"], field);
      return true;
    });
    assert.deepEqual(target.parameters.get(), before);
  };
  refused(network(arena, { hidden: 24 }), bytes, ENCODER, "hidden");
  const wide = { stateWidth: 40, actionWidth: 32 };
  refused(network(arena, wide), bytes, ENCODER, "stateWidth");
  refused(network(arena), bytes, new FeatureEncoder(wide), "encoderFingerprint");
  const estimator = new ProgressEstimator(arena, 32);
  estimator.initialise(new RandomStream(1, "test"));
  refused(network(arena), estimatorCheckpoint(estimator, ENCODER), ENCODER, "kind");
});

Deno.test("restoreActorCritic() refuses bytes that are no checkpoint", () => {
  using arena = new KernelArena();
  const target = network(arena);
  const bytes = actorCriticCheckpoint(target, ENCODER);
  const damaged = [new Uint8Array(0), bytes.slice(0, -4), bytes.slice(0, -1), bytes.slice(1)];
  for (const from of damaged) {
    assert.throws(
      () => restoreActorCritic(target, from, ENCODER),
      (error) => hasCode(error, "bad_checkpoint"),
    );
  }
});

Deno.test("estimatorCheckpoint() keeps an estimator's parameters", () => {
  using arena = new KernelArena();
  const estimator = new ProgressEstimator(arena, 32);
  estimator.initialise(new RandomStream(2, "test"));
  const { parameters, ...rest } = readCheckpoint(estimatorCheckpoint(estimator, ENCODER));
  assert.deepEqual(parameters, estimator.parameters.get());
  assert.deepEqual(rest, {
    kind: "estimator",
    stateWidth: 32,
    actionWidth: 0,
    hidden: ESTIMATOR_HIDDEN,
    encoderFingerprint: ENCODER.fingerprint,
  });
});
