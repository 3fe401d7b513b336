/**
 * The networks once more in BigInt, straight from their layers: no graph, no floating point, sums in descending order.
 * What the runtimes are tested against.
 */
import type { ExactActorCritic, ExactEstimator, ExactLayer } from "./exact_network.ts";

const TOP = (1n << 16n) - 1n;

function affine(x: readonly bigint[], { weights, bias, inputs, outputs }: ExactLayer): bigint[] {
  return Array.from({ length: outputs }, (_, j) => {
    let sum = BigInt(bias[j]!);
    for (let i = inputs - 1; i >= 0; i--) sum += x[i]! * BigInt(weights[i * outputs + j]!);
    return sum;
  });
}

/** max(0, x) shifted right, which floors, and clipped. */
function requantise(x: readonly bigint[], bits: bigint): bigint[] {
  return x.map((value) => {
    const shifted = value < 0n ? 0n : value >> bits;
    return shifted > TOP ? TOP : shifted;
  });
}

const hidden = (x: readonly bigint[], layer: ExactLayer) => requantise(affine(x, layer), 16n);

/** Logits [A] and value of one decision. */
export function bigActorCritic(
  { layers }: ExactActorCritic,
  { state, actions }: { state: readonly bigint[]; actions: readonly (readonly bigint[])[] },
): { logits: bigint[]; value: bigint } {
  const s = hidden(state, layers.state_encoder);
  const logits = actions.map((action) => {
    const a = hidden(action, layers.action_encoder);
    const product = requantise(s.map((value, i) => value * a[i]!), 10n);
    return affine(hidden([...s, ...a, ...product], layers.actor_hidden), layers.actor_logit)[0]!;
  });
  return { logits, value: affine(hidden(s, layers.value_hidden), layers.value_output)[0]! };
}

/** Logit of one state. */
export function bigEstimator({ layers }: ExactEstimator, state: readonly bigint[]): bigint {
  return affine(hidden(hidden(state, layers.hidden_1), layers.hidden_2), layers.logit)[0]!;
}
