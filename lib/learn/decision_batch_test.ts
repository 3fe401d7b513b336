import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import type { EncodedDecision } from "../policy/encoder.ts";
import { decisionBatch, firstDecisions, selectCandidates, selectDecisions } from "./decision_batch.ts";

const WIDTHS = { stateWidth: 2, actionWidth: 1 };
const DECISIONS: EncodedDecision[] = [
  { state: Int32Array.of(1024, -512), actions: Int32Array.of(1, 2), mask: [true, false] },
  { state: Int32Array.of(0, 1), actions: Int32Array.of(3), mask: [true] },
  { state: Int32Array.of(2, 3), actions: Int32Array.of(4, 5, 6), mask: [false, false, true] },
];

Deno.test("decisionBatch() joins decisions without padding, as grid / 1024", () => {
  assert.deepEqual(decisionBatch(DECISIONS, WIDTHS), {
    offsets: Int32Array.of(0, 2, 3, 6),
    state: Float32Array.of(1, -0.5, 0, 1 / 1024, 2 / 1024, 3 / 1024),
    action: Float32Array.of(1, 2, 3, 4, 5, 6).map((x) => x / 1024),
    mask: Uint8Array.of(1, 0, 1, 0, 0, 1),
  });
});

Deno.test("selectDecisions() and selectCandidates() are the batch of the selected decisions", () => {
  const batch = decisionBatch(DECISIONS, WIDTHS);
  const rows = Int32Array.of(2, 0);
  assert.deepEqual(selectDecisions(batch, rows), decisionBatch([DECISIONS[2]!, DECISIONS[0]!], WIDTHS));
  const perCandidate = Uint8Array.of(10, 11, 12, 13, 14, 15);
  assert.deepEqual(selectCandidates(batch.offsets, perCandidate, rows), Uint8Array.of(13, 14, 15, 10, 11));
});

Deno.test("decisionBatch() refuses other widths and a decision without a choice", () => {
  const refused = (changed: Partial<EncodedDecision>, code: string) =>
    assert.throws(() => decisionBatch([{ ...DECISIONS[0]!, ...changed }], WIDTHS), (e) => hasCode(e, code));
  refused({ state: Int32Array.of(1) }, "bad_batch");
  refused({ actions: Int32Array.of(1) }, "bad_batch");
  refused({ mask: [true] }, "bad_batch");
  refused({ mask: [false, false] }, "no_candidate");
  refused({ mask: [], actions: new Int32Array(0) }, "no_candidate");
});

Deno.test("firstDecisions() takes no more than there are", () => {
  const batch = decisionBatch(DECISIONS, WIDTHS);
  assert.deepEqual(firstDecisions(batch, 2), selectDecisions(batch, Int32Array.of(0, 1)));
  assert.deepEqual(firstDecisions(batch, 9), batch);
});
