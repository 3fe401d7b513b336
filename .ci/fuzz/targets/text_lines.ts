import { linesOf } from "../../../lib/store/lines.ts";
import { bytes, lines, releasedRun } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { mutateBytes } from "../mutate_bytes.ts";
import { target } from "../target.ts";

const seeds = [
  ...lines(releasedRun().output("evaluate/b/17", "traces.jsonl")).slice(0, 3).map((line) =>
    bytes(`${line}\n`)
  ),
  bytes('{"a":"é😀"}\n\n{}\r\n\u2028\n'),
  bytes("\n"),
];

/** Content as lines: the same ones however it is cut into pieces. */
export default target({
  codes: ["line_too_long", "not_text"],
  make: (random) => mutateBytes(random.pick(seeds), seeds, random),
  read: (input) => [...linesOf([input])],
  hold(read, input) {
    const whole = read.join("\n");
    equalBytes(bytes(input.at(-1) === 10 ? whole + "\n" : whole), input, "joined again");
    for (const size of [1, 7, 4096]) {
      const pieces = Array.from(
        { length: Math.ceil(input.length / size) },
        (_, i) => input.subarray(i * size, (i + 1) * size),
      );
      if (input.length > 300 * size) continue; // joining pieces takes the square of their number
      const again = [...linesOf(pieces)];
      if (again.length !== read.length || again.some((line, i) => line !== read[i])) {
        throw new Error(`in pieces of ${size} bytes there are other lines`);
      }
    }
  },
});
