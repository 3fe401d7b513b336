import type { Json } from "../lib/core/canonical_json.ts";
import { sqlAllowed } from "../lib/evaluate/sql_database.ts";
import { sqlError } from "../lib/evaluate/sql_error.ts";
import { sqlMetricsJudge } from "../lib/evaluate/sql_judge.ts";
import { resolveRuntime } from "../lib/policy/open_runtime.ts";
import { setStageRuntime } from "../lib/pipeline/execution.ts";
import { NUMERICS } from "../lib/pipeline/experiment.ts";
import { type VerifyEvent, type VerifyResult, verifyRun } from "../lib/verify/verify_run.ts";
import { currentCodes } from "./_codes.ts";
import { rebuild } from "./_rebuild.ts";
import { ReplayPool } from "./_replay_pool.ts";
import { sqlLine } from "./_sql_line.ts";
import { subjectOf } from "../lib/pipeline/subject.ts";

/** What a user may ask of a verification. Everything in it can cross to another thread. */
export interface VerifyRequest {
  readonly reference: string;
  /** Where runs are looked up by id. */
  readonly directory: string;
  readonly runtime: string;
  readonly level: string;
  readonly otherCode: boolean;
  /** Threads that replay evaluations; changes no verdict. */
  readonly workers: number;
  /** `sql` where a verdict without the second judge of metrics is no verdict. */
  readonly require?: string | undefined;
}

/** With fewer evaluations than this, starting threads costs more than it saves. */
const THREADS_FROM = 4;

/**
 * Verifies a run by the code, the plan and the arithmetic of this program.
 *
 * @throws TracewrightError "sql_required" where the second judge of metrics is required and may not run; whatever a
 * check finds
 */
export async function verify(
  request: VerifyRequest,
  listener: (event: VerifyEvent) => void,
): Promise<VerifyResult> {
  const judged = sqlAllowed();
  if (request.require === "sql" && !judged) {
    throw sqlError("sql_required", {
      message: "the SQL judge may not run here",
      hint: "add --allow-ffi, without a path; or leave out --require sql",
    });
  }
  const runtime = resolveRuntime(request.runtime);
  setStageRuntime(runtime);
  return await verifyRun({
    reference: request.reference,
    directory: request.directory,
    subjectOf,
    codes: currentCodes(),
    numerics: NUMERICS,
    runtime,
    onOtherCode: request.otherCode ? "report" : "refuse",
    rebuild,
    level: request.level === "rebuild" ? "rebuild" : "standard",
    ...(judged ? { sqlJudge: sqlMetricsJudge } : {}),
    replayerFor: ({ evaluations }) =>
      evaluations.length < THREADS_FROM || request.workers < 2
        ? undefined
        : new ReplayPool({ ...request, runtime }),
    listener,
  });
}

/** A verdict for a person. */
export function verdictLines(result: VerifyResult): string[] {
  const width = Math.max(...result.steps.map(({ step }) => step.length));
  return [
    ...result.steps.map(({ step, checked }) => `${step.padEnd(width)}  ok  ${checked}`),
    ...result.skipped.map((step) => `${step.padEnd(width)}  --  not asked for; --level rebuild does it`),
    sqlLine(result.metrics_sql),
    ...(result.other_code.length === 0
      ? []
      : [`same bytes under other code: ${result.other_code.join(", ")} were made by another version`]),
    `verified  ${result.run_id}`,
  ];
}

/** A verdict for a program. */
export function verdictJson(result: VerifyResult): Json {
  return { passed: true, ...result, steps: result.steps.map((step) => ({ ...step })) };
}
