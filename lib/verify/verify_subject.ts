import type { Json } from "../core/canonical_json.ts";
import type { Digest } from "../core/digest.ts";
import type { Benchmark, SplitSizes } from "../benchmark/generate.ts";
import type { RewardSettings } from "../episode/reward_settings.ts";
import type { CreditAssignment } from "../episode/trace.ts";
import type { BootstrapSettings } from "../evaluate/case_cluster_bootstrap.ts";
import type { ComparisonPlan } from "../evaluate/metrics_report.ts";
import type { EncoderSettings } from "../policy/encoder.ts";
import type { PolicySession } from "../policy/runtime.ts";
import type { InputBlob } from "../stage/define_stage.ts";
import type { ExperimentPlan, PlanNode } from "../stage/plan.ts";

/** An output of a node. */
export interface OutputName {
  readonly node: string;
  readonly output: string;
}

/** One evaluation: whose decisions are replayed, and by what. */
export interface EvaluationSubject {
  readonly node: string;
  readonly traces: OutputName;
  readonly policy: OutputName;
  /** The progress estimator; absent for variants without progress reward. */
  readonly estimator?: OutputName;
  readonly widths: EncoderSettings;
  readonly reward: RewardSettings;
  readonly selection: "public" | "none";
  readonly credit: CreditAssignment;
  readonly variant: string;
  readonly seed: number;
}

/** One calibration record and the part of it that can be computed again without training. */
export interface CalibrationSubject {
  readonly node: string;
  readonly record: OutputName;
  readonly estimator: OutputName;
  readonly stateWidth: number;
  /** Labels the benchmark's states again and measures the estimator on them. */
  recompute(benchmark: Benchmark, session: PolicySession): Promise<{ readonly [field: string]: Json }>;
}

/** What a config says a run must be: derived from the config blob alone, never from what the run says of itself. */
export interface VerifySubject {
  readonly plan: ExperimentPlan;
  readonly benchmark: { readonly node: string; readonly sizes: SplitSizes; readonly baseSeed: number };
  readonly evaluations: readonly EvaluationSubject[];
  readonly calibrations: readonly CalibrationSubject[];
  readonly metrics: OutputName & {
    readonly timeoutMs: number;
    readonly bootstrap: BootstrapSettings;
    readonly comparisons: readonly ComparisonPlan[];
  };
  readonly report: OutputName & { readonly registration: Digest | null };
  /** Nodes that follow from what earlier steps made sure of and are cheap to run again. */
  readonly derived: readonly string[];
}

/** Runs one stage again from its inputs, and says what its outputs hash to. */
export type Rebuild = (
  node: PlanNode,
  inputs: { readonly [name: string]: InputBlob },
) => Promise<{ readonly [output: string]: { readonly digest: Digest } }>;
