import { CANDIDATES_PER_STATE, STATES_PER_TASK } from "../benchmark/action_validity.ts";
import { canonicalJson } from "../core/canonical_json.ts";
import type { Digest } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import { CANONICAL_MATRIX } from "../evaluate/canonical_matrix.ts";
import type { ExperimentPlan } from "../stage/plan.ts";
import type { ExperimentConfig } from "./config.ts";
import {
  type Preregistration,
  type PreregistrationCode,
  REGISTERED_SEEDS,
  requireRegistered,
} from "./preregistration.ts";
import { actionValidityStage } from "./stages/action_validity_stage.ts";
import { benchmarkStage } from "./stages/benchmark_stage.ts";

/** Why a run is refused that would carry the published claim. */
export type CanonicalCode =
  | "other_seeds"
  | "other_test_size"
  | "other_variants"
  | "other_action_rows"
  | "too_few_samples"
  | PreregistrationCode;

function refuse(code: CanonicalCode, details: TracewrightError["details"]): never {
  throw new TracewrightError<"pipeline", CanonicalCode>(code, {
    ...details,
    hint: "run configs/full.yaml as it is; other designs run with `smoke --config FILE` and carry no claim",
  });
}

/** Labelled calls that a plan will generate: twenty for each case of the split that its action-validity stage reads. */
function plannedActionRows({ nodes }: ExperimentPlan, testTasks: number): number {
  const labelled = nodes.filter(({ stage }) => stage.name === actionValidityStage.name);
  const fromTest = labelled.filter(({ inputs }) => {
    const from = inputs["test"];
    const producer = from !== undefined && "node" in from ? from : undefined;
    return producer?.output === "test.jsonl" &&
      nodes.find(({ id }) => id === producer.node)?.stage.name === benchmarkStage.name;
  });
  return labelled.length === 1 ? fromTest.length * testTasks * STATES_PER_TASK * CANDIDATES_PER_STATE : 0;
}

/**
 * Refuses, before anything is trained or written, a run that could not carry the published claim. Which cases succeed is
 * never looked at. Source: protocol/evaluation-and-evidence.md section 5.
 *
 * @param plan what the config stands for; it says whether the labelled calls will be there
 * @returns P, the digest of the pre-registration
 * @throws TracewrightError "other_seeds", "other_test_size", "other_variants", "other_action_rows", "too_few_samples",
 * "no_comparison" or "not_registered": the first that applies
 */
export function requireCanonical(
  config: ExperimentConfig,
  { plan, preregistration }: { readonly plan: ExperimentPlan; readonly preregistration: Preregistration },
): Digest {
  const { run_seeds: seeds } = config.seeds;
  const { test_tasks: tests } = config.benchmark;
  if (seeds.join() !== REGISTERED_SEEDS.run_seeds.join()) {
    refuse("other_seeds", {
      message: "the run seeds are not the frozen sequence",
      field: "seeds.run_seeds",
      expected: REGISTERED_SEEDS.run_seeds,
      actual: seeds,
    });
  }
  if (tests !== CANONICAL_MATRIX.test_cases) {
    refuse("other_test_size", {
      message: "another number of test cases",
      field: "benchmark.test_tasks",
      expected: CANONICAL_MATRIX.test_cases,
      actual: tests,
    });
  }
  if (canonicalJson(config.variants) !== canonicalJson(CANONICAL_MATRIX.variants)) {
    refuse("other_variants", {
      message: "the variants are not the six of the matrix, as they are defined there",
      field: "variants",
      expected: CANONICAL_MATRIX.variants.map(({ name }) => name),
      actual: config.variants,
    });
  }
  const rows = plannedActionRows(plan, tests);
  if (rows !== CANONICAL_MATRIX.action_rows) {
    refuse("other_action_rows", {
      message: "another number of labelled calls is planned",
      field: "action_validity",
      expected: CANONICAL_MATRIX.action_rows,
      actual: rows,
    });
  }
  for (
    const [field, samples] of [
      ["evaluation.bootstrap_samples", config.evaluation.bootstrap_samples],
      [
        "comparison.statistics.draws",
        config.comparison?.statistics.draws ?? CANONICAL_MATRIX.smallest_samples,
      ],
    ] as const
  ) {
    if (samples >= CANONICAL_MATRIX.smallest_samples) continue;
    refuse("too_few_samples", {
      message: "too few bootstrap samples for an interval",
      field,
      expected: `at least ${CANONICAL_MATRIX.smallest_samples}`,
      actual: samples,
    });
  }
  return requireRegistered(config, preregistration);
}
