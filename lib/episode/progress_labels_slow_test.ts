import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { ENCODER, exampleTasks } from "./_example_episodes.ts";
import { CONTINUATION_RULE, continuationRows } from "./continuation.ts";
import { auditLabels } from "./label_audit.ts";
import { NOISY_RULE } from "./noisy_continuation.ts";
import { labelSplit } from "./progress_labels.ts";
import { selectProgressTasks } from "./select_tasks.ts";

const DEV = exampleTasks(10, "dev");
const settings = { encoder: ENCODER, seed: 17 } as const;

Deno.test("labelSplit() by absorbing errors labels all of dev and audits what it labelled", () => {
  const { rows, audit } = labelSplit(DEV, { ...settings, labels: "absorbing-error", split: "dev" });
  assert.deepEqual(rows, [...continuationRows(DEV, ENCODER, 17)]);
  assert.deepEqual(audit, auditLabels(rows, CONTINUATION_RULE));
  assert.deepEqual(audit.case_ids, DEV.map(({ case_id }) => case_id));
});

Deno.test("labelSplit() by absorbing errors spreads 360 train tasks over strata", () => {
  const train = exampleTasks(400, "train");
  const { audit } = labelSplit(train, { ...settings, labels: "absorbing-error", split: "train" });
  const chosen = selectProgressTasks(train, { limit: 360, seed: 17 });
  assert.deepEqual(audit.case_ids, chosen.map(({ case_id }) => case_id));
});

Deno.test("labelSplit() by noisy continuations takes the first 256 train and 128 dev tasks by case id", () => {
  for (const [split, count] of [["train", 256], ["dev", 128]] as const) {
    const tasks = exampleTasks(300, split);
    const sorted = tasks.map(({ case_id }) => case_id).sort();
    const { audit } = labelSplit(tasks.toReversed(), { ...settings, labels: "noisy-continuation", split });
    assert.deepEqual(audit.case_ids, sorted.slice(0, count));
    assert.deepEqual([audit.policy, audit.rows], [NOISY_RULE.policy, count * 8]);
  }
});

Deno.test("labelSplit() refuses labels that teach nothing", () => {
  for (const labels of ["absorbing-error", "noisy-continuation"] as const) {
    assert.throws(
      () => labelSplit([], { ...settings, labels, split: "dev" }),
      (error) => hasCode(error, "unbalanced_labels"),
    );
  }
});
