import type { Json } from "../core/canonical_json.ts";
import type { Digest } from "../core/digest.ts";
import { TracewrightError } from "../core/error.ts";
import type { MetricsJudge } from "../evaluate/metrics_judge.ts";
import type { Codes } from "../stage/codes.ts";
import type { Counted } from "../stage/define_stage.ts";
import type { RuntimeName } from "../policy/runtime.ts";
import { checkRunBlobs, checkRunViews, readRun, type Run } from "../store/read_run.ts";
import { checkKeys, checkSizes, compareWithPlan, type KeyVerdict } from "./check_plan.ts";
import { checkTrainings } from "./check_trainings.ts";
import { regenerate } from "./regenerate.ts";
import { admitAll } from "./replay_run.ts";
import { partsOf, replayAll, type Replayer, replayHere } from "./replayer.ts";
import { checkMetrics, checkReport, judgeMetrics } from "./recompute_run.ts";
import { rebuildRun } from "./rebuild_run.ts";
import { configOf } from "./run_blobs.ts";
import { placed, VERIFY_STEPS, type VerifyStep } from "./verify_code.ts";
import type { Rebuild, VerifySubject } from "./verify_subject.ts";

/** What a verifier is told. Nothing of it comes from the run. */
export interface VerifyOptions {
  /** Path of a run folder or its manifest, or a unique prefix of a run id. */
  readonly reference: string;
  /** Where runs lie that are named by a digest. */
  readonly directory: string;
  /** What a config stands for. @throws where the config is not valid */
  readonly subjectOf: (config: Json, digest: Digest) => VerifySubject;
  /** The code at hand. */
  readonly codes: Codes;
  readonly numerics: readonly string[];
  readonly runtime: RuntimeName;
  readonly onOtherCode: "refuse" | "report";
  /** Runs a stage again. */
  readonly rebuild: Rebuild;
  /** `rebuild` trains everything again, too. */
  readonly level: "standard" | "rebuild";
  /** The second judge of metrics, in SQL; absent where it may not run. */
  readonly sqlJudge?: MetricsJudge;
  /** Replays evaluations in threads of its own, where there are enough of them; without it, all is done in this one. */
  readonly replayerFor?: (subject: VerifySubject) => (Replayer & Disposable) | undefined;
  readonly listener?: (event: VerifyEvent) => void;
}

/** How far a verification is; for people only. */
export type VerifyEvent =
  | { readonly type: "started"; readonly step: VerifyStep }
  | {
    readonly type: "progress";
    readonly step: VerifyStep;
    readonly fraction: number;
    /** Cases that were replayed, where the step replays them. */
    readonly counted?: Counted;
  }
  | { readonly type: "passed"; readonly step: VerifyStep; readonly checked: string };

/** A verification that passed. One that did not is an error. */
export interface VerifyResult {
  readonly run_id: Digest;
  readonly result_id: Digest;
  readonly runtime: RuntimeName;
  /** What each step looked at, in words. */
  readonly steps: readonly { readonly step: VerifyStep; readonly checked: string }[];
  /** Steps that were not asked for. */
  readonly skipped: readonly VerifyStep[];
  /** Stages made by other code that gave the same bytes here. */
  readonly other_code: readonly string[];
  /** Decisions made again and found equal. */
  readonly decisions: number;
  /** What the second judge of metrics said. */
  readonly metrics_sql: "confirmed" | "skipped";
}

function inStep(error: unknown, step: VerifyStep): unknown {
  return error instanceof TracewrightError && "verify_step" in error.details
    ? error
    : placed(error, { verify_step: step });
}

/**
 * Checks every claim of a finished run in order and stops at the first failure. Reads only; believes nothing in the run.
 *
 * @returns what was checked
 * @throws TracewrightError whose details name the `verify_step`, the place and both values
 */
export async function verifyRun(options: VerifyOptions): Promise<VerifyResult> {
  const { listener = () => {}, runtime, sqlJudge, rebuild } = options;
  const passed: { step: VerifyStep; checked: string }[] = [];
  const take = async <T>(
    step: VerifyStep,
    work: (progress: (fraction: number, counted?: Counted) => void) => T | Promise<T>,
    checked: (result: T) => string,
  ): Promise<T> => {
    listener({ type: "started", step });
    try {
      const result = await work((fraction, counted) =>
        listener({ type: "progress", step, fraction, ...(counted === undefined ? {} : { counted }) })
      );
      passed.push({ step, checked: checked(result) });
      listener({ type: "passed", ...passed.at(-1)! });
      return result;
    } catch (error) {
      throw inStep(error, step);
    }
  };

  const { run, subject } = await take(
    "structure",
    () => openRun(options),
    ({ run }) => `${run.dag.nodes.length} stages as the config plans them`,
  );
  await take(
    "completeness",
    (progress) => completeness(run, progress),
    () => `${run.layers.length} blobs re-hashed, ${Object.keys(run.dag.views).length} views`,
  );
  const { otherCode } = await take("keys", () => checkKeys(run.dag, options), keysChecked(run));
  const benchmark = await take(
    "regenerate",
    () => regenerate(run, subject),
    (made) => `${made.train.length + made.dev.length + made.test.length} tasks generated again`,
  );
  using threads = options.replayerFor?.(subject);
  const replayer = threads ?? replayHere(run, subject, { benchmark, runtime, rebuild });
  const total = subject.evaluations.length * benchmark.test.length;
  const inCases = (progress: (fraction: number, counted: Counted) => void) => (fraction: number) =>
    progress(fraction, { unit: "cases", count: Math.floor(fraction * total + 0.5), total });
  await take(
    "environment",
    (progress) => replayAll(replayer, partsOf("environment", subject.evaluations), inCases(progress)),
    (steps) => `${steps} steps replayed`,
  );
  let trainings = 0;
  const decisions = await take(
    "policy",
    (progress) => {
      trainings = checkTrainings(run, subject);
      admitAll(run, subject);
      return replayAll(replayer, partsOf("policy", subject.evaluations), inCases(progress));
    },
    (made) => `${made} decisions made again by the ${runtime} runtime, graphs of ${trainings} checkpoints`,
  );
  await take(
    "metrics",
    async (progress) => {
      // In threads of its own the rest goes on beside the count; what the count finds comes first all the same.
      const rest = () =>
        replayAll(
          replayer,
          [...partsOf("calibration", subject.calibrations), ...partsOf("derived", subject.derived)],
          progress,
        );
      const others = threads === undefined ? undefined : rest();
      others?.catch(() => {}); // reported below, in its turn
      checkMetrics(run, subject, benchmark.test);
      if (sqlJudge !== undefined) await judgeMetrics(run, subject, sqlJudge);
      await (others ?? rest());
    },
    () => {
      const judges = sqlJudge === undefined ? "" : ", by SQL too";
      return `metrics of ${subject.evaluations.length} evaluations${judges}, ` +
        `${subject.calibrations.length} calibrations` + subject.derived.map((node) => `, ${node}`).join("");
    },
  );
  await take("claim", () => checkReport(run, subject), () => "report written again");
  if (options.level === "rebuild") {
    await take(
      "training",
      (progress) => rebuildRun(run, subject, { rebuild, progress }),
      (outputs) => `${outputs} outputs computed from nothing`,
    );
  }
  return {
    run_id: run.runId,
    result_id: run.resultId,
    runtime,
    steps: passed,
    skipped: VERIFY_STEPS.filter((step) => !passed.some((taken) => taken.step === step)),
    other_code: otherCode,
    decisions,
    metrics_sql: sqlJudge === undefined ? "skipped" : "confirmed",
  };
}

/** Opens a run and derives from its config what it must be. @throws what the structure step finds */
export function openRun(
  { reference, directory, subjectOf }: Pick<VerifyOptions, "reference" | "directory" | "subjectOf">,
): { readonly run: Run; readonly subject: VerifySubject } {
  const run = readRun(reference, { directory });
  const subject = subjectOf(configOf(run), run.dag.config);
  compareWithPlan(run.dag, subject.plan);
  return { run, subject };
}

function completeness(run: Run, progress: (fraction: number) => void): void {
  checkRunBlobs(run, ({ done, total }) => progress(done / total));
  checkSizes(run);
  checkRunViews(run);
}

function keysChecked(run: Run): (verdict: KeyVerdict) => string {
  return ({ otherCode }) =>
    `${run.dag.nodes.length} action keys` +
    (otherCode.length === 0 ? "" : `; other code made ${otherCode.join(", ")}`);
}
