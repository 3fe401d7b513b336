import { z } from "zod";
import { ACTION_VALIDITY, CANDIDATES_PER_STATE, STATES_PER_TASK } from "../benchmark/action_validity.ts";
import type { Json } from "../core/canonical_json.ts";
import { type Digest, digestOfJson, sha256Hex } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { jsonDifference } from "../core/json_difference.ts";
import { POPULATIONS } from "../evaluate/paired_resampling.ts";
import { PROGRESS_GATE_LIMITS } from "../learn/calibration.ts";
import { CONFIG_SECTIONS, type DeepReadonly, type ExperimentConfig } from "./config.ts";
import { configError, type ConfigProblem, problemsOf } from "./config_problem.ts";

/** The schema id of a pre-registration, its first field. */
export const PREREGISTRATION_SCHEMA = "tracewright.preregistration.v1";

/**
 * The question, by name: does PPO with a progress reward raise the success rate over its cloned start when both choose
 * under the same mask?
 */
export const QUESTION = "ppo-progress-over-bc-under-one-mask";

/** The seeds of the published matrix (protocol, policy and training, sections 11 and 12). The benchmark's follows from P. */
export const REGISTERED_SEEDS = { run_seeds: [17, 29, 43, 71, 101], bootstrap_seed: 20260808 } as const;

/** What can be wrong between a config and the pre-registration. */
export type PreregistrationCode = "no_comparison" | "not_registered";

const { seeds, benchmark, comparison, evaluation, ...sections } = CONFIG_SECTIONS;
const planned = comparison.unwrap().shape;

const schema = z.strictObject({
  schema: z.literal(PREREGISTRATION_SCHEMA),
  question: z.literal(QUESTION),
  hypothesis: planned.hypothesis,
  benchmark: benchmark.extend({
    action_validity: z.literal(ACTION_VALIDITY),
    action_validity_rows: z.int().min(1),
  }),
  seeds: seeds.omit({ benchmark_seed: true }),
  variants: sections.variants,
  learner: z.strictObject({
    semantics: sections.semantics,
    policy: sections.policy,
    behaviour_cloning: sections.behaviour_cloning,
    progress: sections.progress,
    ppo: sections.ppo,
  }),
  reward: sections.reward,
  evaluation,
  statistics: planned.statistics.extend({
    metric: planned.primary_metric,
    treatment: planned.treatment,
    matched_baseline: planned.matched_baseline,
    total_system_baseline: planned.total_system_baseline,
    confidence: evaluation.shape.confidence,
    populations: z.array(z.enum(POPULATIONS)),
    hypothesis_population: z.enum(POPULATIONS),
    correction: z.literal("holm"),
  }),
  thresholds: z.strictObject({
    interval_low_above: z.literal(0),
    progress_gate: z.strictObject({ auroc: z.number(), ece: z.number(), brier_share: z.number() }),
  }),
});

/**
 * What was decided before the test cases existed. It leaves the benchmark seed out, which follows from its digest, and
 * the name of the config, which is free text.
 */
export type Preregistration = DeepReadonly<z.infer<typeof schema>>;

/** Numbers of a design are round; one that is not could have been tried until the seed that follows pleased. */
function* longNumbers(value: unknown, path: readonly (string | number)[]): Generator<ConfigProblem> {
  if (typeof value === "number" && Number(value.toPrecision(4)) !== value) {
    yield {
      code: "wrong_value",
      path,
      message: "the number is longer than a design needs",
      expected: "at most four significant digits",
      actual: value,
    };
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      yield* longNumbers(item, [...path, Array.isArray(value) ? Number(key) : key]);
    }
  }
}

/**
 * Everything wrong with a value that should be a pre-registration; empty when valid. Every field is a closed choice or a
 * short number, and the seeds are the published ones, so that P cannot be ground.
 */
export function preregistrationProblems(value: unknown): readonly ConfigProblem[] {
  const shape = problemsOf(schema, value);
  if (shape.length > 0) return shape;
  const { seeds: registered, ...design } = value as Preregistration;
  const difference = jsonDifference(REGISTERED_SEEDS, registered as unknown as Json);
  const other: ConfigProblem[] = difference === null ? [] : [{
    code: "wrong_value",
    path: ["seeds", ...difference.path.split(".").map((part) => /^\d+$/.test(part) ? Number(part) : part)],
    message: "the seeds are those of the published matrix",
    expected: difference.expected,
    actual: difference.actual,
  }];
  return [...other, ...longNumbers(design, [])];
}

/**
 * Reads a pre-registration from a parsed value.
 *
 * @throws TracewrightError with the code of the first problem; further ones are the `errors` of its `cause`
 */
export function parsePreregistration(value: unknown): Preregistration {
  const problems = preregistrationProblems(value);
  if (problems.length > 0) throw configError(problems);
  return value as Preregistration;
}

function refuse(code: PreregistrationCode, details: TracewrightError["details"]): never {
  throw new TracewrightError<"pipeline", PreregistrationCode>(code, details);
}

/**
 * The pre-registration that a config carries out: what of it was to be registered, with what the code adds to it and does
 * not leave to a config.
 *
 * @throws TracewrightError "no_comparison" for a config that tests no hypothesis
 */
export function registeredPart(config: ExperimentConfig): Preregistration {
  const { comparison: test, seeds: { benchmark_seed: _follows, ...registered } } = config;
  if (test === null) {
    refuse("no_comparison", {
      message: "the config tests no hypothesis",
      config: config.name,
      expected: "a comparison",
      actual: null,
      hint: "configs/full.yaml has one",
    });
  }
  const { hypothesis, primary_metric: metric, statistics, ...sides } = test;
  return {
    schema: PREREGISTRATION_SCHEMA,
    question: QUESTION,
    hypothesis,
    benchmark: {
      ...config.benchmark,
      action_validity: ACTION_VALIDITY,
      action_validity_rows: config.benchmark.test_tasks * STATES_PER_TASK * CANDIDATES_PER_STATE,
    },
    seeds: registered,
    variants: config.variants,
    learner: {
      semantics: config.semantics,
      policy: config.policy,
      behaviour_cloning: config.behaviour_cloning,
      progress: config.progress,
      ppo: config.ppo,
    },
    reward: config.reward,
    evaluation: config.evaluation,
    statistics: {
      ...statistics,
      metric,
      ...sides,
      confidence: config.evaluation.confidence,
      populations: POPULATIONS,
      hypothesis_population: "seeds_and_cases",
      correction: "holm",
    },
    thresholds: { interval_low_above: 0, progress_gate: PROGRESS_GATE_LIMITS },
  };
}

/** P: the digest of a pre-registration's canonical JSON. */
export function preregistrationDigest(preregistration: Preregistration): Digest {
  return digestOfJson(preregistration);
}

/**
 * The seed that follows from a commitment: the first 8 hexadecimal digits of the SHA-256 of its text, as an integer. The
 * published experiment committed to a commit id, this one commits to the text of a digest: whoever fixes the design has no
 * say in the benchmark. Source: protocol/benchmark-v1.3.md section 2.
 *
 * @param commitment P as text, `sha256:` included
 */
export function baseSeedOf(commitment: string): number {
  return parseInt(sha256Hex(commitment).slice(0, 8), 16);
}

/** The first field in which a config is another design than the registered one; its benchmark seed is the last. */
export interface RegistrationDifference {
  readonly field: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

/**
 * Holds a config against the pre-registration.
 *
 * @returns null where the config is the registered experiment, on the benchmark that the registration leads to
 * @throws TracewrightError "no_comparison"
 */
export function registrationDifference(
  config: ExperimentConfig,
  preregistration: Preregistration,
): RegistrationDifference | null {
  const asked = registeredPart(config) as unknown as Json;
  const difference = jsonDifference(preregistration as unknown as Json, asked);
  if (difference !== null) {
    return { field: difference.path, expected: difference.expected, actual: difference.actual };
  }
  const [expected, actual] = [
    baseSeedOf(preregistrationDigest(preregistration)),
    config.seeds.benchmark_seed,
  ];
  return expected === actual ? null : { field: BENCHMARK_SEED, expected, actual };
}

/** How {@link registrationDifference} calls the seed that follows from P. */
export const BENCHMARK_SEED = "seeds.benchmark_seed";

/**
 * Makes sure that a config is the registered experiment, on the benchmark that the registration leads to.
 *
 * @returns P
 * @throws TracewrightError "no_comparison"; "not_registered" naming the first field that differs
 */
export function requireRegistered(config: ExperimentConfig, preregistration: Preregistration): Digest {
  const P = preregistrationDigest(preregistration);
  const difference = registrationDifference(config, preregistration);
  if (difference === null) return P;
  const ofSeed = difference.field === BENCHMARK_SEED;
  return refuse("not_registered", {
    message: ofSeed
      ? "the benchmark seed does not follow from the pre-registration"
      : "the config is not the pre-registered experiment",
    config: config.name,
    preregistration: P,
    ...difference,
    hint: ofSeed
      ? "deno task preregister --write"
      : "another design is another experiment: register it before it is run",
  });
}
