import { RandomStream } from "../core/random_stream.ts";

/** How case-cluster intervals are called in records; also names the stream of draws. */
export const CASE_CLUSTER_METHOD = "case_cluster_percentile";

/** What decides a sequence of draws. */
interface Draws {
  /** The bootstrap seed root. */
  readonly seed: number;
  /** Cases there are, and cases drawn a replicate. */
  readonly count: number;
  readonly samples: number;
}

/** Draws that are kept, 4 bytes each: those of 1000 replicates of 1000 cases. More are drawn again for whoever asks. */
const KEPT = 1_000_000;

let kept: { readonly name: string; readonly places: Int32Array } | undefined;

/**
 * Cases drawn with replacement, a replicate at a time. All sets of so many cases see the same draws, so those of a usual
 * size are kept for the next set.
 *
 * @returns for each replicate the places of its cases, shape [count], which hold until the next replicate
 */
export function* caseDraws({ seed, count, samples }: Draws): Generator<Int32Array> {
  const stream = new RandomStream(seed, CASE_CLUSTER_METHOD);
  if (count * samples > KEPT) {
    const drawn = new Int32Array(count);
    for (let replicate = 0; replicate < samples; replicate++) {
      for (let i = 0; i < count; i++) drawn[i] = stream.integer(count);
      yield drawn;
    }
    return;
  }
  const name = `${seed} ${count} ${samples}`;
  if (kept?.name !== name) {
    const places = new Int32Array(count * samples);
    for (let i = 0; i < places.length; i++) places[i] = stream.integer(count);
    kept = { name, places };
  }
  const { places } = kept;
  for (let start = 0; start < places.length; start += count) yield places.subarray(start, start + count);
}
