import { canonicalJson, type Json } from "../core/canonical_json.ts";
import type { Potential } from "../episode/potential.ts";
import { rewardComponents, totalReward } from "../episode/reward.ts";
import type { RewardSettings } from "../episode/reward_settings.ts";
import { progressPotential, shapingReward } from "../episode/shaping.ts";
import type { FullStep, TraceRecord } from "../episode/trace.ts";
import { caseCounts } from "../evaluate/case_counts.ts";
import { addCase, emptyTotals, metricsOf } from "../evaluate/metrics.ts";
import type { FeatureEncoder } from "../policy/encoder.ts";
import { ActionMask } from "../world/action_mask.ts";
import type { StepOutcome, ToolCall, WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { PolicyInputBuilder } from "../world/policy_input_builder.ts";

/** What of a record its replay is held against. */
export const REPLAYED_FACTS = ["observation", "done", "reward", "final_state", "metrics"] as const;
/** One of {@link REPLAYED_FACTS}. */
export type ReplayedFact = (typeof REPLAYED_FACTS)[number];

/** A place in which a replay disagrees with what was recorded. `step` is null for facts about the whole case. */
export interface Inconsistency {
  readonly fact: ReplayedFact;
  readonly case_id: string;
  readonly step: number | null;
}

/** How the episodes were run. */
export interface ReplaySettings {
  readonly encoder: FeatureEncoder;
  readonly reward: RewardSettings;
  /** Absent where the reward has no progress term. */
  readonly potential?: Potential;
}

type FullTrace = TraceRecord<FullStep>;

/** Exactly the same, to the last bit. */
function same(a: unknown, b: unknown): boolean {
  return canonicalJson(a as Json) === canonicalJson(b as Json);
}

interface Replayed {
  readonly task: WorkflowTask;
  readonly environment: WorkflowEnvironment;
  readonly outcomes: readonly StepOutcome[];
  readonly valid: readonly boolean[];
  /** Whether a forbidden side effect was recorded after each step. */
  readonly forbidden: readonly boolean[];
  /** Encoded states before the first step and after each one. */
  readonly states: readonly Int32Array[];
  readonly inconsistencies: readonly Inconsistency[];
}

/** Plays decoded calls in a fresh environment. Calls after the end are left over, which the lengths show. */
function play(
  record: FullTrace,
  { task, calls, encoder }: {
    readonly task: WorkflowTask;
    readonly calls: readonly ToolCall[];
    readonly encoder: FeatureEncoder;
  },
): Replayed {
  const environment = new WorkflowEnvironment(task);
  const mask = new ActionMask(task.tool_schemas);
  const inputs = new PolicyInputBuilder(task.tool_schemas);
  const encoded = () => {
    const [observation, candidates] = [environment.observe(), environment.candidates()];
    return encoder.encode(
      inputs.build({ observation, candidates, mask: mask.mask(observation, candidates) }),
    ).state;
  };
  const inconsistencies: Inconsistency[] = [];
  const states: Int32Array[] = [encoded()];
  const outcomes: StepOutcome[] = [];
  const valid: boolean[] = [];
  const forbidden: boolean[] = [];
  for (const [step, call] of calls.entries()) {
    const note = (fact: ReplayedFact) => inconsistencies.push({ fact, case_id: task.case_id, step });
    if (environment.done) {
      note("done");
      break;
    }
    const recorded = record.steps[step]!;
    if (!same(environment.observe(), recorded.observation)) note("observation");
    valid.push(environment.dryRun(call).valid);
    const outcome = environment.step(call);
    outcomes.push(outcome);
    forbidden.push(environment.evaluate().forbidden_side_effect_count > 0);
    if (!same(outcome.observation, recorded.next_observation)) note("observation");
    if (outcome.done !== recorded.done) note("done");
    if (!outcome.done) states.push(encoded());
  }
  if (!environment.done) inconsistencies.push({ fact: "done", case_id: task.case_id, step: null });
  if (!same(environment.state, record.final_state)) {
    inconsistencies.push({ fact: "final_state", case_id: task.case_id, step: null });
  }
  return { task, environment, outcomes, valid, forbidden, states, inconsistencies };
}

/** Steps whose rewards, computed anew from the replay, are others than those recorded. */
async function rewardFaults(
  record: FullTrace,
  replayed: Replayed,
  { reward, potential }: ReplaySettings,
): Promise<number[]> {
  const { outcomes, forbidden, states } = replayed;
  const phis = potential === undefined ? null : await potential(states);
  return outcomes.flatMap((outcome, step) => {
    const recorded = record.steps[step]!;
    const shaping = phis === null ? null : progressPotential(phis[step]!, phis[step + 1] ?? null);
    const components = rewardComponents({
      success: outcome.success,
      done: outcome.done,
      accepted: outcome.accepted,
      forbiddenActive: forbidden[step]!,
      progress: shaping === null
        ? 0
        : shapingReward(shaping, { beta: reward.progress_beta, gamma: reward.gamma }),
    }, reward);
    return same(components, recorded.reward_components) && same(totalReward(components), recorded.reward) &&
        same(shaping, recorded.info.progress_potential)
      ? []
      : [step];
  });
}

/** A record with everything that metrics are made of taken from the replay. */
function measured(record: FullTrace, { task, environment, outcomes, valid }: Replayed): FullTrace {
  const evaluation = environment.evaluate();
  return {
    ...record,
    case_id: task.case_id,
    family: task.family,
    optimal_steps: task.optimal_steps,
    success: evaluation.success,
    forbidden_side_effect_count: evaluation.forbidden_side_effect_count,
    simulated_latency_s: environment.totalLatencyMs / 1000,
    step_count: outcomes.length,
    steps: record.steps.slice(0, outcomes.length),
    executed_actions: outcomes.map(({ accepted }, step) => ({
      step_index: step,
      candidate_index: record.steps[step]!.action_index,
      policy_input_sha256: record.steps[step]!.info.policy_input_sha256,
      executed_valid: valid[step]!,
      accepted,
    })),
  };
}

function metricsJson(records: readonly FullTrace[], timeoutMs: number): string {
  const totals = emptyTotals();
  for (const record of records) addCase(totals, caseCounts(record, timeoutMs));
  return canonicalJson(metricsOf(totals));
}

/**
 * Plays the calls of full traces again, from their JSON, in fresh environments, and compares observations before and after
 * each step, ends, rewards and final states with what was recorded, and then the metrics of both. Nothing is near enough.
 *
 * @param records full traces of the tasks, in their order
 * @param timeoutMs what a failure costs in the metrics
 * @returns every disagreement, in order; metrics name the first case
 */
export async function replayInconsistencies(
  records: readonly FullTrace[],
  { tasks, timeoutMs, ...settings }: ReplaySettings & {
    readonly tasks: readonly WorkflowTask[];
    readonly timeoutMs: number;
  },
): Promise<readonly Inconsistency[]> {
  const found: Inconsistency[] = [];
  const again: FullTrace[] = [];
  for (const [i, record] of records.entries()) {
    const task = tasks[i]!;
    const calls = JSON.parse(canonicalJson(record.steps.map(({ action }) => action))) as ToolCall[];
    const replayed = play(record, { task, calls, encoder: settings.encoder });
    const rewards = await rewardFaults(record, replayed, settings);
    found.push(
      ...replayed.inconsistencies,
      ...rewards.map((step) => ({ fact: "reward" as const, case_id: task.case_id, step })),
    );
    again.push(measured(record, replayed));
  }
  if (metricsJson(again, timeoutMs) !== metricsJson(records, timeoutMs)) {
    found.push({ fact: "metrics", case_id: records[0]?.case_id ?? "", step: null });
  }
  return found;
}
