import { generateSplit } from "../benchmark/generate.ts";
import { writeTaskLines } from "../benchmark/task_lines.ts";
import { canonicalJson } from "../core/canonical_json.ts";
import { type Digest, digestOf, DigestWriter } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { gatherBatch, greedyActor } from "../episode/actor.ts";
import { demonstrations } from "../episode/demonstrations.ts";
import { oraclePositive } from "../episode/positive_set.ts";
import { exactPotential } from "../episode/potential.ts";
import { runEpisodes } from "../episode/run_episodes.ts";
import { type FullStep, traceLine, type TraceRecord, traceRecord } from "../episode/trace.ts";
import { type Rational, rational } from "../evaluate/rational.ts";
import { KernelArena } from "../learn/arena.ts";
import { ProgressEstimator } from "../learn/estimator.ts";
import { exportEstimator } from "../learn/export_policy.ts";
import { greedyDecision } from "../policy/decision.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { openSession } from "../policy/open_runtime.ts";
import type { PolicySession } from "../policy/runtime.ts";
import { runStageInMemory } from "../stage/run_stage.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { WorkflowEnvironment } from "../world/environment.ts";
import { admitFor } from "./admit_for.ts";
import { CANARY_CRITERION, type CanaryCheck, canaryChecks } from "./canary_checks.ts";
import { replayInconsistencies } from "./canary_replay.ts";
import type { ExperimentConfig } from "./config.ts";
import { stageRuntime } from "./execution.ts";
import { encoderSettings, rewardSettings, semanticsOf } from "./semantics.ts";
import { bcStage } from "./stages/bc_stage.ts";
import { ppoStage } from "./stages/ppo_stage.ts";

/** What the canary fixes (protocol, policy and training, section 14); the rest comes from a config. */
export const CANARY = {
  tasks: { split: "train", size: 8, baseSeed: 424242 },
  seed: 123,
  policy: { state_width: 64, action_width: 64, hidden_width: 64 },
  behaviour_cloning: { epochs: 25, batch_size: 128, learning_rate: 0.008 },
  ppo: { iterations: 1, epochs: 1, episodes_per_iteration: 8 },
  repetitions: 20,
} as const;

/** What is wrong with a request for the canary. */
export type CanaryCode = "too_few_repetitions";

/** What the canary takes from a config. */
export type CanaryConfig = Pick<
  ExperimentConfig,
  "semantics" | "behaviour_cloning" | "ppo" | "reward" | "evaluation"
>;

/** The digests of a repetition; they must not differ between repetitions. */
export interface CanaryDigests {
  /** Of the traces of both policies. */
  readonly traces: Digest;
  /** Of the float parameters and exact graphs of both policies, and of the estimator's graph. */
  readonly weights: Digest;
  /** Of the calls of both policies. */
  readonly calls: Digest;
}

/** What one training and evaluation from scratch gave. */
export interface CanaryRepetition {
  readonly oracle_tsr: Rational;
  /** Share of the oracle's states in which the clone, choosing among all candidates, chooses one that is right. */
  readonly bc_action_set_accuracy: Rational;
  readonly bc_tsr: Rational;
  readonly ppo_tsr: Rational;
  /** Places in which a replay disagrees with a trace. */
  readonly inconsistencies: number;
  readonly digests: CanaryDigests;
}

/** The record of the canary. */
export interface CanaryReport {
  readonly schema: "tracewright.semantic_canary.v1";
  readonly criterion: typeof CANARY_CRITERION;
  readonly repetitions: number;
  /** How many different results the repetitions had; 1 where all are the same to the last bit. */
  readonly distinct_results: number;
  /** The first repetition. */
  readonly first: CanaryRepetition;
  readonly checks: readonly CanaryCheck[];
  readonly passed: boolean;
}

/** How often a canary is asked, and by whom. */
export interface CanaryOptions {
  /** At least 20. */
  readonly repetitions: number;
  /** Trains and evaluates once; {@link canaryRepetition} unless given. */
  readonly repeat?: (config: CanaryConfig) => Promise<CanaryRepetition>;
  readonly onRepetition?: (done: number) => void;
}

function digestOfAll(blobs: readonly Uint8Array[]): Digest {
  const all = new DigestWriter();
  // One digest a blob, so that no byte can move from one to the next.
  for (const blob of blobs) all.write(new TextEncoder().encode(`${digestOf(blob)}\n`));
  return all.finish();
}

function oracleSuccesses(tasks: readonly WorkflowTask[]): number {
  return tasks.filter((task) => {
    const environment = new WorkflowEnvironment(task);
    for (const call of task.oracle_plans[0]!) environment.step(call);
    return environment.evaluate().success;
  }).length;
}

/** Along plan 0, how often the greedy choice among all candidates is one that brings the goal nearer. */
async function actionSetAccuracy(
  session: PolicySession,
  { tasks, encoder }: { readonly tasks: readonly WorkflowTask[]; readonly encoder: FeatureEncoder },
): Promise<Rational> {
  let [right, all] = [0, 0];
  for (const task of tasks) {
    const environment = new WorkflowEnvironment(task);
    const shown = [...demonstrations([task], encoder)];
    const { logits, values } = await session.logits(gatherBatch(shown.map(({ features }) => features)));
    let at = 0;
    for (const [step, { features, label }] of shown.entries()) {
      const candidates = environment.candidates();
      const own = logits.subarray(at, at += features.mask.length);
      const { action } = greedyDecision({ logits: own, value: values[step]! }, features.mask);
      if (oraclePositive(task, environment, candidates)[action]) right++;
      all++;
      environment.step(candidates[label]!);
    }
  }
  return rational(right, all);
}

/** The graph of an estimator that has learnt nothing. */
function untrainedEstimator(): Uint8Array {
  using arena = new KernelArena();
  const estimator = new ProgressEstimator(arena, CANARY.policy.state_width);
  estimator.initialise(new RandomStream(CANARY.seed, "progress", "initialisation"));
  return exportEstimator(estimator).bytes();
}

/**
 * Trains both policies from scratch and tests them on what they were trained on.
 *
 * @param runStage carries out a training stage
 */
export async function canaryRepetition(
  config: CanaryConfig,
  runStage: typeof runStageInMemory = runStageInMemory,
): Promise<CanaryRepetition> {
  const tasks = generateSplit(CANARY.tasks);
  const { action_features, terminal_potential } = semanticsOf(config);
  const encoder = new FeatureEncoder(encoderSettings({ ...config, policy: CANARY.policy }));
  const common = { seed: CANARY.seed, policy: CANARY.policy, action_features };
  const train = writeTaskLines(tasks);
  const estimator = untrainedEstimator();
  const bc = await runStage(bcStage, {
    params: {
      ...common,
      behaviour_cloning: { ...config.behaviour_cloning, ...CANARY.behaviour_cloning },
    },
    inputs: { train },
  });
  const ppo = await runStage(ppoStage, {
    params: {
      ...common,
      algorithm: "action_ppo",
      action_mask: true,
      progress_reward: true,
      ppo: { ...config.ppo, ...CANARY.ppo },
      reward: { ...config.reward, terminal_potential },
    },
    inputs: { train, initial: bc["checkpoint.bin"]!, "estimators/progress": estimator },
  });
  const runtime = stageRuntime();
  const open = (bytes: Uint8Array) =>
    openSession({ graph: admitFor(encoder, { kind: "actor_critic", bytes }), runtime });
  using clone = await open(bc["policy.onnx"]!);
  using trained = await open(ppo["policy.onnx"]!);
  using progress = await openSession({
    graph: admitFor(encoder, { kind: "estimator", bytes: estimator }),
    runtime,
  });
  const reward = rewardSettings(config);
  const played = [
    { session: clone, settings: { encoder, reward } },
    { session: trained, settings: { encoder, reward, potential: exactPotential(progress) } },
  ];
  const traces: TraceRecord<FullStep>[][] = [];
  let inconsistencies = 0;
  for (const { session, settings } of played) {
    const episodes = runEpisodes(tasks, greedyActor(session), { ...settings, selection: "public" }, "full");
    const records = await Array.fromAsync(
      episodes,
      (episode) => traceRecord(episode, { mode: "full", credit: "action" }) as TraceRecord<FullStep>,
    );
    const timeoutMs = Math.floor(config.evaluation.timeout_s * 1000 + 0.5);
    inconsistencies += (await replayInconsistencies(records, { ...settings, tasks, timeoutMs })).length;
    traces.push(records);
  }
  const successes = (records: readonly TraceRecord[]) => records.filter(({ success }) => success).length;
  const encode = new TextEncoder();
  const all = traces.flat();
  return {
    oracle_tsr: rational(oracleSuccesses(tasks), tasks.length),
    bc_action_set_accuracy: await actionSetAccuracy(clone, { tasks, encoder }),
    bc_tsr: rational(successes(traces[0]!), tasks.length),
    ppo_tsr: rational(successes(traces[1]!), tasks.length),
    inconsistencies,
    digests: {
      traces: digestOfAll(all.map((record) => encode.encode(traceLine(record)))),
      weights: digestOfAll([
        bc["checkpoint.bin"]!,
        bc["policy.onnx"]!,
        estimator,
        ppo["checkpoint.bin"]!,
        ppo["policy.onnx"]!,
      ]),
      calls: digestOf(canonicalJson(all.map(({ steps }) => steps.map(({ action }) => action)))),
    },
  };
}

/**
 * Lets the learner learn, through the stages of every experiment, what it must be able to learn: eight tasks that it is
 * then tested on. It does so many times from scratch, and every time must give the same to the last bit. This says that
 * the machinery works, and nothing about learning. Source: protocol/policy-and-training.md section 14.
 *
 * @throws TracewrightError "too_few_repetitions" for fewer than 20
 */
export async function runCanary(
  config: CanaryConfig,
  { repetitions, repeat = (asked) => canaryRepetition(asked), onRepetition = () => {} }: CanaryOptions,
): Promise<CanaryReport> {
  if (!Number.isSafeInteger(repetitions) || repetitions < CANARY.repetitions) {
    throw new TracewrightError<"pipeline", CanaryCode>("too_few_repetitions", {
      message: "too few repetitions to say that training repeats itself",
      expected: `at least ${CANARY.repetitions}`,
      actual: repetitions,
    });
  }
  const results: CanaryRepetition[] = [];
  for (let done = 0; done < repetitions; done++) {
    results.push(await repeat(config));
    onRepetition(done + 1);
  }
  const first = results[0]!;
  const distinct_results = new Set(results.map((result) => canonicalJson(result))).size;
  const checks = canaryChecks({ ...first, distinct_results });
  return {
    schema: "tracewright.semantic_canary.v1",
    criterion: CANARY_CRITERION,
    repetitions,
    distinct_results,
    first,
    checks,
    passed: checks.every(({ passed }) => passed),
  };
}
