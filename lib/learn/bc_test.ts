import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { logSoftmax } from "../core/numerics.ts";
import { RandomStream } from "../core/random_stream.ts";
import { raggedBatch } from "./_ragged_batch.ts";
import { ActorCritic } from "./actor_critic.ts";
import { Adam } from "./adam.ts";
import { KernelArena } from "./arena.ts";
import { bcObjective, type ExpertBcMetrics, trainBc } from "./bc.ts";
import type { DecisionBatch } from "./decision_batch.ts";
import type { Demonstrations, ExpertDemonstrations, LabelledDemonstrations } from "./demonstrations.ts";
import type { Objective } from "./head.ts";
import { KernelOracle } from "./kernel_oracle.ts";
import type { Kernels } from "./kernels.ts";

const SHAPE = { stateWidth: 8, actionWidth: 8, hidden: 24 };

/** Decisions in which the right candidate is the one whose features are the state's. */
function toy(n: number): LabelledDemonstrations {
  const stream = new RandomStream(1, "toy");
  const sizes = Array.from({ length: n }, () => 2 + stream.integer(5));
  const decisions = raggedBatch({ sizes, ...SHAPE, stream });
  const labels = Int32Array.from(sizes, (size) => stream.integer(size));
  labels.forEach((label, d) => {
    const at = decisions.offsets[d]! + label;
    decisions.mask[at] = 1;
    decisions.action.set(decisions.state.subarray(d * 8, d * 8 + 8), at * 8);
  });
  return { kind: "single_label", decisions, labels };
}

function asExpert({ decisions, labels }: LabelledDemonstrations): ExpertDemonstrations {
  const positives = new Uint8Array(decisions.mask.length);
  labels.forEach((label, d) => positives[decisions.offsets[d]! + label] = 1);
  return {
    kind: "multi_positive",
    decisions,
    positives,
    stateHashes: Array.from(labels, (_, d) => `state ${d}`),
  };
}

function start(arena: KernelArena, learningRate = 0.01) {
  const network = new ActorCritic(arena, SHAPE);
  network.initialise(new RandomStream(2, "network"));
  return { network, optimizer: new Adam(network.parameters, { learningRate }) };
}

function train(demonstrations: Demonstrations) {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const before = network.parameters.get();
  const options = { epochs: 18, batchSize: 24 };
  const metrics = trainBc({ network, optimizer, demonstrations, options, stream: new RandomStream(3) });
  return { metrics, before, after: network.parameters.get() };
}

Deno.test("trainBc() learns a toy problem in 72 updates", () => {
  const { metrics, before, after } = train(toy(96)); // 96 / 24 mini-batches * 18 epochs
  assert.equal(metrics.updates, 72);
  assert.ok(metrics.accuracy >= 0.95, String(metrics.accuracy));
  assert.ok(metrics.entropy > 0 && metrics.grad_norm > 0);
  assert.notDeepEqual(after, before);
  assert.deepEqual(Object.keys(metrics), ["loss", "entropy", "grad_norm", "accuracy", "updates"]);
});

Deno.test("trainBc() on sets of one candidate is the single-label training, bit for bit", () => {
  const single = toy(96);
  single.decisions.mask.fill(1); // single labels train under an all-true mask
  const { metrics, after } = train(single);
  const expert = train(asExpert(single));
  assert.deepEqual(expert.after, after);
  const { set_nll, positive_probability_mass, top1_in_positive_set_accuracy, mean_positive_count, ...rest } =
    expert.metrics as ExpertBcMetrics;
  assert.deepEqual(rest, metrics);
  assert.ok(set_nll > 0 && positive_probability_mass > 0.5 && positive_probability_mass < 1);
  assert.equal(top1_in_positive_set_accuracy, metrics.accuracy);
  assert.equal(mean_positive_count, 1);
});

Deno.test("trainBc() leaves the value head alone", () => {
  const { before, after } = train(toy(24));
  using arena = new KernelArena();
  for (const { name, offset, rows, cols } of new ActorCritic(arena, SHAPE).parameters.layout) {
    const span = [offset, offset + rows * cols] as const;
    const same = before.slice(...span).every((value, i) => value === after[offset + i]);
    assert.equal(same, name.startsWith("value_"), name);
  }
});

/** Loss, gradients of the logits, and logits of the objective on an untrained network. */
function lossOf(
  decisions: DecisionBatch,
  positives: Uint8Array,
  objective?: (report: { loss: number }) => Objective,
) {
  using arena = new KernelArena();
  const { network } = start(arena);
  network.parameters.set(network.parameters.get().map((x, i) => x + 0.1 * ((i * 7919 % 13) / 13 - 0.5)));
  const report = { loss: 0, entropy: 0 };
  const use = objective?.(report) ?? bcObjective({ decisions, positives }, report);
  let logitGradient = new Float32Array(0);
  network.computeGradient(decisions, (head) => {
    use(head);
    logitGradient = arena.floats.slice(head.logitGradient, head.logitGradient + head.logits.length);
  });
  const { logits } = network.forward(decisions);
  return { loss: report.loss, logitGradient, gradient: network.parameters.gradient.slice(), logits };
}

Deno.test("bcObjective() of one right candidate is the plain negative log-likelihood, bit for bit", () => {
  const { decisions, labels } = toy(20);
  const { positives } = asExpert({ kind: "single_label", decisions, labels });
  const plain = (report: { loss: number }): Objective => (head) => {
    let sum = 0;
    for (let d = 0; d < head.decisions; d++) {
      const first = head.offsets[d]!;
      const { probabilities, normaliser } = head.softmax(d, decisions.mask);
      sum += normaliser - head.logits[first + labels[d]!]!;
      probabilities.forEach((p, a) =>
        head.setLogitGradient(first + a, (a === labels[d] ? p - 1 : p) / head.decisions)
      );
    }
    report.loss = sum / head.decisions;
  };
  assert.deepEqual(lossOf(decisions, positives), lossOf(decisions, positives, plain));
});

Deno.test("bcObjective() falls with every further right candidate, to exactly 0 when all are right", () => {
  const { decisions, labels } = toy(1);
  const { positives } = asExpert({ kind: "single_label", decisions, labels });
  let { loss } = lossOf(decisions, positives);
  for (let a = 0; a < positives.length; a++) {
    if (positives[a] === 1 || decisions.mask[a] === 0) continue;
    positives[a] = 1;
    const next = lossOf(decisions, positives).loss;
    assert.ok(next < loss);
    loss = next;
  }
  const all = lossOf(decisions, positives);
  assert.equal(all.loss, 0);
  assert.ok(all.gradient.every((value) => value === 0));
});

Deno.test("bcObjective() pulls right logits up, wrong ones down, and masked ones nowhere", () => {
  const { decisions, labels } = toy(30);
  const { positives } = asExpert({ kind: "single_label", decisions, labels });
  // a lone candidate is pulled nowhere: let each decision have two to choose from
  labels.forEach((label, d) => decisions.mask[decisions.offsets[d]! + (label === 0 ? 1 : 0)] = 1);
  const { logitGradient, logits, loss } = lossOf(decisions, positives);
  logitGradient.forEach((gradient, i) => {
    if (decisions.mask[i] === 0) assert.equal(gradient, 0);
    else if (positives[i] === 1) assert.ok(gradient < 0);
    else assert.ok(gradient > 0);
  });
  let sum = 0;
  labels.forEach((label, d) => {
    const span = [decisions.offsets[d]!, decisions.offsets[d + 1]!] as const;
    const mask = Array.from(decisions.mask.subarray(...span), (bit) => bit === 1);
    sum -= logSoftmax(logits.subarray(...span), mask)[label]!;
  });
  assert.ok(Math.abs(loss - sum / labels.length) < 1e-12);
});

Deno.test("bcObjective() does not depend on the order of the candidates, but for rounding", () => {
  const { decisions, labels } = toy(1);
  const { positives } = asExpert({ kind: "single_label", decisions, labels });
  const reversed: DecisionBatch = {
    ...decisions,
    mask: decisions.mask.slice().reverse(),
    action: Float32Array.from(
      { length: decisions.action.length },
      (_, i) => decisions.action[(decisions.mask.length - 1 - (i >> 3)) * 8 + i % 8]!,
    ),
  };
  const difference = lossOf(decisions, positives).loss - lossOf(reversed, positives.slice().reverse()).loss;
  assert.ok(Math.abs(difference) < 1e-12);
});

/** Kernels that write a number into the gradient of the logit weights whenever armed. */
class Poisoned extends KernelOracle {
  poison: number | undefined;

  override dotRowsBackward(...args: Parameters<Kernels["dotRowsBackward"]>): void {
    super.dotRowsBackward(...args);
    if (this.poison !== undefined) this.floats[args[5]] = this.poison;
  }
}

for (const poison of [NaN, Infinity, -Infinity, 1e30]) {
  for (const kind of ["single_label", "multi_positive"]) {
    Deno.test(`trainBc() with a gradient of ${poison} (${kind}) raises, changes nothing and can go on`, () => {
      const kernels = new Poisoned(1 << 18);
      using arena = new KernelArena(kernels);
      const { network, optimizer } = start(arena);
      const single = toy(24);
      const demonstrations = kind === "single_label" ? single : asExpert(single);
      const update = () => {
        const options = { epochs: 1, batchSize: 24 };
        return trainBc({ network, optimizer, demonstrations, options, stream: new RandomStream(4) });
      };
      update();
      const before = { parameters: network.parameters.get(), ...optimizer.moments() };
      kernels.poison = poison;
      assert.throws(update, (e) => hasCode(e, "non_finite_gradient"));
      assert.deepEqual({ parameters: network.parameters.get(), ...optimizer.moments() }, before);
      kernels.poison = undefined;
      assert.equal(update().updates, 1);
      assert.notDeepEqual(network.parameters.get(), before.parameters);
    });
  }
}

Deno.test("trainBc() raises on logits that overflow, before the step", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  network.parameters.set(network.parameters.get().map((x) => x * 1e20));
  const before = network.parameters.get();
  const options = { epochs: 1, batchSize: 24 };
  assert.throws(
    () => trainBc({ network, optimizer, demonstrations: toy(24), options, stream: new RandomStream(4) }),
    (e) => hasCode(e, "non_finite") || hasCode(e, "non_finite_gradient"),
  );
  assert.deepEqual(network.parameters.get(), before);
});

Deno.test("trainBc() refuses bad demonstrations and options, each with its code", () => {
  using arena = new KernelArena();
  const { network, optimizer } = start(arena);
  const refused = (demonstrations: Demonstrations, code: string, options = { epochs: 1, batchSize: 4 }) =>
    assert.throws(
      () => trainBc({ network, optimizer, demonstrations, options, stream: new RandomStream(4) }),
      (e) => hasCode(e, code),
    );
  const single = toy(4);
  const expert = asExpert(single);
  const right = expert.positives.indexOf(1);
  refused({ ...single, labels: Int32Array.of(0, 0, 0) }, "bad_batch");
  refused({ ...single, labels: single.labels.with(1, 9) }, "masked_choice");
  refused({ ...single, labels: single.labels.with(1, -1) }, "masked_choice");
  const masked = { ...single.decisions, mask: single.decisions.mask.with(right, 0) };
  refused({ ...single, decisions: masked }, "masked_choice");
  refused({ ...expert, decisions: masked }, "masked_choice");
  refused({ ...expert, positives: expert.positives.with(right, 0) }, "no_positive");
  refused({ ...expert, positives: expert.positives.slice(1) }, "bad_batch");
  refused({ ...expert, stateHashes: ["a", "b", "a", "c"] }, "duplicate_state");
  refused(toy(0), "bad_batch");
  refused(single, "bad_option", { epochs: 0, batchSize: 4 });
  refused(single, "bad_option", { epochs: 1, batchSize: 0.5 });
});
