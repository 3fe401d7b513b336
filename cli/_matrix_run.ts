import type { Json } from "../lib/core/canonical_json.ts";
import { TracewrightError } from "../lib/core/error.ts";
import type { ExperimentConfig } from "../lib/pipeline/config.ts";
import type { Run } from "../lib/store/read_run.ts";
import type { VerifyResult } from "../lib/verify/verify_run.ts";
import type { CommandContext } from "./_command.ts";
import { type ExecutionOptions, type FinishedExperiment, runExperiment } from "./_run_experiment.ts";
import { verdictJson, verdictLines } from "./_verify.ts";
import { verifyApart } from "./_verify_apart.ts";

/** How a matrix is carried out. */
export interface MatrixOptions extends ExecutionOptions {
  /** What replays the policy afterwards. */
  readonly verifyRuntime: string;
}

/** A matrix that was run and found good. */
export interface VerifiedMatrix extends FinishedExperiment {
  readonly verdict: VerifyResult;
}

/** Runs an experiment and verifies it apart. @throws whatever a check finds */
export async function runAndVerify(
  config: ExperimentConfig,
  options: MatrixOptions,
  context: CommandContext,
): Promise<VerifiedMatrix> {
  const finished = await runExperiment(config, options, context);
  const verdict = await verifyApart({
    reference: `${finished.run.path}/manifest.json`,
    directory: options.output,
    runtime: options.verifyRuntime,
    level: "standard",
    otherCode: false,
    workers: options.workers,
  }, context.progress.verification("standard"));
  return { ...finished, verdict };
}

/** A record of a finished run, read and hashed again. */
export function recordOf(
  run: Run,
  { node, output }: { readonly node: string; readonly output: string },
): Uint8Array<ArrayBuffer> {
  const blob = run.dag.nodes.find(({ id }) => id === node)?.outputs[output];
  if (blob !== undefined) return run.open(blob.digest).bytes();
  throw new TracewrightError<"cli", "no_such_record">("no_such_record", {
    message: "the run has no such output",
    run: run.runId,
    node,
    output,
  });
}

/** The ids of a verified matrix and how it went, for a program. */
export function matrixJson(
  { run, stats, runtime, verdict }: VerifiedMatrix,
): { readonly [key: string]: Json } {
  return {
    run_id: run.runId,
    result_id: run.resultId,
    path: run.path,
    ...stats,
    runtime,
    verification: verdictJson(verdict),
  };
}

/** The same for a person. */
export function matrixLines({ run, stats, verdict }: VerifiedMatrix): readonly string[] {
  return [
    `${stats.stages} stages, ${stats.cached} cached`,
    `run     ${run.runId}`,
    `result  ${run.resultId}`,
    `folder  ${run.path}  (begin with report.md)`,
    "",
    ...verdictLines(verdict),
  ];
}
