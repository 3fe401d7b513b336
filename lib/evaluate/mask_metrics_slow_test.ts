import assert from "node:assert/strict";
import { type ActionValidityRow, actionValidityRows } from "../benchmark/action_validity.ts";
import { generateSplit } from "../benchmark/generate.ts";
import { canonicalJson } from "../core/canonical_json.ts";
import { digestOf } from "../core/digest.ts";
import { hasCode } from "../core/error.ts";
import { actionValidityEvidence } from "./action_validity_evidence.ts";
import { MaskEvaluation, type MaskMetrics, type MaskMetricsCode } from "./mask_metrics.ts";

const SEED = 2006549735;
const BOOTSTRAP = { samples: 200, confidence: 0.95, seed: 7 };
const TASKS = generateSplit({ split: "test", size: 2, baseSeed: SEED });
const ROWS = [...actionValidityRows(TASKS, { seed: SEED })];

function measure(rows: readonly ActionValidityRow[], tasks = 2): MaskMetrics {
  const evaluation = new MaskEvaluation();
  for (const row of rows) evaluation.add(row, TASKS.find((task) => task.case_id === row.case_id));
  return evaluation.finish({ tasks, bootstrap: BOOTSTRAP });
}

/** The rows with one of them replaced. */
function withRow(index: number, change: (row: ActionValidityRow) => Partial<ActionValidityRow>) {
  return ROWS.map((row, i) => i === index ? { ...row, ...change(row) } : row);
}

function fails(rows: readonly ActionValidityRow[], code: MaskMetricsCode): void {
  assert.throws(() => measure(rows), (error) => hasCode(error, code), code);
}

const values = ({ valid_recall, invalid_recall, balanced_accuracy, macro_f1 }: MaskMetrics) =>
  [valid_recall, invalid_recall, balanced_accuracy, macro_f1].map((score) => score?.value);

const kinds = ({ invalid_kind_recall: { schema, grounding, precondition, safety } }: MaskMetrics) =>
  [schema, grounding, precondition, safety].map((recall) => recall?.value);

Deno.test("MaskEvaluation on two tasks: 40 rows, one of which no public rule can see", () => {
  const metrics = measure(ROWS);
  assert.deepEqual(metrics.confusion_matrix, {
    true_positive: 20,
    false_negative: 0,
    true_negative: 19,
    false_positive: 1,
  });
  assert.deepEqual(values(metrics), [1, 0.95, 0.975, 0.9749843652282677]);
  assert.deepEqual(kinds(metrics), [1, 1, 1, 0.8]);
  assert.deepEqual(
    [metrics.count, metrics.cases, metrics.valid_count, metrics.invalid_count, metrics.is_canonical_20k],
    [40, 2, 20, 20, false],
  );
  // A replicate holds the first task twice (1), the second twice (0.95) or each once (0.975).
  const { low, high, samples, requested_samples } = metrics.bootstrap.balanced_accuracy!;
  assert.deepEqual([low, high, samples, requested_samples], [0.95, 1, 200, 200]);
});

Deno.test("actionValidityEvidence() on the canonical size gives the structural figures exactly", () => {
  const tasks = generateSplit({ split: "test", size: 1000, baseSeed: SEED });
  const { manifest, metrics } = actionValidityEvidence(tasks, { seed: SEED, bootstrap: BOOTSTRAP });
  assert.deepEqual(
    [manifest.count, manifest.valid_count, manifest.invalid_count, manifest.source_task_count],
    [20_000, 10_000, 10_000, 1000],
  );
  assert.deepEqual(manifest.invalid_kind_counts, {
    schema: 2500,
    grounding: 2500,
    precondition: 2500,
    safety: 2500,
  });
  assert.deepEqual(manifest.challenge_counts, { standard_candidate: 19_500, hidden_ledger_collision: 500 });
  assert.deepEqual(metrics.confusion_matrix, {
    true_positive: 10_000,
    false_negative: 0,
    true_negative: 9_500,
    false_positive: 500,
  });
  assert.deepEqual(values(metrics), [1, 0.95, 0.975, 0.9749843652282677]);
  assert.deepEqual(kinds(metrics), [1, 1, 1, 0.8]);
  assert.equal(metrics.is_canonical_20k, true);
});

Deno.test("actionValidityEvidence() writes the bytes that its manifest names, and measures as row by row", () => {
  const pieces: string[] = [];
  const { manifest, metrics } = actionValidityEvidence(TASKS, {
    seed: SEED,
    bootstrap: BOOTSTRAP,
    onLine: (bytes) => void pieces.push(new TextDecoder().decode(bytes)),
  });
  assert.equal(pieces.length, 40);
  assert.equal(digestOf(pieces.join("")), manifest.sha256);
  assert.deepEqual(metrics, measure(ROWS));
});

Deno.test("MaskEvaluation scores a wrong frozen label as it is frozen", () => {
  const valid = ROWS.findIndex((row) => row.valid_label);
  const asInvalid = measure(withRow(valid, () => ({ valid_label: false, invalid_kind: "schema" })));
  assert.deepEqual(asInvalid.confusion_matrix, {
    true_positive: 19,
    false_negative: 0,
    true_negative: 19,
    false_positive: 2,
  });
  const safe = ROWS.findIndex((row) => row.invalid_kind === "grounding");
  const asValid = measure(withRow(safe, () => ({ valid_label: true, invalid_kind: null })));
  assert.deepEqual(
    [asValid.confusion_matrix.false_negative, asValid.confusion_matrix.true_negative],
    [1, 18],
  );
  const otherKind = measure(withRow(safe, () => ({ invalid_kind: "safety" })));
  assert.deepEqual([kinds(otherKind)[1], otherKind.invalid_kind_recall.safety!.denominator], [1, 3]);
});

Deno.test("MaskEvaluation refuses rows that are not what they should be, each by its code", () => {
  fails(ROWS.slice(0, 39), "wrong_row_count");
  fails([], "wrong_row_count");
  fails(ROWS.slice(0, 20), "wrong_row_count");
  fails(withRow(5, () => ({ sample_id: ROWS[4]!.sample_id })), "duplicate_sample");
  fails(withRow(5, () => ({ sample_id: ROWS[3]!.sample_id })), "unsorted_samples");
  fails(withRow(5, () => ({ case_id: "test-nowhere-0000" })), "unknown_case");
  fails(withRow(5, () => ({ case_id: TASKS[1]!.case_id })), "foreign_observation");
  fails(withRow(5, () => ({ state_sha256: "0".repeat(64) })), "state_digest_mismatch");
  const { observation } = ROWS[5]!;
  fails(withRow(5, () => ({ observation: { ...observation, message: "edited" } })), "state_digest_mismatch");
  fails(withRow(5, (row) => ({ valid_label: !row.valid_label })), "label_kind_mismatch");
});

Deno.test("MaskEvaluation hashes every observation that is not the very object before it", () => {
  const copies = ROWS.map((row) => JSON.parse(canonicalJson(row)) as ActionValidityRow);
  assert.deepEqual(measure(copies), measure(ROWS));
});
