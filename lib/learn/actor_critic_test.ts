import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { exp, ln } from "../core/numerics.ts";
import { RandomStream } from "../core/random_stream.ts";
import { raggedBatch } from "./_ragged_batch.ts";
import {
  gradientFaults,
  PLAIN_SHAPE,
  plainForward,
  plainLogProbs,
  plainNetwork,
  type PlainOutput,
} from "./_plain_network.ts";
import { ActorCritic, actorCriticLayout } from "./actor_critic.ts";
import { KernelArena } from "./arena.ts";
import { bcObjective } from "./bc.ts";
import { type DecisionBatch, selectDecisions } from "./decision_batch.ts";
import { parameterCount } from "./parameter_block.ts";
import { PpoLoss, type RolloutBatch } from "./ppo.ts";

const SHAPE = PLAIN_SHAPE;
/** Around the step from products apart to products folded, and above one row block. */
const SIZES = [1, 2, 3, 4, 5, 9, 50];

function checkGradient(check: Parameters<typeof gradientFaults>[0]): void {
  const { scale, faults } = gradientFaults(check);
  assert.ok(scale > 1e-3, "the loss hardly depends on the parameters");
  assert.deepEqual(faults, []);
}

Deno.test("ActorCritic.forward() is the protocol's network", () => {
  using arena = new KernelArena();
  const stream = new RandomStream(1, "forward");
  const net = plainNetwork(arena, stream);
  const batch = raggedBatch({ sizes: SIZES, ...SHAPE, stream });
  const plain = plainForward(Float64Array.from(net.parameters.get()), batch);
  const { logits, values } = net.forward(batch);
  plain.logits.forEach((logit, i) => assert.ok(Math.abs(logit - logits[i]!) < 2e-6));
  plain.values.forEach((value, i) => assert.ok(Math.abs(value - values[i]!) < 2e-6));
});

Deno.test("ActorCritic.forward() gives a decision the same bits in any batch", () => {
  using arena = new KernelArena();
  const stream = new RandomStream(2, "batch");
  const net = plainNetwork(arena, stream);
  const sizes = Array.from({ length: 600 }, () => 1 + stream.integer(12));
  const batch = raggedBatch({ sizes, ...SHAPE, stream });
  const whole = net.forward(batch);
  for (const d of [0, 255, 256, 257, 599]) {
    const alone = net.forward(selectDecisions(batch, Int32Array.of(d)));
    assert.deepEqual(alone.logits, whole.logits.slice(batch.offsets[d]!, batch.offsets[d + 1]!));
    assert.equal(alone.values[0], whole.values[d]);
  }
});

Deno.test("ActorCritic.computeGradient() of the cloning loss matches finite differences", () => {
  using arena = new KernelArena();
  const stream = new RandomStream(3, "cloning");
  const net = plainNetwork(arena, stream);
  const decisions = raggedBatch({ sizes: SIZES, ...SHAPE, stream });
  const positives = decisions.mask.map((bit) => bit * stream.integer(2));
  SIZES.forEach((_, d) => positives[decisions.mask.indexOf(1, decisions.offsets[d])] = 1);
  const report = { loss: 0, entropy: 0 };
  const loss = ({ logits }: PlainOutput) => {
    let sum = 0;
    for (let d = 0; d < SIZES.length; d++) {
      const logProbs = plainLogProbs({ decisions, decision: d, logits });
      const first = decisions.offsets[d]!;
      sum -= ln(logProbs.reduce((mass, p, i) => mass + (positives[first + i] ? exp(p) : 0), 0));
    }
    return sum / SIZES.length;
  };
  checkGradient({ net, batch: decisions, objective: bcObjective({ decisions, positives }, report), loss });
  const plain = loss(plainForward(Float64Array.from(net.parameters.get()), decisions));
  assert.ok(Math.abs(report.loss - plain) < 1e-6);
});

Deno.test("ActorCritic.computeGradient() of PPO's loss matches finite differences, clipped terms included", () => {
  using arena = new KernelArena();
  const stream = new RandomStream(4, "ppo");
  const net = plainNetwork(arena, stream);
  const sizes = [1, 2, 3, 4, 5, 9, 6, 2, 3, 4, 5, 7];
  const decisions = raggedBatch({ sizes, ...SHAPE, stream });
  const n = sizes.length;
  const now = net.forward(decisions);
  const span = (d: number) => [decisions.offsets[d]!, decisions.offsets[d + 1]!] as const;
  const logProbs = (d: number, logits: readonly number[]) =>
    plainLogProbs({ decisions, decision: d, logits });
  const chosen = Int32Array.from(sizes, (_, d) => decisions.mask.subarray(...span(d)).indexOf(1));
  const rollout: RolloutBatch = {
    decisions,
    chosen,
    // ratios and value moves on both sides of their clips, with advantages of both signs
    logProbs: Float64Array.from(
      sizes,
      (_, d) => logProbs(d, [...now.logits])[chosen[d]!]! + [0.5, -0.5, 0.05][d % 3]!,
    ),
    values: now.values.map((value, d) => value + [0.7, -0.7, 0.1, -0.1][d % 4]!),
    advantages: Float32Array.from(sizes, () => stream.normal()),
    returns: now.values.map((value) => value + stream.normal()),
  };
  const options = {
    epochs: 1,
    minibatchSize: n,
    clipRatio: 0.2,
    valueCoefficient: 0.5,
    entropyCoefficient: 0.3, // large, so that a wrong sign shows
    maxGradientNorm: 0.5,
  };
  const clip = (x: number, bound: number, middle: number) =>
    Math.min(Math.max(x, middle - bound), middle + bound);
  const seen = { policy: 0, value: 0 };
  const loss = ({ logits, values }: PlainOutput) => {
    let policy = 0, value = 0, entropy = 0;
    for (let d = 0; d < n; d++) {
      const p = logProbs(d, logits);
      const ratio = exp(p[chosen[d]!]! - rollout.logProbs[d]!);
      const advantage = rollout.advantages[d]!;
      const [free, clipped] = [ratio * advantage, clip(ratio, 0.2, 1) * advantage];
      policy -= Math.min(free, clipped);
      const old = rollout.values[d]!, target = rollout.returns[d]!;
      const [freeV, clippedV] = [(values[d]! - target) ** 2, (clip(values[d]!, 0.2, old) - target) ** 2];
      value += 0.5 * Math.max(freeV, clippedV);
      entropy -= p.reduce((sum, x) => sum + (x === -Infinity ? 0 : exp(x) * x), 0);
      if (clipped < free) seen.policy++;
      if (clippedV > freeV) seen.value++;
    }
    return policy / n + 0.5 * value / n - 0.3 * entropy / n;
  };
  const ppo = new PpoLoss(rollout, options);
  checkGradient({ net, batch: decisions, objective: ppo.objective, loss });
  assert.ok(seen.policy > 0 && seen.value > 0, "no clipped term was tried");
  assert.ok(
    Math.abs(ppo.terms.total - loss(plainForward(Float64Array.from(net.parameters.get()), decisions))) < 1e-5,
  );
});

Deno.test("actorCriticLayout() has the protocol's parameters without the two layer norms", () => {
  // 50,114 at 64, 64 and 96, minus scale and shift of two layer norms: 4 * 96
  assert.equal(
    parameterCount(actorCriticLayout({ stateWidth: 64, actionWidth: 64, hidden: 96 })),
    50_114 - 384,
  );
});

Deno.test("ActorCritic.initialise() gives the last layers their gains, and zero biases", () => {
  using arena = new KernelArena();
  const net = new ActorCritic(arena, SHAPE);
  net.initialise(new RandomStream(5));
  const start = net.parameters.get();
  for (const { name, offset, rows, cols } of net.parameters.layout) {
    const part = start.subarray(offset, offset + rows * cols);
    const norm = Math.sqrt(part.reduce((sum, x) => sum + x * x, 0));
    const vectors = Math.min(rows, cols);
    const gain = { "actor_logit.weight": 0.01, "value_output.weight": 1 }[name] ?? Math.SQRT2;
    const expected = name.endsWith(".bias") ? 0 : gain * Math.sqrt(vectors);
    assert.ok(Math.abs(norm - expected) < 1e-5, `${name}: ${norm}`);
  }
});

Deno.test("ActorCritic refuses bad widths and bad batches", () => {
  using arena = new KernelArena();
  assert.throws(() => new ActorCritic(arena, { ...SHAPE, hidden: 12 }), (e) => hasCode(e, "bad_shape"));
  const net = new ActorCritic(arena, SHAPE);
  const batch = raggedBatch({ sizes: [3], ...SHAPE, stream: new RandomStream(6) });
  const refused = (changed: Partial<DecisionBatch>, code: string) =>
    assert.throws(() => net.forward({ ...batch, ...changed }), (e) => hasCode(e, code));
  refused({ mask: new Uint8Array(3) }, "no_candidate");
  refused({ mask: Uint8Array.of(1, 2, 1) }, "bad_batch");
  refused({ mask: Uint8Array.of(1, 1) }, "bad_batch");
  refused({ state: new Float32Array(4) }, "bad_batch");
  refused({ action: batch.action.with(2, NaN) }, "bad_batch");
  refused({ offsets: Int32Array.of(1, 3) }, "bad_batch");
});
