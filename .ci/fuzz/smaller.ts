import { joined } from "./joined.ts";

/**
 * Takes pieces out of an input for as long as it stays interesting: halves first, then ever smaller pieces (the idea of
 * Zeller and Hildebrandt 2002, delta debugging, without complements).
 *
 * @param tries how often `interesting` is asked at most
 */
export async function smaller(
  input: Uint8Array<ArrayBuffer>,
  interesting: (candidate: Uint8Array<ArrayBuffer>) => Promise<boolean>,
  tries: number,
): Promise<Uint8Array<ArrayBuffer>> {
  let best = input;
  let left = tries;
  for (let size = Math.ceil(best.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length && left > 0;) {
      const candidate = joined(best.subarray(0, at), best.subarray(at + size));
      left--;
      if (await interesting(candidate)) best = candidate;
      else at += size;
    }
  }
  return best;
}
