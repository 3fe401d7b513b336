import { exp, ln, sigmoid } from "../core/numerics.ts";
import type { RandomStream } from "../core/random_stream.ts";
import { ESTIMATOR_HIDDEN } from "../policy/exact_network.ts";
import { chainSum, denseBackward, denseRelu } from "./_dense.ts";
import { learnError } from "./_error.ts";
import type { KernelArena } from "./arena.ts";
import { Head } from "./head.ts";
import { orthogonal } from "./orthogonal.ts";
import { ParameterBlock, type ParameterLayout, parameterLayout } from "./parameter_block.ts";

const H = ESTIMATOR_HIDDEN;
/** States of one pass that needs no gradient; bits do not depend on it. */
const FORWARD_CHUNK = 1024;

/** The parts of an estimator's parameters; the scalar comes last, so that everything before it is aligned. */
export function estimatorLayout(stateWidth: number): ParameterLayout {
  return parameterLayout([
    ["hidden_1.weight", stateWidth, H],
    ["hidden_1.bias", 1, H],
    ["hidden_2.weight", H, H],
    ["hidden_2.bias", 1, H],
    ["logit.weight", H, 1],
    ["logit.bias", 1, 1],
  ]);
}

/** Gains of the orthogonal initialisation; a part without one is a bias and starts at 0. */
const GAINS: Readonly<Record<string, number>> = {
  "hidden_1.weight": Math.SQRT2,
  "hidden_2.weight": Math.SQRT2,
  "logit.weight": 1,
};

/** Addresses in kernel memory of one forward pass over n states. */
interface Pass {
  readonly n: number;
  readonly input: number;
  readonly first: number;
  readonly second: number;
  readonly logits: number;
}

/**
 * The progress estimator in float32: Phi(s) = sigmoid(relu(relu(s W + b) W + b) w + b), the probability that an episode
 * which stands in state s succeeds. Protocol: policy-and-training.md section 5. The sigmoid stays outside.
 */
export class ProgressEstimator {
  readonly stateWidth: number;
  readonly parameters: ParameterBlock;
  readonly #arena: KernelArena;

  /** @throws TracewrightError "bad_shape" */
  constructor(arena: KernelArena, stateWidth: number) {
    if (!Number.isSafeInteger(stateWidth) || stateWidth < 1) {
      throw learnError("bad_shape", { expected: "a positive width", actual: stateWidth });
    }
    this.stateWidth = stateWidth;
    this.#arena = arena;
    this.parameters = new ParameterBlock(arena, estimatorLayout(stateWidth));
  }

  /** Orthogonal weights, zero biases; draws part by part in layout order. */
  initialise(stream: RandomStream): void {
    const start = new Float32Array(this.parameters.size);
    for (const { name, rows, cols, offset } of this.parameters.layout) {
      const gain = GAINS[name];
      if (gain !== undefined) start.set(orthogonal({ rows, cols, gain, stream }), offset);
    }
    this.parameters.set(start);
  }

  /**
   * @param states shape [N, S], row-major
   * @returns logits, shape [N]; a state's logit does not depend on the others
   */
  forward(states: Float32Array): Float32Array {
    const n = this.#count(states);
    const out = new Float32Array(n);
    for (let from = 0; from < n; from += FORWARD_CHUNK) {
      const to = Math.min(from + FORWARD_CHUNK, n);
      this.#arena.scoped(() => {
        const { logits } = this.#forward(states.subarray(from * this.stateWidth, to * this.stateWidth));
        out.set(this.#arena.floats.subarray(logits, logits + to - from), from);
      });
    }
    return out;
  }

  /**
   * Replaces the gradient by that of the mean binary cross-entropy, -(y ln p + (1 - y) ln(1 - p)) with p = sigmoid(x),
   * taken on the logit x as max(x, 0) - x y + ln(1 + e^-|x|); d loss / d x = p - y.
   *
   * @param states shape [N, S], row-major
   * @param labels shape [N], 0 or 1
   * @returns the mean loss
   */
  computeGradient(states: Float32Array, labels: Uint8Array): number {
    const n = this.#count(states);
    if (labels.length !== n || n === 0) {
      throw learnError("bad_batch", { expected: `${n} labels, at least 1`, actual: labels.length });
    }
    return this.#arena.scoped(() => {
      const pass = this.#forward(states);
      const offsets = Int32Array.from({ length: n + 1 }, (_, i) => i);
      const head = new Head(this.#arena, { offsets, logits: pass.logits, values: pass.logits });
      let loss = 0;
      for (let i = 0; i < n; i++) {
        const x = head.logits[i]!;
        const y = labels[i]!;
        loss += Math.max(x, 0) - x * y + ln(1 + exp(-Math.abs(x)));
        head.setLogitGradient(i, (sigmoid(x) - y) / n);
      }
      this.#backward(pass, head.logitGradient);
      return loss / n;
    });
  }

  #count(states: Float32Array): number {
    const n = states.length / this.stateWidth;
    if (!Number.isInteger(n)) {
      throw learnError("bad_batch", { expected: `rows of ${this.stateWidth}`, actual: states.length });
    }
    return n;
  }

  #forward(states: Float32Array): Pass {
    const arena = this.#arena, k = arena.kernels, p = this.parameters;
    const n = states.length / this.stateWidth;
    const pass: Pass = {
      n,
      input: arena.allocate(states.length),
      first: arena.allocate(n * H),
      second: arena.allocate(n * H),
      logits: arena.allocate(n),
    };
    k.floats.set(states, pass.input);
    const first = { weight: p.at("hidden_1.weight"), bias: p.at("hidden_1.bias"), out: pass.first };
    denseRelu(k, { rows: n, inputs: this.stateWidth, outputs: H, x: pass.input, ...first });
    const second = { weight: p.at("hidden_2.weight"), bias: p.at("hidden_2.bias"), out: pass.second };
    denseRelu(k, { rows: n, inputs: H, outputs: H, x: pass.first, ...second });
    k.dotRows(n, H, pass.second, p.at("logit.weight"), p.at("logit.bias"), pass.logits);
    return pass;
  }

  #backward({ n, input, first, second }: Pass, dLogits: number): void {
    const arena = this.#arena, k = arena.kernels, p = this.parameters;
    const dFirst = arena.allocate(n * H), dSecond = arena.allocate(n * H), dSum = arena.allocate(H);
    const transposed = arena.allocate(H * H);
    k.transpose(H, H, p.at("hidden_2.weight"), transposed);
    p.clearGradient();
    k.floats[p.gradientAt("logit.bias")] = chainSum(k, { n, x: dLogits });
    const dWeight = p.gradientAt("logit.weight");
    k.dotRowsBackward(n, H, second, dLogits, p.at("logit.weight"), dWeight, dSecond, dSum);
    const layer2 = { dWeight: p.gradientAt("hidden_2.weight"), dBias: p.gradientAt("hidden_2.bias") };
    denseBackward(k, { rows: n, inputs: H, outputs: H, x: first, dy: dSecond, ...layer2 });
    k.matmul(n, H, H, dSecond, transposed, dFirst, 0);
    k.reluBackward(n * H, first, dFirst);
    const layer1 = { dWeight: p.gradientAt("hidden_1.weight"), dBias: p.gradientAt("hidden_1.bias") };
    denseBackward(k, { rows: n, inputs: this.stateWidth, outputs: H, x: input, dy: dFirst, ...layer1 });
  }
}
