import type { RandomStream } from "../core/random_stream.ts";
import type { WorkflowTask } from "../world/contracts.ts";

/**
 * Which tasks a training iteration rolls out. Every round names each family once, in a fresh random order, so any
 * ten consecutive picks of a round cover all ten families. Source: protocol/policy-and-training.md section 7.
 *
 * @param tasks the training split
 * @param episodes how many picks
 * @param stream shuffles each family's tasks once, then each round's families
 */
export function rolloutSchedule(
  tasks: readonly WorkflowTask[],
  episodes: number,
  stream: RandomStream,
): WorkflowTask[] {
  const byFamily = new Map<string, WorkflowTask[]>();
  for (const task of [...tasks].sort((a, b) => (a.case_id < b.case_id ? -1 : 1))) {
    const own = byFamily.get(task.family);
    if (own === undefined) byFamily.set(task.family, [task]);
    else own.push(task);
  }
  const queues = [...byFamily.keys()].sort().map((family) => stream.shuffle(byFamily.get(family)!));
  const next = queues.map(() => 0);
  const picked: WorkflowTask[] = [];
  while (picked.length < episodes && queues.length > 0) {
    for (const family of stream.shuffle(queues.map((_, i) => i))) {
      if (picked.length === episodes) break;
      const queue = queues[family]!;
      picked.push(queue[next[family]! % queue.length]!);
      next[family] = next[family]! + 1;
    }
  }
  return picked;
}
