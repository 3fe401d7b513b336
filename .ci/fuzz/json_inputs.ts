import type { RandomStream } from "../../lib/core/random_stream.ts";
import { bytes } from "./corpus.ts";
import { mutateBytes } from "./mutate_bytes.ts";
import { mutateJson } from "./mutate_json.ts";

/** Makes inputs from JSON texts: mostly changed trees, sometimes changed bytes, sometimes both, rarely the text itself. */
export function jsonInputs(seeds: readonly string[]): (random: RandomStream) => Uint8Array<ArrayBuffer> {
  const encoded = seeds.map(bytes);
  return (random) => {
    const kind = random.integer(10);
    const seed = random.pick(seeds);
    if (kind === 0 && random.integer(10) === 0) return bytes(seed);
    const made = kind < 8 ? bytes(mutateJson(seed, seeds, random)) : bytes(seed);
    return kind < 7 ? made : mutateBytes(made, encoded, random);
  };
}
