import type { RandomStream } from "../core/random_stream.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { byCaseId } from "./_case_order.ts";

/**
 * Which tasks a training iteration rolls out. Every round names each family once, in a fresh random order, so with ten
 * families each ten picks cover all of them; a family that runs out of tasks starts over in the same order. Independent
 * of input order. Source: protocol/policy-and-training.md section 7.
 *
 * @param tasks the training split; an empty one gives an empty schedule
 * @param episodes how many picks
 * @param stream shuffles each family's tasks once, then each round's families
 */
export function rolloutSchedule(
  tasks: readonly WorkflowTask[],
  episodes: number,
  stream: RandomStream,
): WorkflowTask[] {
  const byFamily = new Map<string, WorkflowTask[]>();
  for (const task of [...tasks].sort(byCaseId)) {
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
