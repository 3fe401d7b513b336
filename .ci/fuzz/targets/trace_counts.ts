import { countLines } from "../../../lib/pipeline/stages/metrics_stage.ts";
import { lines, releasedRun, text } from "../corpus.ts";
import { jsonInputs } from "../json_inputs.ts";
import { target } from "../target.ts";

const TIMEOUT = 80_000;

/** What `recompute` reads of traces that nobody has replayed. */
export default target({
  codes: ["not_canonical", "trace_schema"],
  make: jsonInputs(lines(releasedRun().output("evaluate/b/17", "traces.jsonl")).slice(0, 12)),
  read: (input) => countLines([text(input)], TIMEOUT),
  hold([row]) {
    const { case_id: _case, family: _family, ...counts } = row!;
    for (const [name, count] of Object.entries(counts)) {
      if (Number.isSafeInteger(count) && count >= 0) continue;
      throw new Error(`${name} is ${count}`);
    }
  },
});
