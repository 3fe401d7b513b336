import assert from "node:assert/strict";
import { ln, logSoftmax } from "../core/numerics.ts";
import { RandomStream } from "../core/random_stream.ts";
import { ActorCritic } from "./actor_critic.ts";
import { KernelArena } from "./arena.ts";
import { type EncodedPending, sample, samplingActor } from "./sampling_actor.ts";

const SHAPE = { stateWidth: 6, actionWidth: 6, hidden: 16 };

function decision(episode: number): EncodedPending {
  const stream = new RandomStream(1, "decision", episode);
  const candidates = 2 + stream.integer(6);
  const features = (n: number) => Int32Array.from({ length: n }, () => stream.integer(2049) - 1024);
  const mask = Array.from({ length: candidates }, (_, i) => i === 0 || stream.integer(2) === 1);
  return {
    episode,
    features: { state: features(6), actions: features(candidates * 6), mask },
  };
}

Deno.test("sample() gives each candidate its share of [0, 1), in candidate order", () => {
  const mask = [true, false, true, true];
  const logProbs = logSoftmax([0, 9, 0, 0], mask); // a third each
  const at = (uniform: number) => sample({ logProbs, mask, uniform });
  assert.deepEqual([0, 0.33, 0.34, 0.66, 0.67, 0.999].map(at), [0, 0, 2, 2, 3, 3]);
});

Deno.test("sample() gives what rounding leaves over to the last selectable candidate", () => {
  const logProbs = Float64Array.of(-0.7, -0.7, -Infinity); // shares sum to 0.993
  assert.equal(sample({ logProbs, mask: [true, true, false], uniform: 0.999 }), 1);
});

Deno.test("samplingActor() chooses the same for an episode in any company", async () => {
  using arena = new KernelArena();
  const network = new ActorCritic(arena, SHAPE);
  network.initialise(new RandomStream(2));
  const actor = () =>
    samplingActor({ network, streamOf: (episode) => new RandomStream(3, "episode", episode) });
  const together = actor();
  const first = await together([decision(0), decision(1), decision(2)]);
  const second = await together([decision(0), decision(2)]); // each stream goes on where it was
  const alone = actor();
  assert.deepEqual(await alone([decision(2)]), [first[2]]);
  assert.deepEqual(await alone([decision(2)]), [second[1]]);
});

Deno.test("samplingActor() follows the policy's probabilities", async () => {
  using arena = new KernelArena();
  const network = new ActorCritic(arena, SHAPE);
  network.initialise(new RandomStream(2));
  network.parameters.set(network.parameters.get().map((x) => 2 * x));
  const one = decision(7);
  const n = 4000;
  const stream = new RandomStream(4);
  const actor = samplingActor({ network, streamOf: () => stream });
  const choices = await actor(Array.from({ length: n }, () => one));
  const counts = one.features.mask.map((_, i) => choices.filter(({ index }) => index === i).length);
  for (const { index, logProb } of choices) {
    const share = counts[index]! / n;
    assert.ok(Math.abs(ln(share) - logProb) < 0.25, `${share} for ${logProb}`);
  }
  one.features.mask.forEach((selectable, i) => assert.ok(selectable || counts[i] === 0));
});
