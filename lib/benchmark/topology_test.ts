import assert from "node:assert/strict";
import { TOPOLOGIES, type WorkflowTopology } from "../world/contracts.ts";
import { linearExtensions } from "./linear_extensions.ts";
import { heldOutTopology, taskTopology, workflowPredecessors } from "./topology.ts";

/** Protocol benchmark-v1.3.md section 6, copied from its two tables; the last two entries are barrier and final. */
const GOLDEN: Readonly<Record<WorkflowTopology, Readonly<Record<number, number[][]>>>> = {
  diamond_tail: {
    6: [[], [0], [0], [1, 2], [3], [4]],
    7: [[], [0], [0], [1, 2], [3], [4], [5]],
    8: [[], [0], [0], [1, 2], [3], [4], [5], [6]],
    10: [[], [0], [0], [1, 2], [3], [4], [5], [6], [7], [8]],
  },
  fanout_gate: {
    6: [[], [0], [0], [0], [1, 2, 3], [4]],
    7: [[], [0], [0], [0], [1, 2, 3], [4], [5]],
    8: [[], [0], [0], [0], [1, 2, 3], [2, 3, 4], [5], [6]],
    10: [[], [0], [0], [0], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6], [7], [8]],
  },
  dual_lane: {
    6: [[], [0], [0], [1], [2, 3], [4]],
    7: [[], [0], [0], [1], [2], [3, 4], [5]],
    8: [[], [0], [0], [1], [2], [3], [4, 5], [6]],
    10: [[], [0], [0], [1], [2], [3], [4], [5], [6, 7], [8]],
  },
  dual_root_mesh: {
    6: [[], [], [0], [0, 1], [2, 3], [4]],
    7: [[], [], [0], [0, 1], [1, 3], [2, 4], [5]],
    8: [[], [], [0], [0, 1], [1, 3], [2, 4], [5], [6]],
    10: [[], [], [0], [0, 1], [1, 3], [2, 4], [3, 5], [4, 6], [7], [8]],
  },
};

/** Same section: number of legal orders for L = 6 to 15. */
const EXTENSIONS: Readonly<Record<WorkflowTopology, number[]>> = {
  diamond_tail: Array(10).fill(2),
  fanout_gate: Array(10).fill(6),
  dual_lane: [3, 6, 10, 20, 35, 70, 126, 252, 462, 924],
  dual_root_mesh: [5, ...Array(9).fill(7)],
};

/** Same section: most operations that are ready at once. */
const LARGEST_READY: Readonly<Record<WorkflowTopology, number>> = {
  diamond_tail: 2,
  fanout_gate: 3,
  dual_lane: 2,
  dual_root_mesh: 2,
};

function byName(lists: readonly (readonly number[])[]): Map<string, string[]> {
  const name = (i: number) => String(i).padStart(2, "0");
  return new Map(lists.map((list, i) => [name(i), list.map(name)]));
}

for (const topology of TOPOLOGIES) {
  Deno.test(`workflowPredecessors() gives the golden table of ${topology}`, () => {
    for (const [length, lists] of Object.entries(GOLDEN[topology])) {
      assert.deepEqual(workflowPredecessors(topology, Number(length)), lists, `length ${length}`);
    }
  });

  Deno.test(`workflowPredecessors() of ${topology} has the protocol's number of legal orders and of ready operations`, () => {
    for (let length = 6; length <= 15; length++) {
      const order = byName(workflowPredecessors(topology, length));
      const all = linearExtensions(order, 2000);
      assert.equal(all.length, EXTENSIONS[topology][length - 6], `length ${length}`);
      let widest = 0;
      for (const extension of all) {
        for (let done = 0; done < length; done++) {
          const before = new Set(extension.slice(0, done));
          const ready = [...order].filter(([item, needs]) =>
            !before.has(item) && needs.every((need) => before.has(need))
          );
          widest = Math.max(widest, ready.length);
        }
      }
      assert.equal(widest, LARGEST_READY[topology], `length ${length}`);
    }
  });
}

Deno.test("workflowPredecessors() tells the four topologies apart at every length", () => {
  for (let length = 6; length <= 15; length++) {
    const signatures = TOPOLOGIES.map((topology) => JSON.stringify(workflowPredecessors(topology, length)));
    assert.equal(new Set(signatures).size, 4, `length ${length}`);
  }
});

Deno.test("heldOutTopology() follows the table of section 1", () => {
  assert.deepEqual(Array.from({ length: 10 }, (_, i) => heldOutTopology(i)), [
    "diamond_tail",
    "fanout_gate",
    "dual_lane",
    "dual_root_mesh",
    "diamond_tail",
    "fanout_gate",
    "dual_lane",
    "dual_root_mesh",
    "diamond_tail",
    "fanout_gate",
  ]);
});

Deno.test("taskTopology() holds one out for test and takes the others by seed modulo 3, in list order", () => {
  assert.equal(taskTopology({ split: "test", familyIndex: 1, seed: 5 }), "fanout_gate");
  const others = ["diamond_tail", "dual_lane", "dual_root_mesh"];
  for (const split of ["train", "dev"] as const) {
    for (let seed = 4_000_000_000; seed < 4_000_000_006; seed++) {
      // 4,000,000,000 = 3 x 1,333,333,333 + 1
      assert.equal(taskTopology({ split, familyIndex: 1, seed }), others[(seed - 3_999_999_999) % 3]);
    }
  }
});
