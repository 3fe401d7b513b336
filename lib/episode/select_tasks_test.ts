import assert from "node:assert/strict";
import fc from "fast-check";
import type { WorkflowTask } from "../world/contracts.ts";
import { selectProgressTasks } from "./select_tasks.ts";

/** Tasks in strata of the given sizes. */
function strata(sizes: readonly number[]): WorkflowTask[] {
  return sizes.flatMap((size, s) =>
    Array.from({ length: size }, (_, i) => ({
      case_id: `case-${s}-${i}`,
      family: `family-${s % 3}`,
      difficulty: s % 2 === 0 ? "short" : "long",
      topology: `topology-${s}`,
    }))
  ) as unknown as WorkflowTask[];
}

const ids = (tasks: readonly WorkflowTask[]) => tasks.map(({ case_id }) => case_id);

function countsOf(tasks: readonly WorkflowTask[]): number[] {
  const counts = new Map<string, number>();
  for (const { topology } of tasks) counts.set(topology, (counts.get(topology) ?? 0) + 1);
  return [...counts.values()];
}

Deno.test("selectProgressTasks() takes from equal strata numbers that differ by at most one", () => {
  for (const limit of [1, 6, 20, 59]) {
    const chosen = selectProgressTasks(strata(Array(6).fill(10)), { limit, seed: 17 });
    assert.equal(new Set(ids(chosen)).size, limit);
    const counts = countsOf(chosen);
    if (limit >= 6) assert.equal(counts.length, 6);
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1);
  }
});

Deno.test("selectProgressTasks() is balanced over what strata can give, sorted, and blind to input order", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 0, max: 40 }), fc.nat(1000), (sizes, limit, seed) => {
      const tasks = strata(sizes);
      const chosen = selectProgressTasks(tasks, { limit, seed });
      assert.deepEqual(ids(selectProgressTasks(tasks.toReversed(), { limit, seed })), ids(chosen));
      assert.deepEqual(ids(chosen), ids(chosen).toSorted());
      assert.equal(chosen.length, Math.min(limit, tasks.length));
      const counts = sizes.map((_, s) =>
        chosen.filter(({ topology }) => String(topology) === `topology-${s}`).length
      );
      const most = Math.max(...counts);
      // A stratum falls behind by more than one only when it has nothing left.
      counts.forEach((count, s) => assert.ok(count >= most - 1 || count === sizes[s]));
    }),
    { numRuns: 50 },
  );
});

Deno.test("selectProgressTasks() draws by the seed, within strata and among them", () => {
  const tasks = strata(Array(6).fill(10));
  const of = (seed: number, limit: number) => ids(selectProgressTasks(tasks, { limit, seed }));
  assert.notDeepEqual(of(17, 12), of(29, 12));
  const first = new Set(Array.from({ length: 20 }, (_, seed) => of(seed, 1)[0]!.slice(0, 6)));
  assert.ok(first.size > 2);
});
