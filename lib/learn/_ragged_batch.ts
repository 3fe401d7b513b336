import type { RandomStream } from "../core/random_stream.ts";
import type { DecisionBatch, FeatureWidths } from "./decision_batch.ts";

/** A random batch on the feature grid, for tests; about one candidate in five is masked, never all. */
export function raggedBatch(
  { sizes, stateWidth, actionWidth, stream }: FeatureWidths & {
    /** Candidates of each decision. */
    readonly sizes: readonly number[];
    readonly stream: RandomStream;
  },
): DecisionBatch {
  const offsets = new Int32Array(sizes.length + 1);
  sizes.forEach((size, d) => offsets[d + 1] = offsets[d]! + size);
  const candidates = offsets[sizes.length]!;
  const feature = () => (stream.integer(2049) - 1024) / 1024;
  const state = Float32Array.from({ length: sizes.length * stateWidth }, feature);
  const action = Float32Array.from({ length: candidates * actionWidth }, feature);
  const mask = Uint8Array.from({ length: candidates }, () => stream.integer(5) === 0 ? 0 : 1);
  sizes.forEach((size, d) => mask[offsets[d]! + stream.integer(size)] = 1);
  return { offsets, state, action, mask };
}
