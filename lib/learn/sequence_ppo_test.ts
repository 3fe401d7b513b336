import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { exp, logSoftmax } from "../core/numerics.ts";
import { RandomStream } from "../core/random_stream.ts";
import {
  gradientFaults,
  PLAIN_SHAPE,
  plainLogProbs,
  plainNetwork,
  type PlainOutput,
} from "./_plain_network.ts";
import { raggedBatch } from "./_ragged_batch.ts";
import type { ActorCritic } from "./actor_critic.ts";
import { Adam } from "./adam.ts";
import { KernelArena } from "./arena.ts";
import { KernelOracle } from "./kernel_oracle.ts";
import type { Kernels } from "./kernels.ts";
import { discountedReturns, type SequenceBatch } from "./sequence_batch.ts";
import { SequencePpoLoss, type SequencePpoOptions, updateSequencePpo } from "./sequence_ppo.ts";

const OPTIONS: SequencePpoOptions = {
  epochs: 3,
  minibatches: 2,
  clipRatio: 0.2,
  valueCoefficient: 0.5,
  entropyCoefficient: 0.01,
  maxGradientNorm: 0.5,
};
const LENGTHS = [2, 3, 1, 4, 2];

/** Episodes of mixed lengths, sampled from the network as it is. */
function episodesOf(network: ActorCritic, lengths: readonly number[] = LENGTHS): SequenceBatch {
  const stream = new RandomStream(2, "episodes");
  const n = lengths.reduce((sum, length) => sum + length, 0);
  const sizes = Array.from({ length: n }, () => 2 + stream.integer(6));
  const decisions = raggedBatch({ sizes, ...PLAIN_SHAPE, stream });
  const { logits, values } = network.forward(decisions);
  const chosen = new Int32Array(n);
  const logProbs = new Float64Array(n);
  for (let d = 0; d < n; d++) {
    const span = [decisions.offsets[d]!, decisions.offsets[d + 1]!] as const;
    const mask = Array.from(decisions.mask.subarray(...span), (bit) => bit === 1);
    chosen[d] = stream.pick(mask.flatMap((selectable, i) => selectable ? [i] : []));
    logProbs[d] = logSoftmax(logits.subarray(...span), mask)[chosen[d]!]!;
  }
  const starts = Int32Array.from(lengths, (_, e) => lengths.slice(0, e).reduce((sum, x) => sum + x, 0));
  const episodes = Int32Array.from(lengths.flatMap((length, e) => Array<number>(length).fill(e)));
  const dones = Uint8Array.from(episodes, (e, t) => episodes[t + 1] === e ? 0 : 1);
  const taskRewards = Float64Array.from(dones, (done) => done * (stream.integer(2) * 2 - 1));
  const rewards = taskRewards.map((task) => task + stream.normal());
  const rest = {
    decisions,
    chosen,
    logProbs,
    values,
    taskRewards,
    rewards,
    episodes,
    dones,
    starts,
    gamma: 0.9,
  };
  return { ...rest, returns: discountedReturns(rest) };
}

function start(arena: KernelArena, learningRate = 3e-3) {
  const network = plainNetwork(arena, new RandomStream(1, "network"));
  return { network, optimizer: new Adam(network.parameters, { learningRate }) };
}

Deno.test("updateSequencePpo() counts episodes: 6 updates of 5 episodes in 2 pieces over 3 epochs", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const batch = episodesOf(network);
  const before = network.parameters.get();
  const run = (minibatches: number) =>
    updateSequencePpo({
      network,
      optimizer,
      batch,
      options: { ...OPTIONS, minibatches },
      stream: new RandomStream(3),
    });
  const metrics = run(2);
  assert.equal(metrics.updates, 6);
  assert.equal(metrics.stopped_early, false);
  assert.notDeepEqual(network.parameters.get(), before);
  for (const value of Object.values(metrics)) assert.ok(value === false || Number.isFinite(value));
  assert.ok(metrics.entropy > 0 && metrics.approx_kl >= -1e-6 && metrics.grad_norm > 0);
  assert.equal(run(1).updates, 3);
  assert.equal(run(99).updates, 15, "no more pieces than episodes");
});

Deno.test("updateSequencePpo() sees a first ratio of exactly 1 and the loss of initial values alone", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const batch = episodesOf(network);
  const options = { ...OPTIONS, epochs: 1, minibatches: 1 };
  const later = batch.values.map((value, t) => batch.starts.includes(t) ? value : 1e6);
  const metrics = updateSequencePpo({
    network,
    optimizer,
    batch: { ...batch, values: later },
    options,
    stream: new RandomStream(3),
  });
  assert.equal(metrics.approx_kl, 0);
  assert.equal(metrics.clip_fraction, 0);
  assert.ok(Math.abs(metrics.policy_loss) < 1e-7); // minus the mean of standardised advantages
  const squares = batch.returns.reduce(
    (sum, target, e) => sum + (batch.values[batch.starts[e]!]! - target) ** 2,
    0,
  );
  assert.ok(Math.abs(metrics.value_loss - 0.5 * squares / LENGTHS.length) < 1e-6);
});

Deno.test("updateSequencePpo() reports the hand-computed numbers of one episode", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const one = episodesOf(network, [2]);
  const value = one.values[0]!;
  const batch = {
    ...one,
    logProbs: one.logProbs.map((p) => p - 0.25), // r = e^(.25 + .25) = 1.6487, above 1.2
    values: Float32Array.of(value - 1, 77), // V_clip = V_old + .2 = V - .8
    rewards: Float64Array.of(value + 3 - 0.9, 1), // return: V + 3
    returns: Float32Array.of(value + 3 - 0.9 + 0.9 * 1),
  };
  const options = { ...OPTIONS, epochs: 1, minibatches: 1 };
  const metrics = updateSequencePpo({ network, optimizer, batch, options, stream: new RandomStream(3) });
  const close = (actual: number, expected: number) =>
    assert.ok(Math.abs(actual - expected) < 1e-5, `${actual}, ${expected}`);
  close(metrics.policy_loss, -1.2 * 4); // a single advantage, V + 3 - (V - 1), is not standardised
  close(metrics.value_loss, 0.5 * 3.8 * 3.8);
  close(metrics.approx_kl, exp(0.5) - 1 - 0.5);
  assert.equal(metrics.clip_fraction, 1);
});

Deno.test("SequencePpoLoss' gradient matches finite differences over mixed lengths, clipped terms included", () => {
  using arena = new KernelArena();
  const net = plainNetwork(arena, new RandomStream(5, "sequence"));
  const { decisions, chosen, starts, logProbs, values } = episodesOf(net);
  const bounds = Int32Array.of(...starts, chosen.length);
  const stream = new RandomStream(6);
  const samples = LENGTHS.length;
  const old = {
    logProbs: Float64Array.from(
      starts,
      (first, e) =>
        logProbs.subarray(first, bounds[e + 1]).reduce((sum, p) => sum + p, 0) + [0.5, -0.5, 0.05][e % 3]!,
    ),
    values: Float32Array.from(starts, (first, e) => values[first]! + [0.7, 0.1, -0.7][e % 3]!),
    advantages: Float32Array.of(1, 1, -1, 1, -1),
    returns: Float32Array.from(starts, () => stream.normal()),
  };
  const options = { clipRatio: 0.2, valueCoefficient: 0.5, entropyCoefficient: 0.3 };
  const clip = (x: number, bound: number, middle: number) =>
    Math.min(Math.max(x, middle - bound), middle + bound);
  let clipped = 0;
  const loss = ({ logits, values }: PlainOutput) => {
    let total = 0;
    for (let e = 0; e < samples; e++) {
      const [first, end] = [bounds[e]!, bounds[e + 1]!];
      let sum = 0, entropy = 0;
      for (let d = first; d < end; d++) {
        const p = plainLogProbs({ decisions, decision: d, logits });
        sum += p[chosen[d]!]!;
        entropy -= p.reduce((mass, x) => mass + (x === -Infinity ? 0 : exp(x) * x), 0) / (end - first);
      }
      const ratio = exp(sum - old.logProbs[e]!);
      const [free, bounded] = [ratio, clip(ratio, 0.2, 1)].map((r) => r * old.advantages[e]!) as [
        number,
        number,
      ];
      if (bounded < free) clipped++;
      const [target, value, before] = [old.returns[e]!, values[first]!, old.values[e]!];
      const squares = [(value - target) ** 2, (clip(value, 0.2, before) - target) ** 2];
      total += -Math.min(free, bounded) + 0.5 * 0.5 * Math.max(...squares) - 0.3 * entropy;
    }
    return total / samples;
  };
  const sequence = new SequencePpoLoss({ decisions, chosen, bounds, ...old }, options);
  const { scale, faults } = gradientFaults({ net, batch: decisions, objective: sequence.objective, loss });
  assert.ok(scale > 1e-3 && clipped > 0);
  assert.deepEqual(faults, []);
});

Deno.test("updateSequencePpo() with a non-finite gradient raises, changes nothing and can go on", () => {
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
  const batch = episodesOf(network);
  const update = () =>
    updateSequencePpo({ network, optimizer, batch, options: OPTIONS, stream: new RandomStream(3) });
  update();
  const before = { parameters: network.parameters.get(), ...optimizer.moments() };
  kernels.armed = true;
  assert.throws(update, (e) => hasCode(e, "non_finite_gradient"));
  assert.deepEqual({ parameters: network.parameters.get(), ...optimizer.moments() }, before);
  kernels.armed = false;
  assert.equal(update().updates, 6);
});

Deno.test("updateSequencePpo() refuses incomplete episodes and options that do not fit", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const good = episodesOf(network);
  const refused = (code: string, batch: SequenceBatch, options = OPTIONS) =>
    assert.throws(
      () => updateSequencePpo({ network, optimizer, batch, options, stream: new RandomStream(3) }),
      (e) => hasCode(e, code),
    );
  refused("bad_end", { ...good, dones: good.dones.with(good.dones.length - 1, 0) });
  refused("bad_option", good, { ...OPTIONS, minibatches: 0 });
  refused("bad_option", good, { ...OPTIONS, epochs: 0 });
  refused("bad_option", good, { ...OPTIONS, clipRatio: -1 });
});
