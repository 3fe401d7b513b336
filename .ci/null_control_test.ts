import assert from "node:assert/strict";
import recorded from "../fixtures/results/null_control.json" with { type: "json" };
import { type NullControl, withNullControl } from "./null_control.ts";
import { textOf } from "./_tree.ts";

const README = textOf("README.md");
const FOUND = recorded as NullControl;

Deno.test("the README says of intervals what the recorded null control found", () => {
  assert.equal(withNullControl(README, FOUND), README);
});

Deno.test("the recorded null control is at full length, and Student's intervals held in it", () => {
  assert.ok(FOUND.experiments >= 2000);
  assert.ok(FOUND.coverage.length >= 6);
  for (const { model, intervals } of FOUND.coverage) {
    const { covers } = intervals.find(({ method }) => method === "crossed_seed_case_student_t")!;
    assert.ok(covers >= 0.93 && covers <= 0.97, `${model.name}: ${covers}`);
  }
});

Deno.test("withNullControl() writes what was found, so that an edited table is seen", () => {
  const coverage = FOUND.coverage.map(({ model, intervals }, i) => ({
    model,
    intervals: intervals.map((one) => (i === 0 ? { ...one, covers: 0.5 } : one)),
  }));
  assert.notEqual(withNullControl(README, { ...FOUND, coverage }), README);
  assert.throws(() => withNullControl("no markers", FOUND), /no place/);
});
