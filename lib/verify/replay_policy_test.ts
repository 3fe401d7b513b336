import assert from "node:assert/strict";
import { TracewrightError } from "../core/error.ts";
import { ACTOR, LINES, SETTINGS, TASKS } from "./_example_evaluation.ts";
import { replayPolicy } from "./replay_policy.ts";

const replay = (lines: readonly string[]) =>
  replayPolicy(lines, TASKS, { node: "evaluate/b/17", actor: ACTOR, settings: SETTINGS, credit: "action" });

async function refused(
  lines: readonly string[],
  place: { readonly [detail: string]: unknown },
): Promise<void> {
  await assert.rejects(() => replay(lines), (error) => {
    assert.ok(error instanceof TracewrightError, String(error));
    assert.equal(error.code, "trace_policy_mismatch");
    for (const [name, value] of Object.entries(place)) {
      assert.deepEqual(error.details[name], value, error.message);
    }
    return true;
  });
}

Deno.test("replayPolicy() decides every case again and counts the decisions", async () => {
  const steps = LINES.map((line) => JSON.parse(line).step_count as number);
  assert.equal(await replay(LINES), steps.reduce((sum, count) => sum + count, 0));
});

Deno.test("replayPolicy() stops at the first decision that another policy would have made", async () => {
  const second = JSON.parse(LINES[1]!);
  const shifted = structuredClone(second);
  shifted.steps[3].log_prob -= 0.125;
  await refused([LINES[0]!, JSON.stringify(shifted)], {
    node: "evaluate/b/17",
    case: TASKS[1]!.case_id,
    step: 3,
    field: "log_prob",
    expected: second.steps[3].log_prob,
    actual: shifted.steps[3].log_prob,
  });
});

Deno.test("replayPolicy() compares bytes: the same numbers in another spelling are another trace", async () => {
  await refused([LINES[0]!.replace(":", ": "), LINES[1]!], { case: TASKS[0]!.case_id });
});

Deno.test("replayPolicy() wants a trace a case and no more", async () => {
  await refused(LINES.slice(0, 1), { case: TASKS[1]!.case_id, expected: "a trace", actual: "nothing" });
  await refused([...LINES, LINES[0]!], { expected: "2 traces", actual: "more traces than cases" });
});
