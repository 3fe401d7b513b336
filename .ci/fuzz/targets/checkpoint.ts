import { readCheckpoint, writeCheckpoint } from "../../../lib/learn/checkpoint.ts";
import type { RandomStream } from "../../../lib/core/random_stream.ts";
import { bytes, releasedRun, text } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { joined } from "../joined.ts";
import { jsonInputs } from "../json_inputs.ts";
import { mutateBytes } from "../mutate_bytes.ts";
import { target } from "../target.ts";

const run = releasedRun();
const seeds = [run.output("bc/17", "checkpoint.bin"), run.output("progress/17", "checkpoint.bin")];
const header = jsonInputs(seeds.map((seed) => text(seed.subarray(0, seed.indexOf(10)))));

/** Networks as training leaves them. */
export default target({
  codes: ["bad_checkpoint"],
  make(random: RandomStream) {
    const seed = random.pick(seeds);
    if (random.integer(3) === 0) return mutateBytes(seed, seeds, random);
    const head = header(random);
    const body = random.integer(3) === 0 ? bytes("") : seed.subarray(seed.indexOf(10));
    return joined(head, body);
  },
  read: (input) => readCheckpoint(input),
  hold: (checkpoint, input) => equalBytes(writeCheckpoint(checkpoint), input, "written again"),
});
