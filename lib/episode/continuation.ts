import { digestOfJson } from "../core/digest.ts";
import { RandomStream } from "../core/random_stream.ts";
import type { FeatureEncoder } from "../policy/encoder.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { LabelWorld } from "./_label_world.ts";
import type { LabelRule } from "./label_audit.ts";
import { PREFIX_NAMES, prefixLengths, type ProgressRow } from "./progress_row.ts";

/** The fixed policy whose success the progress estimator learns to predict: 0.75 towards the goal, errors absorb. */
export const CONTINUATION_POLICY = {
  schema: "tracewright.continuation.v2",
  rule: "oracle-positive, absorbing error",
  follow_probability: 0.75,
  trials_per_prefix: 8,
} as const;

/** What the labels of {@link continuationRows} must look like. */
export const CONTINUATION_RULE: LabelRule = {
  policy: digestOfJson(CONTINUATION_POLICY),
  terminalRows: "one_a_continuation",
  balance: "bounded",
};

/**
 * Follows the policy to the end of the episode: towards the goal with the follow probability, each way equally likely;
 * after the first error only away from it, by calls that the environment accepts where there are any.
 */
function runOut(world: LabelWorld, stream: RandomStream): void {
  let strayed = false;
  while (!world.environment.done) {
    const { towards, away, executableAway } = world.choices();
    const follow: boolean = !strayed && stream.uniform() < CONTINUATION_POLICY.follow_probability;
    const order = follow ? [towards, executableAway, away] : [executableAway, away, towards];
    const pool: readonly number[] = order.find(({ length }) => length > 0)!;
    strayed = !follow || pool !== towards;
    world.step(stream.pick(pool));
  }
}

/**
 * Labels for the progress estimator: from four prefixes of plan 0, eight continuations each under the fixed policy, run to
 * the end of the real environment. Each continuation gives two rows with its outcome: the prefix state and the terminal
 * state. The follow probability is the same for every prefix, so a label tells of the state and not of the prefix. Each
 * continuation draws from a stream that names its case, prefix and trial, so no task's rows depend on the others.
 * Source: protocol/policy-and-training.md section 5.1, with named streams in place of a hash a draw.
 *
 * @param seed run seed
 * @throws TracewrightError "bad_prefixes" if a task has no four prefix states along plan 0
 */
export function* continuationRows(
  tasks: Iterable<WorkflowTask>,
  encoder: FeatureEncoder,
  seed: number,
): Generator<ProgressRow> {
  for (const task of tasks) {
    const { case_id, family } = task;
    const world = new LabelWorld(task, encoder);
    for (const [p, length] of prefixLengths(task.optimal_steps).entries()) {
      const prefix = PREFIX_NAMES[p]!;
      for (let trial = 0; trial < CONTINUATION_POLICY.trials_per_prefix; trial++) {
        world.startAfter(length);
        const state = world.encode();
        runOut(world, new RandomStream(seed, CONTINUATION_POLICY.schema, case_id, prefix, trial));
        const row = { case_id, family, prefix, trial, label: world.environment.evaluate().success };
        yield { ...row, state, terminal: false };
        yield { ...row, state: world.encode(), terminal: true };
      }
    }
  }
}
