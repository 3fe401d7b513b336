import { canonicalJson } from "../core/canonical_json.ts";
import { sha256Hex } from "../core/digest.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { byCaseId } from "./_case_order.ts";

interface Ranked {
  readonly rank: string;
}

function byRank(a: Ranked, b: Ranked): number {
  return a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0;
}

/**
 * Up to `limit` tasks for the progress estimator, spread over family x difficulty x topology: strata take turns in seeded
 * order, each giving its tasks in seeded order. Independent of input order; two strata that still have tasks differ by
 * at most one. Source: protocol/policy-and-training.md section 5.1.
 *
 * @param seed run seed
 * @returns tasks sorted by case id
 */
export function selectProgressTasks(
  tasks: readonly WorkflowTask[],
  { limit, seed }: { limit: number; seed: number },
): WorkflowTask[] {
  const rank = (...name: string[]) =>
    sha256Hex(canonicalJson(["tracewright.progress-selection.v1", seed, ...name]));
  const strata = new Map<string, { rank: string; task: WorkflowTask }[]>();
  for (const task of tasks) {
    const stratum = [task.family, task.difficulty, task.topology].join("/");
    const entry = { rank: rank("task", task.case_id), task };
    const own = strata.get(stratum);
    if (own === undefined) strata.set(stratum, [entry]);
    else own.push(entry);
  }
  const queues = [...strata]
    .map(([name, entries]) => ({ rank: rank("stratum", name), entries: entries.sort(byRank) }))
    .sort(byRank);
  const picked: WorkflowTask[] = [];
  for (let round = 0; picked.length < limit; round++) {
    const before = picked.length;
    for (const { entries } of queues) {
      const entry = entries[round];
      if (entry !== undefined && picked.length < limit) picked.push(entry.task);
    }
    if (picked.length === before) break;
  }
  return picked.sort(byCaseId);
}
