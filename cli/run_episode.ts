import type { Json } from "../lib/core/canonical_json.ts";
import { greedyActor } from "../lib/episode/actor.ts";
import { exactPotential } from "../lib/episode/potential.ts";
import { runEpisodes } from "../lib/episode/run_episodes.ts";
import { traceLine, type TraceRecord, traceRecord } from "../lib/episode/trace.ts";
import { encoderSettings, rewardSettings } from "../lib/pipeline/semantics.ts";
import { FeatureEncoder } from "../lib/policy/encoder.ts";
import { openSession, resolveRuntime } from "../lib/policy/open_runtime.ts";
import { bringCell, testSplit } from "./_cell.ts";
import { command, executeCommand } from "./_command.ts";
import { requireFreeOutput, writeFileWhole } from "./_output.ts";
import { RUN_EPISODE } from "./_specs.ts";
import { usageError } from "./_usage_error.ts";

function stepLines({ steps }: TraceRecord): string[] {
  return steps.map(({ step_index, action, invalid_kind, log_prob }) => {
    const verdict = invalid_kind === null ? "accepted" : `refused: ${invalid_kind}`;
    return `step ${step_index}  ${action.tool_name}  ${verdict}  p ${Math.exp(log_prob).toFixed(3)}`;
  });
}

/** `run-episode`: one test case under a policy, with everything that was seen, offered and chosen at each step. */
export const runEpisode = command(RUN_EPISODE, async (options) => {
  const inputs = [options.checkpoint, ...(options.estimator === undefined ? [] : [options.estimator])];
  requireFreeOutput(options.output, { inputs, kind: "file" });
  const cell = await bringCell(options);
  const { config, variant, policy, estimator } = cell;
  const tasks = testSplit(config);
  const task = tasks[options.caseIndex];
  if (task === undefined) {
    throw usageError("no_such_case", {
      message: "the test split is smaller",
      option: "--case-index",
      expected: `0 to ${tasks.length - 1}`,
      actual: options.caseIndex,
    });
  }
  const runtime = resolveRuntime(options.runtime);
  using session = await openSession({ graph: policy, runtime });
  using progress = estimator && await openSession({ graph: estimator, runtime });
  const episodes = runEpisodes([task], greedyActor(session), {
    encoder: new FeatureEncoder(encoderSettings(config)),
    reward: rewardSettings(config),
    selection: variant.action_mask ? "public" : "none",
    ...(progress === undefined ? {} : { potential: exactPotential(progress) }),
  }, "full");
  const [episode] = await Array.fromAsync(episodes);
  const record = traceRecord(episode!, {
    mode: "full",
    credit: variant.algorithm === "sequence_ppo" ? "sequence" : "action",
  });
  writeFileWhole(options.output, new TextEncoder().encode(traceLine(record)));
  const result = {
    case_id: record.case_id,
    variant: variant.name,
    checkpoint: policy.digest,
    success: record.success,
    steps: record.step_count,
    optimal_steps: record.optimal_steps,
    path: options.output,
  };
  return {
    json: result satisfies Json,
    lines: [
      ...stepLines(record),
      `${record.case_id}: ${record.success ? "success" : "failure"} after ${record.step_count} steps, ` +
      `${record.optimal_steps} would do`,
      `trace  ${options.output}`,
    ],
  };
});

if (import.meta.main) await executeCommand(runEpisode);
