/** The network and its gradient as the protocol and the textbook write them, for tests: no kernel, double precision. */
import { exp, ln } from "../core/numerics.ts";
import type { RandomStream } from "../core/random_stream.ts";
import { ActorCritic, actorCriticLayout } from "./actor_critic.ts";
import type { KernelArena } from "./arena.ts";
import { type DecisionBatch, decisionCount } from "./decision_batch.ts";
import type { Objective } from "./head.ts";

/** Small, so that a difference quotient a parameter is quick. */
export const PLAIN_SHAPE = { stateWidth: 5, actionWidth: 4, hidden: 8 } as const;

/** Logits [M] and values [N] of a batch. */
export interface PlainOutput {
  readonly logits: readonly number[];
  readonly values: readonly number[];
}

/** The forward pass: concatenation instead of folded products. */
export function plainForward(parameters: Float64Array, batch: DecisionBatch): PlainOutput {
  const { stateWidth: S, actionWidth: D } = PLAIN_SHAPE;
  const part = (name: string) => {
    const { offset, rows, cols } = actorCriticLayout(PLAIN_SHAPE).find((entry) => entry.name === name)!;
    return parameters.subarray(offset, offset + rows * cols);
  };
  const layer = (x: readonly number[], name: string): number[] => {
    const weight = part(`${name}.weight`), bias = part(`${name}.bias`);
    return Array.from(bias, (b, j) => x.reduce((sum, xi, i) => sum + xi * weight[i * bias.length + j]!, b));
  };
  const relu = (x: readonly number[]) => x.map((xi) => Math.max(xi, 0));
  const logits: number[] = [];
  const values: number[] = [];
  for (let d = 0; d < decisionCount(batch); d++) {
    const s = relu(layer([...batch.state.subarray(d * S, (d + 1) * S)], "state_encoder"));
    values.push(layer(relu(layer(s, "value_hidden")), "value_output")[0]!);
    for (let i = batch.offsets[d]!; i < batch.offsets[d + 1]!; i++) {
      const a = relu(layer([...batch.action.subarray(i * D, (i + 1) * D)], "action_encoder"));
      const joint = [...s, ...a, ...s.map((si, j) => si * a[j]!)];
      logits.push(layer(relu(layer(joint, "actor_hidden")), "actor_logit")[0]!);
    }
  }
  return { logits, values };
}

/** ln of the probabilities of one decision: -Infinity where masked. */
export function plainLogProbs(
  { decisions, decision, logits }: {
    readonly decisions: DecisionBatch;
    readonly decision: number;
    readonly logits: readonly number[];
  },
): number[] {
  const [first, end] = [decisions.offsets[decision]!, decisions.offsets[decision + 1]!];
  const own = logits.slice(first, end);
  const mask = decisions.mask.subarray(first, end);
  const sum = own.reduce((total, logit, i) => total + (mask[i] ? exp(logit) : 0), 0);
  return own.map((logit, i) => mask[i] ? logit - ln(sum) : -Infinity);
}

/** A network away from zero biases and tiny logits, so that every part of a gradient is of a size that can be compared. */
export function plainNetwork(arena: KernelArena, stream: RandomStream): ActorCritic {
  const net = new ActorCritic(arena, PLAIN_SHAPE);
  net.initialise(stream);
  net.parameters.set(net.parameters.get().map((value) => value + 0.2 * stream.normal()));
  return net;
}

/**
 * Compares the kernels' gradient with central differences of `loss` on the plain network, parameter by parameter.
 *
 * @returns the root mean square of the differences, and every parameter whose gradient is off by more than 2e-5 of it
 */
export function gradientFaults(
  { net, batch, objective, loss }: {
    readonly net: ActorCritic;
    readonly batch: DecisionBatch;
    readonly objective: Objective;
    readonly loss: (output: PlainOutput) => number;
  },
): { readonly scale: number; readonly faults: readonly string[] } {
  net.computeGradient(batch, objective);
  const gradient = net.parameters.gradient.slice();
  const parameters = Float64Array.from(net.parameters.get());
  const h = 1e-6;
  const differences = parameters.map((value, i) => {
    const at = (x: number) => loss(plainForward(parameters.with(i, x), batch));
    return (at(value + h) - at(value - h)) / (2 * h);
  });
  const scale = Math.sqrt(differences.reduce((sum, x) => sum + x * x, 0) / differences.length);
  const faults = net.parameters.layout.flatMap(({ name, offset, rows, cols }) =>
    Array.from({ length: rows * cols }, (_, i) => ({ name, i, at: offset + i }))
  ).filter(({ at }) =>
    Math.abs(gradient[at]! - differences[at]!) >= 2e-5 * (scale + Math.abs(differences[at]!))
  ).map(({ name, i, at }) => `${name}[${i}]: ${gradient[at]}, ${differences[at]}`);
  return { scale, faults };
}
