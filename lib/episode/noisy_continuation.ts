import { digestOfJson } from "../core/digest.ts";
import { RandomStream } from "../core/random_stream.ts";
import type { FeatureEncoder } from "../policy/encoder.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { LabelWorld } from "./_label_world.ts";
import type { LabelRule } from "./label_audit.ts";
import { PREFIX_NAMES, prefixLengths, type ProgressRow } from "./progress_row.ts";

/** The label policy behind the published results. Its chance of a valid call grows with the prefix, so labels tell of it. */
export const NOISY_CONTINUATION_POLICY = {
  schema: "tracewright.noisy_continuation.v1",
  rule: "noisy continuation",
  base_probability: 0.5,
  prefix_gain: 0.45,
  trials_per_prefix: 2,
} as const;

/** What the labels of {@link noisyRows} must look like. */
export const NOISY_RULE: LabelRule = {
  policy: digestOfJson(NOISY_CONTINUATION_POLICY),
  terminalRows: "none",
  balance: "both",
};

/** The chance that a step after a prefix of so many of `optimalSteps` calls is a valid one. */
export function validProbability(
  { prefix, optimalSteps }: { readonly prefix: number; readonly optimalSteps: number },
): number {
  const { base_probability, prefix_gain } = NOISY_CONTINUATION_POLICY;
  return base_probability + prefix_gain * (prefix / optimalSteps);
}

/**
 * Labels as the published results had them: from four prefixes of plan 0, two continuations each, every step of which is a
 * valid candidate with a probability that depends on the prefix, else an invalid one, each equally likely. Only prefix
 * states are kept. Source: protocol/policy-and-training.md section 5.2, with named streams in place of the Mersenne
 * twister.
 *
 * @param seed run seed
 * @throws TracewrightError "bad_prefixes" if a task has no four prefix states along plan 0
 */
export function* noisyRows(
  tasks: Iterable<WorkflowTask>,
  encoder: FeatureEncoder,
  seed: number,
): Generator<ProgressRow> {
  for (const task of tasks) {
    const { case_id, family, optimal_steps: optimalSteps } = task;
    const world = new LabelWorld(task, encoder);
    for (const [p, length] of prefixLengths(optimalSteps).entries()) {
      const prefix = PREFIX_NAMES[p]!;
      const probability = validProbability({ prefix: length, optimalSteps });
      for (let trial = 0; trial < NOISY_CONTINUATION_POLICY.trials_per_prefix; trial++) {
        world.startAfter(length);
        const state = world.encode();
        const stream = new RandomStream(seed, NOISY_CONTINUATION_POLICY.schema, case_id, prefix, trial);
        while (!world.environment.done) {
          const { valid, invalid } = world.choices();
          const wanted = stream.uniform() < probability ? [valid, invalid] : [invalid, valid];
          world.step(stream.pick(wanted.find(({ length }) => length > 0)!));
        }
        const label = world.environment.evaluate().success;
        yield { case_id, family, prefix, trial, state, label, terminal: false };
      }
    }
  }
}
