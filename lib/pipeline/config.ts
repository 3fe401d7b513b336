import { z } from "zod";
import { ESTIMATOR_HIDDEN, MAX_WIDTH } from "../policy/exact_network.ts";
import { configError, type ConfigProblem, problemsOf } from "./config_problem.ts";
import { SEQUENCE_MINIBATCHES } from "../learn/sequence_minibatch.ts";
import { SEMANTICS_NAMES } from "./semantics.ts";
import { VARIANTS } from "./config_variants.ts";

/** The schema id of an experiment config, its first field. */
export const CONFIG_SCHEMA = "tracewright.experiment.v1";

/** Case ids number the tasks of a family with four digits, and there are ten families. */
const MAX_TASKS = 100_000;
const seed = z.int().min(0).max(0xffff_ffff);
const learningRate = z.number().gt(0).max(1);
const share = z.number().min(0).max(1);
const coefficient = z.number().min(0).max(1_000);
const rewardTerm = z.number().min(-1_000).max(1_000);
const featureWidth = z.int().min(16).max(MAX_WIDTH);
const variantName = z.enum(VARIANTS.map(({ name }) => name));

const schema = z.strictObject({
  schema: z.literal(CONFIG_SCHEMA),
  name: z.string().regex(/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/),
  semantics: z.enum(SEMANTICS_NAMES),
  seeds: z.strictObject({
    benchmark_seed: seed,
    run_seeds: z.array(seed).min(1).max(64),
    bootstrap_seed: seed,
  }),
  benchmark: z.strictObject({
    generator: z.literal("benchmark-v1.3.0"),
    train_tasks: z.int().min(1).max(MAX_TASKS),
    dev_tasks: z.int().min(1).max(MAX_TASKS),
    test_tasks: z.int().min(1).max(MAX_TASKS),
  }),
  policy: z.strictObject({
    state_width: featureWidth,
    action_width: featureWidth,
    // The kernels work on rows of whole SIMD tiles.
    hidden_width: z.int().min(8).max(MAX_WIDTH).multipleOf(8),
  }),
  behaviour_cloning: z.strictObject({
    epochs: z.int().min(1).max(1_000),
    batch_size: z.int().min(1).max(65_536),
    learning_rate: learningRate,
    max_grad_norm: z.number().gt(0).max(1_000),
  }),
  progress: z.strictObject({
    // Part of the exact format; written out so that a config says all there is to know.
    hidden_width: z.literal(ESTIMATOR_HIDDEN),
    epochs: z.int().min(1).max(1_000),
    batch_size: z.int().min(1).max(65_536),
    learning_rate: learningRate,
  }),
  ppo: z.strictObject({
    iterations: z.int().min(1).max(10_000),
    episodes_per_iteration: z.int().min(1).max(65_536),
    epochs: z.int().min(1).max(1_000),
    minibatch_size: z.int().min(1).max(65_536),
    sequence_minibatch: z.enum(SEQUENCE_MINIBATCHES),
    learning_rate: learningRate,
    gamma: share,
    gae_lambda: share,
    clip_ratio: z.number().gt(0).lt(1),
    value_clip: z.number().gt(0).max(1_000),
    value_coefficient: coefficient,
    entropy_coefficient: coefficient,
    max_grad_norm: z.number().gt(0).max(1_000),
    target_kl: z.number().gt(0).max(1_000).nullable(),
  }),
  reward: z.strictObject({
    task_success: rewardTerm,
    task_failure: rewardTerm,
    invalid_action: rewardTerm,
    forbidden_effect: rewardTerm,
    step: rewardTerm,
    progress_beta: coefficient,
  }),
  evaluation: z.strictObject({
    timeout_s: z.number().gt(0).max(1_000_000),
    bootstrap_samples: z.int().min(0).max(1_000_000),
    confidence: z.number().gt(0).lt(1),
  }),
  variants: z.array(z.strictObject({
    name: variantName,
    algorithm: z.enum(["bc", "action_ppo", "sequence_ppo"]),
    progress_reward: z.boolean(),
    action_mask: z.boolean(),
  })).min(1).max(VARIANTS.length),
  comparison: z.strictObject({
    treatment: z.literal("E-PPO-Progress-Mask"),
    matched_baseline: z.literal("B-BC-Mask"),
    total_system_baseline: z.literal("A-BC-Unmasked"),
    primary_metric: z.literal("tsr"),
    hypothesis: z.literal("paired_tsr_difference_ci_lower_gt_zero"),
    statistics: z.strictObject({
      draws: z.int().min(2).max(1_000_000),
      alpha: z.number().gt(0).lt(1),
      power: z.number().gt(0).lt(1),
      effects: z.array(z.number().gt(0).lt(1)).min(1).max(16),
      secondary: z.array(z.strictObject({ treatment: variantName, baseline: variantName })).min(1).max(30),
    }),
  }).nullable(),
});

/** The schema of each section, for records that repeat sections of a config. */
export const CONFIG_SECTIONS = schema.shape;

/** A value that nobody changes. */
export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/**
 * Everything that decides the outcome of an experiment, and nothing else: no worker count, runtime or path. Its
 * canonical JSON is the config blob of a run.
 */
export type ExperimentConfig = DeepReadonly<z.infer<typeof schema>>;

function repeats(values: readonly (string | number)[]): number[] {
  return values.flatMap((value, index) => values.indexOf(value) < index ? [index] : []);
}

/** The rules that no single field can state. Runs only on a value that has the right shape. */
function crossFieldProblems(config: ExperimentConfig): ConfigProblem[] {
  const found: ConfigProblem[] = [];
  const inconsistent = (path: ConfigProblem["path"], rest: Omit<ConfigProblem, "code" | "path">) =>
    found.push({ code: "inconsistent", path, ...rest });

  for (const index of repeats(config.seeds.run_seeds)) {
    inconsistent(["seeds", "run_seeds", index], {
      message: "a run seed stands twice",
      expected: "run seeds that differ",
      actual: config.seeds.run_seeds[index],
    });
  }
  for (const index of repeats(config.variants.map(({ name }) => name))) {
    inconsistent(["variants", index, "name"], {
      message: "a variant stands twice",
      expected: "variants that differ",
      actual: config.variants[index]?.name,
    });
  }
  config.variants.forEach((variant, index) => {
    const frozen = VARIANTS.find(({ name }) => name === variant.name);
    for (const field of ["algorithm", "progress_reward", "action_mask"] as const) {
      if (variant[field] === frozen?.[field]) continue;
      inconsistent(["variants", index, field], {
        message: `the definition of ${variant.name} is frozen`,
        expected: frozen?.[field],
        actual: variant[field],
      });
    }
  });
  if (config.semantics === "frozen-v1.3" && config.ppo.sequence_minibatch !== "protocol") {
    inconsistent(["ppo", "sequence_minibatch"], {
      message:
        "the published results counted minibatch_size episodes in a mini-batch of the sequence variant",
      expected: "protocol, with semantics: frozen-v1.3",
      actual: config.ppo.sequence_minibatch,
    });
  }
  if (config.reward.task_success <= config.reward.task_failure) {
    inconsistent(["reward", "task_success"], {
      message: "success must pay more than failure",
      expected: `more than ${config.reward.task_failure}`,
      actual: config.reward.task_success,
    });
  }
  const { bootstrap_samples: samples, timeout_s: timeout } = config.evaluation;
  if (samples === 1) {
    inconsistent(["evaluation", "bootstrap_samples"], {
      message: "one sample gives no interval",
      expected: "0 (no intervals) or at least 2",
      actual: 1,
    });
  }
  if (Math.floor(timeout * 1_000 + 0.5) / 1_000 !== timeout) {
    inconsistent(["evaluation", "timeout_s"], {
      message: "simulated time is counted in whole milliseconds",
      expected: "at most three decimals",
      actual: timeout,
    });
  }
  if (config.comparison !== null) found.push(...comparisonProblems(config));
  return found;
}

/** Secondary comparisons are counted, so none may stand twice or compare a variant with itself. */
function secondaryProblems({ comparison }: ExperimentConfig): ConfigProblem[] {
  const pairs = comparison?.statistics.secondary ?? [];
  const again = repeats(pairs.map(({ treatment, baseline }) => `${treatment} ${baseline}`));
  return pairs.flatMap(({ treatment, baseline }, index): ConfigProblem[] => {
    const twice = again.includes(index);
    return twice || treatment === baseline
      ? [{
        code: "inconsistent",
        path: ["comparison", "statistics", "secondary", index],
        message: twice ? "a comparison stands twice" : "a variant is compared with itself",
        expected: "two different variants, each pair once",
        actual: `${treatment} and ${baseline}`,
      }]
      : [];
  });
}

/** A config that tests the hypothesis must be the whole matrix, or its report could not be canonical. */
function comparisonProblems(config: ExperimentConfig): ConfigProblem[] {
  const rules = [
    {
      path: ["variants"],
      holds: config.variants.length === VARIANTS.length,
      expected: `all ${VARIANTS.length} variants`,
      actual: config.variants.length,
    },
    {
      path: ["seeds", "run_seeds"],
      holds: config.seeds.run_seeds.length === 5,
      expected: "five run seeds",
      actual: config.seeds.run_seeds.length,
    },
    {
      path: ["evaluation", "bootstrap_samples"],
      holds: config.evaluation.bootstrap_samples >= 2,
      expected: "at least 2",
      actual: config.evaluation.bootstrap_samples,
    },
    {
      path: ["evaluation", "confidence"],
      holds: config.evaluation.confidence === 0.95,
      expected: 0.95,
      actual: config.evaluation.confidence,
    },
  ];
  const matrix = rules.filter(({ holds }) => !holds).map(({ path, expected, actual }): ConfigProblem => ({
    code: "inconsistent",
    path,
    message: "a config with a comparison tests the pre-registered hypothesis",
    expected,
    actual,
    hint: "or set comparison: null",
  }));
  return [...matrix, ...secondaryProblems(config)];
}

/** Everything wrong with a value that should be an experiment config, in the order of the schema; empty when valid. */
export function configProblems(value: unknown): readonly ConfigProblem[] {
  const shape = problemsOf(schema, value);
  return shape.length > 0 ? shape : crossFieldProblems(value as ExperimentConfig);
}

/**
 * Reads a config from a parsed value, such as the config blob of a run.
 *
 * @throws TracewrightError with the code of the first problem; further ones are the `errors` of its `cause`
 */
export function parseConfig(value: unknown): ExperimentConfig {
  const problems = configProblems(value);
  if (problems.length > 0) throw configError(problems);
  return value as ExperimentConfig;
}

/** One cell of a matrix as an experiment of its own. The comparison goes, since one cell cannot state it. */
export function narrowToCell(
  config: ExperimentConfig,
  cell: { readonly variant: ExperimentConfig["variants"][number]; readonly seed: number },
): ExperimentConfig {
  return parseConfig({
    ...config,
    seeds: { ...config.seeds, run_seeds: [cell.seed] },
    variants: [{ ...cell.variant }],
    comparison: null,
  });
}
