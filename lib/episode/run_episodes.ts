import type { EncodedDecision, FeatureEncoder } from "../policy/encoder.ts";
import { ActionMask } from "../world/action_mask.ts";
import type {
  Observation,
  StepOutcome,
  TaskEvaluation,
  ToolCall,
  WorkflowState,
  WorkflowTask,
} from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { oncePerFrozen } from "../world/once_per_frozen.ts";
import type { PolicyInput } from "../world/policy_input.ts";
import { PolicyInputBuilder } from "../world/policy_input_builder.ts";
import { episodeError } from "./_error.ts";
import type { Actor, Choice } from "./actor.ts";
import type { Potential } from "./potential.ts";
import { type RewardComponents, rewardComponents } from "./reward.ts";
import type { RewardSettings } from "./reward_settings.ts";
import { type ProgressPotential, progressPotential, shapingReward } from "./shaping.ts";

/** How episodes are run. */
export interface EpisodeSettings {
  readonly encoder: FeatureEncoder;
  readonly reward: RewardSettings;
  /** `public` lets the policy choose among what the action mask allows; `none` among everything offered. */
  readonly selection: "public" | "none";
  /** The shaping potential; absent for variants without progress reward. */
  readonly potential?: Potential;
  /** How many episodes go in lock-step, at least 1; 128 unless given. Changes speed and memory, never a result. */
  readonly lanes?: number;
}

/** Everything one step leaves behind, before it is cut down to a trace record or to a training row. */
export interface EpisodeStep {
  readonly observation: Observation;
  readonly candidates: readonly ToolCall[];
  readonly publicMask: readonly boolean[];
  readonly selectionMask: readonly boolean[];
  readonly input: PolicyInput;
  readonly features: EncodedDecision;
  readonly choice: Choice;
  readonly validLabel: boolean;
  readonly outcome: StepOutcome;
  readonly potential: ProgressPotential | null;
  readonly reward: RewardComponents;
  /** Dry-run verdict of every candidate; only where the caller asked for it. */
  readonly labels: readonly CandidateLabel[];
}

/** Dry-run verdict on one candidate: evidence, never an input of a policy. */
export interface CandidateLabel {
  readonly valid: boolean;
  readonly invalid_kind: string | null;
}

/** One finished episode. */
export interface Episode {
  readonly task: WorkflowTask;
  readonly steps: readonly EpisodeStep[];
  readonly evaluation: TaskEvaluation;
  readonly finalState: WorkflowState;
  /** Whole milliseconds. */
  readonly totalLatencyMs: number;
}

/** What is offered in a state; a call that changes nothing leaves it as it is. */
interface Offer {
  readonly state: WorkflowState;
  readonly candidates: readonly ToolCall[];
  readonly publicMask: readonly boolean[];
  readonly selectionMask: readonly boolean[];
}

interface Lane {
  readonly episode: number;
  readonly task: WorkflowTask;
  readonly environment: WorkflowEnvironment;
  readonly mask: ActionMask;
  readonly inputs: PolicyInputBuilder;
  readonly steps: EpisodeStep[];
  observation: Observation;
  offer: Offer | undefined;
  pending: Prepared;
  phi: number;
}

interface Prepared extends Omit<Offer, "state"> {
  readonly input: PolicyInput;
  readonly features: EncodedDecision;
}

const DEFAULT_LANES = 128;

/** How much an episode records. */
type Evidence = "compact" | "full";

function offerOf(
  { environment, mask, observation }: Pick<Lane, "environment" | "mask" | "observation">,
  { selection }: EpisodeSettings,
): Offer {
  const candidates = environment.candidates();
  const publicMask = mask.mask(observation, candidates);
  const selectionMask = selection === "public" ? publicMask : publicMask.map(() => true);
  return { state: environment.state, candidates, publicMask, selectionMask };
}

function prepare(
  lane: Pick<Lane, "environment" | "mask" | "inputs" | "observation" | "offer">,
  settings: EpisodeSettings,
): Prepared {
  if (lane.offer?.state !== lane.environment.state) lane.offer = offerOf(lane, settings);
  const { candidates, publicMask, selectionMask } = lane.offer;
  const input = lane.inputs.build({ observation: lane.observation, candidates, mask: selectionMask });
  return { candidates, publicMask, selectionMask, input, features: settings.encoder.encode(input) };
}

const maskOf = oncePerFrozen((schemas: WorkflowTask["tool_schemas"]) => new ActionMask(schemas));
const inputsOf = oncePerFrozen((schemas: WorkflowTask["tool_schemas"]) => new PolicyInputBuilder(schemas));

function openLane(task: WorkflowTask, episode: number, settings: EpisodeSettings): Lane {
  const environment = new WorkflowEnvironment(task);
  const parts = {
    environment,
    mask: maskOf(task.tool_schemas),
    inputs: inputsOf(task.tool_schemas),
    observation: environment.observe(),
    offer: undefined as Offer | undefined,
  };
  const pending = prepare(parts, settings);
  return { ...parts, episode, task, steps: [], pending, phi: 0 };
}

/** Whether the potential is asked about the states in which episodes end, too. */
function asksAtTheEnd({ potential, reward }: EpisodeSettings): boolean {
  return potential !== undefined && reward.terminal_potential === "estimated";
}

interface Moved {
  readonly lane: Lane;
  readonly before: Prepared;
  readonly observation: Observation;
  readonly choice: Choice;
  readonly validLabel: boolean;
  readonly labels: readonly CandidateLabel[];
  readonly outcome: StepOutcome;
}

function move(lane: Lane, choice: Choice, settings: EpisodeSettings, evidence: Evidence): Moved {
  const before = lane.pending;
  const call = before.candidates[choice.index];
  if (call === undefined || !before.selectionMask[choice.index]) {
    throw episodeError("bad_choice", {
      message: "an actor chose a candidate that it may not choose",
      case: lane.task.case_id,
      step: lane.steps.length,
      expected: "an unmasked index below " + before.candidates.length,
      actual: choice.index,
    });
  }
  // Verdicts first: they are about the state in which the choice was made.
  const validLabel = lane.environment.dryRun(call).valid;
  const labels = evidence === "compact" ? [] : before.candidates.map((candidate) => {
    const { valid, invalid_kind } = lane.environment.dryRun(candidate);
    return { valid, invalid_kind };
  });
  const observation = lane.observation;
  const outcome = lane.environment.step(call);
  lane.observation = outcome.observation;
  if (!outcome.done || asksAtTheEnd(settings)) lane.pending = prepare(lane, settings);
  return { lane, before, observation, choice, validLabel, labels, outcome };
}

/** One answer a question, or the fault would move silently to the wrong episode. */
function checkAnswers(who: "actor" | "potential", { asked, answered }: { asked: number; answered: number }) {
  if (asked === answered) return;
  throw episodeError("bad_answer", {
    message: "another number of answers than questions",
    who,
    expected: asked,
    actual: answered,
  });
}

/** Phi of the states in which the lanes now stand; zeros where the variant has no progress reward. */
async function potentials(
  lanes: readonly Lane[],
  { potential }: EpisodeSettings,
): Promise<readonly number[]> {
  if (potential === undefined || lanes.length === 0) return lanes.map(() => 0);
  const phis = await potential(lanes.map((lane) => lane.pending.features.state));
  checkAnswers("potential", { asked: lanes.length, answered: phis.length });
  return phis;
}

async function record(moved: readonly Moved[], settings: EpisodeSettings): Promise<void> {
  const atTheEnd = asksAtTheEnd(settings);
  const asked = moved.filter(({ outcome }) => atTheEnd || !outcome.done).map(({ lane }) => lane);
  const phis = await potentials(asked, settings);
  const next = new Map(asked.map((lane, i) => [lane, phis[i]!]));
  const { progress_beta: beta, gamma } = settings.reward;
  for (const { lane, before, observation, choice, validLabel, labels, outcome } of moved) {
    const potential = settings.potential === undefined
      ? null
      : progressPotential(lane.phi, next.get(lane) ?? null);
    lane.phi = potential?.phi_next_used ?? 0;
    const reward = rewardComponents({
      success: outcome.success,
      done: outcome.done,
      accepted: outcome.accepted,
      forbiddenActive: lane.environment.evaluate().forbidden_side_effect_count > 0,
      progress: potential === null ? 0 : shapingReward(potential, { beta, gamma }),
    }, settings.reward);
    lane.steps.push({ ...before, observation, choice, validLabel, labels, outcome, potential, reward });
  }
}

/**
 * Runs one episode per task, many in lock-step, and yields them in the order of the tasks. Each round asks the actor
 * once for all episodes that still go. Results do not depend on how many go together; memory depends only on that.
 *
 * @param tasks any number of cases
 * @param actor decides; sees policy inputs only
 * @param evidence `full` adds the dry-run verdict of every candidate to every step
 * @throws TracewrightError "bad_lanes"; "bad_choice" where the actor chooses what it may not, "bad_answer" where it or the
 * potential leaves a decision out; and whatever they throw
 */
export async function* runEpisodes(
  tasks: Iterable<WorkflowTask>,
  actor: Actor,
  settings: EpisodeSettings,
  evidence: Evidence = "compact",
): AsyncGenerator<Episode> {
  const width = settings.lanes ?? DEFAULT_LANES;
  if (!Number.isSafeInteger(width) || width < 1) {
    throw episodeError("bad_lanes", { expected: "a whole number of at least 1", actual: width });
  }
  let episode = 0;
  let lanes: Lane[] = [];
  async function* finish(): AsyncGenerator<Episode> {
    const starts = await potentials(lanes, settings);
    lanes.forEach((lane, i) => lane.phi = starts[i]!);
    for (let going = lanes; going.length > 0; going = going.filter((lane) => !lane.environment.done)) {
      const choices = await actor(going.map((lane) => ({
        input: lane.pending.input,
        features: lane.pending.features,
        episode: lane.episode,
      })));
      checkAnswers("actor", { asked: going.length, answered: choices.length });
      await record(going.map((lane, i) => move(lane, choices[i]!, settings, evidence)), settings);
    }
    for (const { task, steps, environment } of lanes) {
      yield {
        task,
        steps,
        evaluation: environment.evaluate(),
        finalState: environment.state,
        totalLatencyMs: environment.totalLatencyMs,
      };
    }
    lanes = [];
  }
  for (const task of tasks) {
    lanes.push(openLane(task, episode++, settings));
    if (lanes.length === width) yield* finish();
  }
  yield* finish();
}
