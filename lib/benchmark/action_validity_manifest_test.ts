import assert from "node:assert/strict";
import { digestOf } from "../core/digest.ts";
import { actionValidityLine, actionValidityRows } from "./action_validity.ts";
import { ActionValidityTally } from "./action_validity_manifest.ts";
import { generateSplit } from "./generate.ts";

const SEED = 20260808;
const TASKS = generateSplit({ split: "test", size: 3, baseSeed: SEED });
const ROWS = [...actionValidityRows(TASKS, { seed: SEED })];

function tallyOf(rows: typeof ROWS) {
  const tally = new ActionValidityTally();
  const bytes = rows.map((row) => new TextDecoder().decode(tally.add(row)));
  return { text: bytes.join(""), manifest: tally.finish({ seed: SEED }) };
}

Deno.test("ActionValidityTally counts and hashes what it gives out to write", () => {
  const { text, manifest } = tallyOf(ROWS);
  assert.equal(text, ROWS.map(actionValidityLine).join(""));
  // 30 invalid slots over 3 tasks: the cursor hands out 4 kinds in turn, 8, 8, 7 and 7; the second task collides.
  assert.deepEqual(manifest, {
    schema: "tracewright.action-validity.v1",
    dataset_name: "action-validity-v2",
    generator_version: "benchmark-v1.3.0",
    source_task_count: 3,
    states_per_task: 5,
    candidates_per_state: 4,
    seed: SEED,
    count: 60,
    valid_count: 30,
    invalid_count: 30,
    invalid_kind_counts: { schema: 8, grounding: 8, precondition: 7, safety: 7 },
    challenge_counts: { standard_candidate: 59, hidden_ledger_collision: 1 },
    sha256: digestOf(text),
    source_cases_digest: digestOf(TASKS.map((task) => task.case_id).join("\n")),
    label_source: "environment_dry_run",
  });
});

Deno.test("ActionValidityTally notices one changed row", () => {
  const changed = ROWS.map((row, i) => i === 7 ? { ...row, state_index: 4 - row.state_index } : row);
  assert.notEqual(tallyOf(changed).manifest.sha256, tallyOf(ROWS).manifest.sha256);
});
