import type { Json } from "../core/canonical_json.ts";
import { type EpisodeSettings, runEpisodes } from "../episode/run_episodes.ts";
import type { Actor } from "../episode/actor.ts";
import { type CreditAssignment, traceLine, traceRecord } from "../episode/trace.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { placeInTrace, traceDifference } from "./replay_environment.ts";
import { verifyError } from "./verify_code.ts";

/**
 * Runs every case again from the checkpoint and compares each line byte for byte. This is what stops a forged but legal
 * trajectory, and forged log-probabilities, values and rewards.
 *
 * @param lines recorded trace lines without newlines, in the order of the tasks
 * @returns the number of decisions replayed
 * @throws TracewrightError "trace_policy_mismatch" with the first field that differs
 */
export async function replayPolicy(
  lines: Iterable<string>,
  tasks: readonly WorkflowTask[],
  { node, actor, settings, credit, progress }: {
    readonly node: string;
    readonly actor: Actor;
    readonly settings: EpisodeSettings;
    readonly credit: CreditAssignment;
    readonly progress?: (fraction: number) => void;
  },
): Promise<number> {
  const recorded = lines[Symbol.iterator]();
  let cases = 0;
  let decisions = 0;
  for await (const episode of runEpisodes(tasks, actor, settings)) {
    const expected = traceLine(traceRecord(episode, { mode: "compact", credit })).slice(0, -1);
    const { value: actual, done } = recorded.next();
    if (done || actual !== expected) {
      const difference = done
        ? { path: "", expected: "a trace", actual: "nothing" }
        : traceDifference(JSON.parse(expected) as Json, JSON.parse(actual) as Json) ??
          { path: "", expected, actual };
      throw verifyError("trace_policy_mismatch", {
        verify_step: "policy",
        node,
        case: episode.task.case_id,
        ...placeInTrace(difference.path),
        expected: difference.expected,
        actual: difference.actual,
        hint: "the trace was not produced by this checkpoint",
      });
    }
    decisions += episode.steps.length;
    cases++;
    progress?.(cases / tasks.length);
  }
  if (!recorded.next().done) {
    throw verifyError("trace_policy_mismatch", {
      verify_step: "policy",
      node,
      expected: `${cases} traces`,
      actual: "more traces than cases",
    });
  }
  return decisions;
}
