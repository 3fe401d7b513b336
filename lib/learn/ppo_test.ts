import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { exp, logSoftmax } from "../core/numerics.ts";
import { RandomStream } from "../core/random_stream.ts";
import { raggedBatch } from "./_ragged_batch.ts";
import { ActorCritic } from "./actor_critic.ts";
import { Adam } from "./adam.ts";
import { KernelArena } from "./arena.ts";
import { KernelOracle } from "./kernel_oracle.ts";
import type { Kernels } from "./kernels.ts";
import { type PpoOptions, type RolloutBatch, updatePpo } from "./ppo.ts";

const SHAPE = { stateWidth: 8, actionWidth: 8, hidden: 24 };
const OPTIONS: PpoOptions = {
  epochs: 3,
  minibatchSize: 16,
  clipRatio: 0.2,
  valueCoefficient: 0.5,
  entropyCoefficient: 0.01,
  maxGradientNorm: 0.5,
};

function start(arena: KernelArena, learningRate = 3e-3) {
  const network = new ActorCritic(arena, SHAPE);
  network.initialise(new RandomStream(1, "network"));
  network.parameters.set(network.parameters.get().map((x, i) => x + 0.2 * ((i * 7919 % 13) / 13 - 0.5)));
  return { network, optimizer: new Adam(network.parameters, { learningRate }) };
}

/** Decisions sampled from the network as it is, uniformly, with random outcomes. */
function rolloutOf(network: ActorCritic, n: number): RolloutBatch {
  const stream = new RandomStream(2, "rollout");
  const sizes = Array.from({ length: n }, () => 1 + stream.integer(9));
  const decisions = raggedBatch({ sizes, ...SHAPE, stream });
  const { logits, values } = network.forward(decisions);
  const chosen = new Int32Array(n);
  const logProbs = new Float64Array(n);
  for (let d = 0; d < n; d++) {
    const span = [decisions.offsets[d]!, decisions.offsets[d + 1]!] as const;
    const mask = Array.from(decisions.mask.subarray(...span), (bit) => bit === 1);
    chosen[d] = stream.pick(mask.flatMap((selectable, i) => selectable ? [i] : []));
    logProbs[d] = logSoftmax(logits.subarray(...span), mask)[chosen[d]!]!;
  }
  const normal = () => Float32Array.from(chosen, () => stream.normal());
  return { decisions, chosen, logProbs, values, advantages: normal(), returns: normal() };
}

Deno.test("updatePpo() makes 9 updates of 48 decisions in mini-batches of 16 over 3 epochs", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const rollout = rolloutOf(network, 48);
  const before = network.parameters.get();
  const metrics = updatePpo({ network, optimizer, rollout, options: OPTIONS, stream: new RandomStream(3) });
  assert.equal(metrics.updates, 9);
  assert.equal(metrics.stopped_early, false);
  assert.notDeepEqual(network.parameters.get(), before);
  for (const value of Object.values(metrics)) assert.ok(value === false || Number.isFinite(value));
  assert.ok(
    metrics.entropy > 0 && metrics.approx_kl >= -1e-6 && metrics.grad_norm > 0 && metrics.clip_fraction <= 1,
  );
});

Deno.test("updatePpo() sees a first ratio of exactly 1 and the value loss of unmoved values", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const rollout = rolloutOf(network, 48);
  const options = { ...OPTIONS, epochs: 1, minibatchSize: 48 };
  const metrics = updatePpo({ network, optimizer, rollout, options, stream: new RandomStream(3) });
  assert.equal(metrics.approx_kl, 0);
  assert.equal(metrics.clip_fraction, 0);
  assert.ok(Math.abs(metrics.policy_loss) < 1e-7); // minus the mean of standardised advantages
  const squares = rollout.returns.reduce((sum, target, i) => sum + (rollout.values[i]! - target) ** 2, 0);
  assert.ok(Math.abs(metrics.value_loss - 0.5 * squares / 48) < 1e-12);
});

Deno.test("updatePpo() reports the hand-computed numbers of one decision", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const one = rolloutOf(network, 1);
  const value = one.values[0]!;
  const rollout = {
    ...one,
    logProbs: one.logProbs.map((p) => p - 0.5), // r = e^.5 = 1.6487, above 1.2
    advantages: Float32Array.of(2), // a single advantage is not standardised
    values: Float32Array.of(value - 1), // V_clip = V_old + .2 = V - .8
    returns: Float32Array.of(value + 3),
  };
  const options = { ...OPTIONS, epochs: 1, minibatchSize: 1 };
  const metrics = updatePpo({ network, optimizer, rollout, options, stream: new RandomStream(3) });
  const close = (actual: number, expected: number) =>
    assert.ok(Math.abs(actual - expected) < 1e-6, `${actual}`);
  close(metrics.policy_loss, -1.2 * 2);
  close(metrics.value_loss, 0.5 * 3.8 * 3.8);
  close(metrics.approx_kl, exp(0.5) - 1 - 0.5);
  assert.equal(metrics.clip_fraction, 1);
});

Deno.test("updatePpo() raises the probability of what turned out well", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const stream = new RandomStream(5);
  const sizes = Array.from({ length: 64 }, () => 4);
  const decisions = raggedBatch({ sizes, ...SHAPE, stream });
  decisions.mask.fill(1);
  const chosen = Int32Array.from(sizes, () => stream.integer(4));
  const probability = () => {
    const { logits } = network.forward(decisions);
    return Float64Array.from(
      chosen,
      (a, d) => logSoftmax(logits.subarray(4 * d, 4 * d + 4), [true, true, true, true])[a]!,
    );
  };
  const before = probability();
  const advantages = Float32Array.from(sizes, (_, d) => d % 2 === 0 ? 1 : -1);
  const { values } = network.forward(decisions);
  const rollout = { decisions, chosen, logProbs: before, values, advantages, returns: values };
  updatePpo({ network, optimizer, rollout, options: OPTIONS, stream: new RandomStream(6) });
  const gain = probability().reduce((sum, after, d) => sum + (after - before[d]!) * advantages[d]!, 0);
  assert.ok(gain > 0.5, String(gain));
});

Deno.test("updatePpo() stops after the epoch that moved further than target_kl", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena, 0.05);
  const rollout = rolloutOf(network, 48);
  const options = { ...OPTIONS, targetKl: 1e-6 };
  const metrics = updatePpo({ network, optimizer, rollout, options, stream: new RandomStream(3) });
  assert.equal(metrics.updates, 3);
  assert.equal(metrics.stopped_early, true);
});

Deno.test("updatePpo() with a non-finite gradient raises, changes nothing and can go on", () => {
  class Poisoned extends KernelOracle {
    armed = false;
    override dotRowsBackward(...args: Parameters<Kernels["dotRowsBackward"]>): void {
      super.dotRowsBackward(...args);
      if (this.armed) this.floats[args[5]] = NaN;
    }
  }
  const kernels = new Poisoned(1 << 18);
  using arena = new KernelArena(kernels);
  const { network, optimizer } = start(arena);
  const rollout = rolloutOf(network, 16);
  const update = () =>
    updatePpo({ network, optimizer, rollout, options: OPTIONS, stream: new RandomStream(3) });
  update();
  const before = { parameters: network.parameters.get(), ...optimizer.moments() };
  kernels.armed = true;
  assert.throws(update, (e) => hasCode(e, "non_finite_gradient"));
  assert.deepEqual({ parameters: network.parameters.get(), ...optimizer.moments() }, before);
  kernels.armed = false;
  assert.equal(update().updates, 3);
});

Deno.test("updatePpo() refuses rollouts and options that do not fit", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const good = rolloutOf(network, 4);
  const refused = (changed: Partial<RolloutBatch>, code: string, options = OPTIONS) =>
    assert.throws(
      () =>
        updatePpo({
          network,
          optimizer,
          rollout: { ...good, ...changed },
          options,
          stream: new RandomStream(3),
        }),
      (e) => hasCode(e, code),
    );
  refused({ chosen: good.chosen.with(0, 99) }, "masked_choice");
  refused({ chosen: good.chosen.with(0, -1) }, "masked_choice");
  const at = good.decisions.offsets[1]! + good.chosen[1]!;
  refused({ decisions: { ...good.decisions, mask: good.decisions.mask.with(at, 0) } }, "masked_choice");
  refused({ returns: new Float32Array(3) }, "bad_batch");
  refused({ logProbs: good.logProbs.with(2, -Infinity) }, "bad_batch");
  refused({}, "bad_option", { ...OPTIONS, epochs: 0 });
  refused({}, "bad_option", { ...OPTIONS, clipRatio: NaN });
});
