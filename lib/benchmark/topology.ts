/**
 * The four shapes of a v1.3 workflow and the rule that keeps one of them from training, family by family.
 * Source: protocol/benchmark-v1.3.md sections 5 and 6.
 */
import type { Split, WorkflowTopology } from "../world/contracts.ts";
import { TOPOLOGIES } from "../world/contracts.ts";

/** The indices i - count to i - 1, but none below `first`. */
function preceding(i: number, count: number, first: number): number[] {
  const from = Math.max(first, i - count);
  return Array.from({ length: i - from }, (_, k) => from + k);
}

function bodyPredecessors(topology: WorkflowTopology, i: number): number[] {
  if (i === 0) return [];
  switch (topology) {
    case "diamond_tail":
      return i <= 2 ? [0] : i === 3 ? [1, 2] : [i - 1];
    case "fanout_gate":
      return i <= 3 ? [0] : preceding(i, 3, 1);
    case "dual_lane":
      return i <= 2 ? [0] : [i - 2];
    case "dual_root_mesh":
      return i === 1 ? [] : i === 2 ? [0] : i === 3 ? [0, 1] : [i - 3, i - 1];
  }
}

/**
 * The predecessors of every node of a workflow: a body of `length - 2` nodes, the approval barrier behind all sinks of
 * the body, and the final action behind the barrier.
 *
 * @param length number of nodes, at least 6
 * @returns predecessor indices, ascending, shape [length]
 */
export function workflowPredecessors(topology: WorkflowTopology, length: number): number[][] {
  const barrier = length - 2;
  const lists = Array.from({ length: barrier }, (_, i) => bodyPredecessors(topology, i));
  const needed = new Set(lists.flat());
  lists.push(Array.from(lists.keys()).filter((i) => !needed.has(i)));
  lists.push([barrier]);
  return lists;
}

/** The topology that a family shows in the test split only. */
export function heldOutTopology(familyIndex: number): WorkflowTopology {
  return TOPOLOGIES[familyIndex % TOPOLOGIES.length]!;
}

/** The topology of a task: the held-out one in test, one of the three others, chosen by the task seed, elsewhere. */
export function taskTopology(task: {
  readonly split: Split;
  readonly familyIndex: number;
  readonly seed: number;
}): WorkflowTopology {
  const heldOut = heldOutTopology(task.familyIndex);
  if (task.split === "test") return heldOut;
  const others = TOPOLOGIES.filter((topology) => topology !== heldOut);
  return others[task.seed % others.length]!;
}
