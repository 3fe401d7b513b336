import { readTaskLines, writeTaskLines } from "../../../lib/benchmark/task_lines.ts";
import { WorkflowEnvironment } from "../../../lib/world/environment.ts";
import type { RandomStream } from "../../../lib/core/random_stream.ts";
import { bytes, lines, releasedRun } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { joined } from "../joined.ts";
import { jsonInputs } from "../json_inputs.ts";
import { target } from "../target.ts";

const CODES = [
  "bad_line",
  "blank_line",
  "line_too_long",
  "missing_newline",
  "not_sorted",
  "not_utf8",
  // of the environment, where a task contradicts itself
  "duplicate_tool",
  "duplicate_node",
  "reserved_effect",
  "bad_service_time",
];
const seeds = lines(releasedRun().output("benchmark", "test.jsonl")).slice(0, 30);
const line = jsonInputs(seeds);

/** Tasks of a benchmark, and the environment that begins with them. */
export default target({
  codes: CODES,
  make(random: RandomStream) {
    const made = line(random);
    if (random.integer(10) === 0) return made;
    const before = random.integer(4) === 0 ? bytes(random.pick(seeds) + "\n") : new Uint8Array(0);
    return joined(before, made, Uint8Array.of(10));
  },
  read(input) {
    const tasks = readTaskLines(input);
    return { tasks, environments: tasks.map((task) => new WorkflowEnvironment(task)) };
  },
  hold({ tasks, environments }, input) {
    equalBytes(writeTaskLines(tasks), input, "written again");
    for (const environment of environments) {
      environment.observe();
      environment.candidates();
    }
  },
});
