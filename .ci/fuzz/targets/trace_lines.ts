import { canonicalJson } from "../../../lib/core/canonical_json.ts";
import { readTaskLines } from "../../../lib/benchmark/task_lines.ts";
import { caseCounts } from "../../../lib/evaluate/case_counts.ts";
import { parseConfig } from "../../../lib/pipeline/config.ts";
import { rewardSettings } from "../../../lib/pipeline/semantics.ts";
import { parseCanonical } from "../../../lib/core/canonical_json.ts";
import { replayEnvironment } from "../../../lib/verify/replay_environment.ts";
import type { VerifyCode } from "../../../lib/verify/verify_code.ts";
import { hexOf } from "../../../lib/core/digest.ts";
import { bytes, lines, releasedRun, text } from "../corpus.ts";
import { equalBytes } from "../equal_bytes.ts";
import { jsonInputs } from "../json_inputs.ts";
import { target } from "../target.ts";

const CODES: readonly VerifyCode[] = [
  "trace_not_canonical",
  "trace_schema",
  "trace_case_mismatch",
  "trace_environment_mismatch",
];
const run = releasedRun();
const tasks = new Map(
  readTaskLines(run.output("benchmark", "test.jsonl")).map((task) => [task.case_id, task]),
);
const [first] = tasks.values();
const config = parseConfig(parseCanonical(run.ending(`/blobs/sha256/${hexOf(run.dag.config)}`)[0]!));
const settings = {
  node: "evaluate/e/17",
  credit: "action",
  selection: "public",
  reward: rewardSettings(config),
} as const;

/** The line is text by then: what is not UTF-8 is the business of the target `text-lines`. */
export default target({
  codes: CODES,
  make: jsonInputs(lines(run.output("evaluate/e/17", "traces.jsonl")).slice(0, 12)),
  read(input) {
    const line = text(input);
    const name = /"case_id":"([^"]*)","credit/.exec(line)?.[1] ?? "";
    return replayEnvironment(line, tasks.get(name) ?? first!, settings);
  },
  hold(record, input) {
    equalBytes(bytes(canonicalJson(record)), bytes(text(input)), "written again");
    caseCounts(record, 80_000);
  },
});
