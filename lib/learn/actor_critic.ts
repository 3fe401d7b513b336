import type { RandomStream } from "../core/random_stream.ts";
import { chainSum, dense, denseBackward, denseRelu } from "./_dense.ts";
import { learnError } from "./_error.ts";
import type { KernelArena } from "./arena.ts";
import {
  checkDecisionBatch,
  type DecisionBatch,
  decisionCount,
  type FeatureWidths,
} from "./decision_batch.ts";
import { Head, type Objective } from "./head.ts";
import { orthogonal } from "./orthogonal.ts";
import { ParameterBlock, type ParameterLayout, parameterLayout } from "./parameter_block.ts";

/** Widths of the network: S state features, D action features, H hidden units; H is a multiple of 8. */
export interface ActorCriticShape extends FeatureWidths {
  readonly hidden: number;
}

/** What the network says about a batch. */
export interface ActorCriticOutput {
  /** Shape [M], unmasked. */
  readonly logits: Float32Array;
  /** Shape [N]. */
  readonly values: Float32Array;
}

/** From this many candidates on, a decision's product term is folded into the weights; below, it is cheaper apart. */
const FOLD_FROM = 4;
/** Decisions of one pass that needs no gradient; bits do not depend on it. */
const FORWARD_CHUNK = 256;

/**
 * The parts of an actor-critic's parameters. `actor_hidden` has three squares of H rows: for s, for a and for s * a.
 * The two scalars come last, so that everything before them is aligned.
 */
export function actorCriticLayout({ stateWidth, actionWidth, hidden }: ActorCriticShape): ParameterLayout {
  return parameterLayout([
    ["state_encoder.weight", stateWidth, hidden],
    ["state_encoder.bias", 1, hidden],
    ["action_encoder.weight", actionWidth, hidden],
    ["action_encoder.bias", 1, hidden],
    ["actor_hidden.weight", 3 * hidden, hidden],
    ["actor_hidden.bias", 1, hidden],
    ["actor_logit.weight", hidden, 1],
    ["value_hidden.weight", hidden, hidden],
    ["value_hidden.bias", 1, hidden],
    ["value_output.weight", hidden, 1],
    ["actor_logit.bias", 1, 1],
    ["value_output.bias", 1, 1],
  ]);
}

/** Gains of the orthogonal initialisation; a part without one is a bias and starts at 0. */
const GAINS: Readonly<Record<string, number>> = {
  "state_encoder.weight": Math.SQRT2,
  "action_encoder.weight": Math.SQRT2,
  "actor_hidden.weight": Math.SQRT2,
  "actor_logit.weight": 0.01,
  "value_hidden.weight": Math.SQRT2,
  "value_output.weight": 1,
};

/** Addresses in kernel memory of one forward pass over n decisions. */
interface Pass {
  readonly n: number;
  readonly offsets: Int32Array;
  readonly stateInput: number;
  readonly actionInput: number;
  /** s [n, H], u [m, H] (the action code), h [m, H], v [n, H], each after its relu. */
  readonly s: number;
  readonly u: number;
  readonly h: number;
  readonly v: number;
  readonly logits: number;
  readonly values: number;
}

/**
 * The policy and value network in float32. Protocol: policy-and-training.md section 3, with ReLU for LayerNorm + tanh.
 *
 *     s = relu(state W + b)            a = relu(action W + b)
 *     logit = relu([s, a, s * a] W + b) w + b      value = relu(s W + b) w + b
 *
 * Both forward and backward go decision by decision in batch order, so a batch's bits depend on its order alone. With
 * W = [Ws; Wa; Wp], the hidden layer is s Ws + b + a (Wa + diag(s) Wp): one product per candidate instead of three.
 */
export class ActorCritic {
  readonly shape: ActorCriticShape;
  readonly parameters: ParameterBlock;
  readonly #arena: KernelArena;

  /** @throws TracewrightError "bad_shape" for widths that the kernels cannot do */
  constructor(arena: KernelArena, shape: ActorCriticShape) {
    const { stateWidth, actionWidth, hidden } = shape;
    const whole = [stateWidth, actionWidth, hidden].every((width) =>
      Number.isSafeInteger(width) && width > 0
    );
    if (!whole || hidden % 8 !== 0) {
      throw learnError("bad_shape", {
        expected: "positive widths and hidden a multiple of 8",
        actual: shape,
      });
    }
    this.shape = shape;
    this.#arena = arena;
    this.parameters = new ParameterBlock(arena, actorCriticLayout(shape));
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

  /** Logits and values of a batch of any size. The result of a decision does not depend on its batch. */
  forward(batch: DecisionBatch): ActorCriticOutput {
    checkDecisionBatch(batch, this.shape);
    const n = decisionCount(batch);
    const logits = new Float32Array(batch.mask.length);
    const values = new Float32Array(n);
    const { floats } = this.#arena;
    for (let from = 0; from < n; from += FORWARD_CHUNK) {
      this.#arena.scoped(() => {
        const pass = this.#forward(batch, { from, to: Math.min(from + FORWARD_CHUNK, n) });
        logits.set(floats.subarray(pass.logits, pass.logits + pass.offsets[pass.n]!), batch.offsets[from]!);
        values.set(floats.subarray(pass.values, pass.values + pass.n), from);
      });
    }
    return { logits, values };
  }

  /** Replaces the gradient by that of `objective` over the batch; parameters stay as they are. */
  computeGradient(batch: DecisionBatch, objective: Objective): void {
    checkDecisionBatch(batch, this.shape);
    this.#arena.scoped(() => {
      const pass = this.#forward(batch, { from: 0, to: decisionCount(batch) });
      const head = new Head(this.#arena, pass);
      objective(head);
      this.#backward(pass, head);
    });
  }

  #forward(batch: DecisionBatch, { from, to }: { readonly from: number; readonly to: number }): Pass {
    const arena = this.#arena, k = arena.kernels, p = this.parameters;
    const { stateWidth: S, actionWidth: D, hidden: H } = this.shape;
    const n = to - from;
    const first = batch.offsets[from]!, last = batch.offsets[to]!, m = last - first;
    const offsets = batch.offsets.slice(from, to + 1).map((offset) => offset - first);
    const pass: Pass = {
      n,
      offsets,
      stateInput: arena.allocate(n * S),
      actionInput: arena.allocate(m * D),
      s: arena.allocate(n * H),
      u: arena.allocate(m * H),
      h: arena.allocate(m * H),
      v: arena.allocate(n * H),
      logits: arena.allocate(m),
      values: arena.allocate(n),
    };
    const context = arena.allocate(n * H);
    const folded = arena.allocate(H * H);
    const product = arena.allocate(FOLD_FROM * H);
    k.floats.set(batch.state.subarray(from * S, to * S), pass.stateInput);
    k.floats.set(batch.action.subarray(first * D, last * D), pass.actionInput);

    const { s, v } = pass;
    denseRelu(k, {
      rows: n,
      inputs: S,
      outputs: H,
      x: pass.stateInput,
      weight: p.at("state_encoder.weight"),
      bias: p.at("state_encoder.bias"),
      out: s,
    });
    const critic = { weight: p.at("value_hidden.weight"), bias: p.at("value_hidden.bias") };
    denseRelu(k, { rows: n, inputs: H, outputs: H, x: s, ...critic, out: v });
    k.dotRows(n, H, v, p.at("value_output.weight"), p.at("value_output.bias"), pass.values);

    const ws = p.at("actor_hidden.weight"), wa = ws + H * H, wp = wa + H * H;
    const action = { weight: p.at("action_encoder.weight"), bias: p.at("action_encoder.bias") };
    const logitWeight = p.at("actor_logit.weight"), logitBias = p.at("actor_logit.bias");
    dense(k, {
      rows: n,
      inputs: H,
      outputs: H,
      x: s,
      weight: ws,
      bias: p.at("actor_hidden.bias"),
      out: context,
    });
    for (let d = 0; d < n; d++) {
      const at = offsets[d]!, rows = offsets[d + 1]! - at;
      const sd = s + d * H, u = pass.u + at * H, h = pass.h + at * H;
      denseRelu(k, { rows, inputs: D, outputs: H, x: pass.actionInput + at * D, ...action, out: u });
      k.fillRows(rows, H, context + d * H, h);
      if (rows >= FOLD_FROM) {
        k.fold(H, wa, wp, sd, folded);
        k.matmul(rows, H, H, u, folded, h, 1);
      } else {
        k.scaleColumns(rows, H, u, sd, product);
        k.matmul(rows, H, H, u, wa, h, 1);
        k.matmul(rows, H, H, product, wp, h, 1);
      }
      k.relu(rows * H, h);
      k.dotRows(rows, H, h, logitWeight, logitBias, pass.logits + at);
    }
    return pass;
  }

  #backward(pass: Pass, head: Head): void {
    const arena = this.#arena, k = arena.kernels, p = this.parameters;
    const { stateWidth: S, actionWidth: D, hidden: H } = this.shape;
    const { n, offsets, s, v } = pass;
    let largest = 0;
    for (let d = 0; d < n; d++) largest = Math.max(largest, offsets[d + 1]! - offsets[d]!);
    const ws = p.at("actor_hidden.weight"), wa = ws + H * H, wp = wa + H * H;
    const dws = p.gradientAt("actor_hidden.weight"), dwa = dws + H * H, dwp = dwa + H * H;
    const square = (): number => arena.allocate(H * H);
    const criticT = square(),
      wsT = square(),
      waT = square(),
      wpT = square(),
      folded = square(),
      dm = square();
    const ds = arena.allocate(n * H), dContext = arena.allocate(n * H), dv = arena.allocate(n * H);
    const dh = arena.allocate(largest * H), du = arena.allocate(largest * H);
    const [product, da, dp] = [0, 0, 0].map(() => arena.allocate(FOLD_FROM * H)) as [number, number, number];
    k.transpose(H, H, p.at("value_hidden.weight"), criticT);
    k.transpose(H, H, ws, wsT);
    k.transpose(H, H, wa, waT);
    k.transpose(H, H, wp, wpT);
    p.clearGradient();

    // value = relu(s W + b) w + b
    k.floats[p.gradientAt("value_output.bias")] = chainSum(k, { n, x: head.valueGradient });
    const dCriticBias = p.gradientAt("value_hidden.bias"), dValueWeight = p.gradientAt("value_output.weight");
    k.dotRowsBackward(
      n,
      H,
      v,
      head.valueGradient,
      p.at("value_output.weight"),
      dValueWeight,
      dv,
      dCriticBias,
    );
    k.matmulTransposed(n, H, H, s, dv, p.gradientAt("value_hidden.weight"), 1);
    k.matmul(n, H, H, dv, criticT, ds, 0);

    // logit = relu(context + u (Wa + diag(s) Wp)) w + b, decision by decision
    k.floats[p.gradientAt("actor_logit.bias")] = chainSum(k, { n: offsets[n]!, x: head.logitGradient });
    const logitWeight = p.at("actor_logit.weight"), dLogitWeight = p.gradientAt("actor_logit.weight");
    const action = {
      dWeight: p.gradientAt("action_encoder.weight"),
      dBias: p.gradientAt("action_encoder.bias"),
    };
    for (let d = 0; d < n; d++) {
      const at = offsets[d]!, rows = offsets[d + 1]! - at;
      const sd = s + d * H, u = pass.u + at * H, h = pass.h + at * H, dsd = ds + d * H;
      k.dotRowsBackward(rows, H, h, head.logitGradient + at, logitWeight, dLogitWeight, dh, dContext + d * H);
      if (rows >= FOLD_FROM) {
        k.matmulTransposed(rows, H, H, u, dh, dm, 0);
        k.foldBackward(H, dm, wp, sd, dwa, dwp, dsd);
        k.foldTransposed(H, waT, wpT, sd, folded);
        k.matmul(rows, H, H, dh, folded, du, 0);
      } else {
        k.scaleColumns(rows, H, u, sd, product);
        k.matmulTransposed(rows, H, H, u, dh, dwa, 1);
        k.matmulTransposed(rows, H, H, product, dh, dwp, 1);
        k.matmul(rows, H, H, dh, waT, da, 0);
        k.matmul(rows, H, H, dh, wpT, dp, 0);
        k.productBackward(rows, H, da, dp, u, sd, du, dsd);
      }
      k.reluBackward(rows * H, u, du);
      denseBackward(k, { rows, inputs: D, outputs: H, x: pass.actionInput + at * D, dy: du, ...action });
    }

    // context = s Ws + b, and s itself
    denseBackward(k, {
      rows: n,
      inputs: H,
      outputs: H,
      x: s,
      dy: dContext,
      dWeight: dws,
      dBias: p.gradientAt("actor_hidden.bias"),
    });
    k.matmul(n, H, H, dContext, wsT, ds, 1);
    k.reluBackward(n * H, s, ds);
    denseBackward(k, {
      rows: n,
      inputs: S,
      outputs: H,
      x: pass.stateInput,
      dy: ds,
      dWeight: p.gradientAt("state_encoder.weight"),
      dBias: p.gradientAt("state_encoder.bias"),
    });
  }
}
