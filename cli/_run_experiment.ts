import { canonicalBytes } from "../lib/core/canonical_json.ts";
import type { RuntimeName } from "../lib/policy/runtime.ts";
import { resolveRuntime } from "../lib/policy/open_runtime.ts";
import { sqlAllowed } from "../lib/evaluate/sql_database.ts";
import { sqlMetricsJudge } from "../lib/evaluate/sql_judge.ts";
import { setStageMetricsJudge, setStageRuntime } from "../lib/pipeline/execution.ts";
import type { ExperimentConfig } from "../lib/pipeline/config.ts";
import { NUMERICS, planExperiment, STAGES } from "../lib/pipeline/experiment.ts";
import { codeDigest } from "../lib/stage/codes.ts";
import type { Executor } from "../lib/stage/executor.ts";
import { InlineExecutor } from "../lib/stage/inline_executor.ts";
import { runPlan, type RunStats } from "../lib/stage/scheduler.ts";
import { WorkerPoolExecutor } from "../lib/stage/worker_pool_executor.ts";
import { hostFacts, writeFacts } from "../lib/store/facts.ts";
import { Store } from "../lib/store/store.ts";
import { writeRun, type WrittenRun } from "../lib/store/write_run.ts";
import { hexOf } from "../lib/core/digest.ts";
import type { CommandContext } from "./_command.ts";
import { currentCodes } from "./_codes.ts";

/** How an experiment is carried out; nothing of it changes a result. */
export interface ExecutionOptions {
  readonly store: string;
  /** Where run folders are written. */
  readonly output: string;
  readonly workers: number;
  readonly runtime: string;
  readonly check: boolean;
  readonly link: boolean;
}

/** An experiment that was run and written. */
export interface FinishedExperiment {
  readonly run: WrittenRun;
  readonly stats: RunStats;
  readonly runtime: RuntimeName;
}

function executor(store: Store, { workers, runtime }: { workers: number; runtime: RuntimeName }): Executor {
  const judged = sqlAllowed();
  setStageRuntime(runtime);
  setStageMetricsJudge(judged ? sqlMetricsJudge : undefined);
  if (workers === 1) return new InlineExecutor({ stages: STAGES, store });
  const told = `runtime=${runtime}${judged ? "&judge=sql" : ""}`;
  const entry = new URL(`../lib/pipeline/stage_worker.ts?${told}`, import.meta.url);
  return new WorkerPoolExecutor({ entry, storePath: store.path, workers });
}

/** Runs an experiment, or takes from the store what it holds already, and writes the run's folder. */
export async function runExperiment(
  config: ExperimentConfig,
  options: ExecutionOptions,
  { progress }: CommandContext,
): Promise<FinishedExperiment> {
  const began = performance.now();
  const codes = currentCodes();
  const runtime = resolveRuntime(options.runtime);
  using store = Store.open(options.store);
  const { digest } = store.blobs.put(canonicalBytes(config));
  using pool = executor(store, { workers: options.workers, runtime });
  const { dag, stats } = await runPlan(planExperiment(config, digest), {
    store,
    executor: pool,
    codeOf: (stage) => codeDigest(codes, stage),
    numerics: NUMERICS,
    mode: options.check ? "check" : "reuse",
    listener: progress.report,
  });
  const run = writeRun(dag, {
    store: store.blobs,
    directory: options.output,
    blobs: options.link ? "link" : "copy",
  });
  store.refs.set(`runs/${hexOf(run.runId).slice(0, 16)}`, run.runId);
  store.refs.set(`experiments/${config.name}`, run.runId);
  writeFacts({
    schema: "tracewright.facts.v1",
    run_id: run.runId,
    result_id: run.resultId,
    runtime,
    workers: options.workers,
    ...stats,
    seconds: (performance.now() - began) / 1000,
    host: hostFacts(),
  }, { directory: options.output });
  return { run, stats, runtime };
}
