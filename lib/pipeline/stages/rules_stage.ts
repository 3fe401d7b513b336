import { z } from "zod";
import { taskStream } from "../../benchmark/task_stream.ts";
import { canonicalBytes } from "../../core/canonical_json.ts";
import { runEpisodes } from "../../episode/run_episodes.ts";
import { traceLine, traceRecord } from "../../episode/trace.ts";
import { type CaseCounts, caseCounts } from "../../evaluate/case_counts.ts";
import { metricsReport } from "../../evaluate/metrics_report.ts";
import { type Rule, RULES } from "../../evaluate/rules.ts";
import { FeatureEncoder } from "../../policy/encoder.ts";
import { defineStage } from "../../stage/define_stage.ts";
import type { WorkflowTask } from "../../world/contracts.ts";
import { MEDIA } from "../media_types.ts";
import { rewardParams } from "../stage_params.ts";

/** Tasks that are in memory at a time. Changes no result. */
const TASKS_AT_A_TIME = 128;

function* batches<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = [];
  for (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The output that holds the traces of a rule. */
export function rulesTraces(rule: Rule) {
  return `${rule.key}.jsonl` as const;
}

/**
 * Runs the rules over the test split, through the runner, traces and metrics of the learned variants. The rules are the
 * variants of the metrics record; all carry the one seed, which only the random rule draws from.
 */
export const rulesStage = defineStage({
  name: "rules",
  version: 1,
  params: z.strictObject({
    seed: z.int(),
    reward: rewardParams.extend({ gamma: z.number() }),
    timeout_s: z.number(),
    bootstrap: z.strictObject({ samples: z.int(), confidence: z.number(), seed: z.int() }),
  }),
  inputs: { test: { media_type: MEDIA.tasks } },
  outputs: {
    "oracle.jsonl": { media_type: MEDIA.traces },
    "random.jsonl": { media_type: MEDIA.traces },
    "first.jsonl": { media_type: MEDIA.traces },
    "ready.jsonl": { media_type: MEDIA.traces },
    "metrics.json": { media_type: MEDIA.metrics },
  },
  async run({ params: { seed, reward, timeout_s, bootstrap }, input, output, progress }) {
    const timeoutMs = Math.floor(timeout_s * 1000 + 0.5);
    // No rule looks at features, so the smallest ones do.
    const settings = {
      encoder: new FeatureEncoder({ stateWidth: 16, actionWidth: 16 }),
      reward,
      selection: "public",
    } as const;
    const players = RULES.map((rule) => ({
      rule,
      traces: output(rulesTraces(rule)),
      rows: [] as CaseCounts[],
    }));
    const planned: string[] = [];
    const play = async (player: (typeof players)[number], tasks: readonly WorkflowTask[]) => {
      for await (const episode of runEpisodes(tasks, player.rule.actor({ tasks, seed }), settings)) {
        const record = traceRecord(episode, { mode: "compact", credit: "action" });
        player.traces.write(traceLine(record));
        player.rows.push(caseCounts(record, timeoutMs));
      }
    };
    const test = input("test");
    let read = 0;
    function* lines(): Generator<string> {
      for (const line of test.lines()) {
        read += line.length + 1;
        yield line;
      }
    }
    for (const tasks of batches(taskStream(lines()), TASKS_AT_A_TIME)) {
      for (const player of players) await play(player, tasks);
      planned.push(...tasks.map(({ case_id }) => case_id));
      const count = planned.length * players.length;
      progress(Math.min(1, read / test.size), { unit: "episodes", count });
    }
    output("metrics.json").write(canonicalBytes(metricsReport(
      players.map(({ rule, rows }) => ({ variant: rule.id, seed, rows })),
      { planned, timeoutMs, bootstrap, comparisons: [] },
    )));
  },
});
