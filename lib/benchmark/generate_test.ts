import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { SPLITS, TOPOLOGIES, type WorkflowTask } from "../world/contracts.ts";
import { verifyOracle } from "../world/oracle.ts";
import { FAMILIES } from "./families.ts";
import { generateBenchmark, generateSplit, planSplit } from "./generate.ts";
import { TIER_LENGTHS } from "./quotas.ts";

const SMOKE = generateBenchmark({ sizes: { train: 32, dev: 12, test: 32 }, baseSeed: 20260808 });
/** The protocol's final seed; a constant of the tests only. */
const FINAL_SEED = 2006549735;
const FULL_TEST = generateSplit({ split: "test", size: 1000, baseSeed: FINAL_SEED });

function steps(tasks: readonly { readonly optimal_steps: number }[]): number {
  return tasks.reduce((sum, task) => sum + task.optimal_steps, 0);
}

function count<T>(items: readonly T[], key: (item: T) => string): Record<string, number> {
  const table: Record<string, number> = {};
  for (const item of items) table[key(item)] = (table[key(item)] ?? 0) + 1;
  return table;
}

Deno.test("generateBenchmark() has the protocol's total of optimal steps for smoke", () => {
  assert.deepEqual(SPLITS.map((split) => steps(SMOKE[split])), [290, 102, 290]);
});

Deno.test("planSplit() has the protocol's total of optimal steps for the full benchmark", () => {
  const total = (split: "train" | "dev" | "test", size: number) =>
    planSplit({ split, size, baseSeed: FINAL_SEED }).reduce((sum, request) => sum + request.length, 0);
  assert.deepEqual([total("train", 2000), total("dev", 200), total("test", 1000)], [20290, 2000, 10120]);
});

Deno.test("generateSplit() gives 1000 test tasks in the protocol's strata", () => {
  assert.equal(steps(FULL_TEST), 10120);
  assert.deepEqual(count(FULL_TEST, (task) => task.difficulty), { short: 300, medium: 400, long: 300 });
  assert.deepEqual(count(FULL_TEST, (task) => task.topology), {
    diamond_tail: 300,
    fanout_gate: 300,
    dual_lane: 200,
    dual_root_mesh: 200,
  });
  assert.deepEqual(
    count(FULL_TEST, (task) => task.family),
    Object.fromEntries(FAMILIES.map(({ key }) => [key, 100])),
  );
  const tiers = count(FULL_TEST, (task) => `${task.family} ${task.difficulty}`);
  for (const { key } of FAMILIES) {
    assert.deepEqual([tiers[`${key} short`], tiers[`${key} medium`], tiers[`${key} long`]], [30, 40, 30]);
  }
  for (const field of ["case_id", "seed", "entity_id"] as const) {
    assert.equal(new Set(FULL_TEST.map((task) => task[field])).size, 1000);
  }
  for (const task of FULL_TEST) assert.ok(TIER_LENGTHS[task.difficulty].includes(task.optimal_steps));
});

Deno.test("generateSplit() cycles the lengths of a tier in the order of the ordinals", () => {
  const lengths = FULL_TEST.filter((task) => task.family === "it_permissions" && task.difficulty === "long")
    .map((task) => task.optimal_steps);
  assert.deepEqual(lengths, Array.from({ length: 30 }, (_, k) => 12 + k % 4));
});

Deno.test("generateSplit() makes 1000 tasks that both plans solve in exactly the optimal steps", () => {
  for (const task of FULL_TEST) {
    for (const plan of [0, 1]) {
      const report = verifyOracle(task, plan);
      if (!report.solvable || report.executed_steps !== task.optimal_steps) assert.fail(report.reason);
    }
  }
});

Deno.test("generateBenchmark() never shows a test pair of family and topology in training, and all topologies there", () => {
  const { train, dev, test } = generateBenchmark({ sizes: { train: 120, dev: 60, test: 40 }, baseSeed: 7 });
  const pair = (task: WorkflowTask) => `${task.family} ${task.topology}`;
  const known = new Set([...train, ...dev].map(pair));
  for (const task of test) assert.equal(known.has(pair(task)), false);
  assert.deepEqual(Object.values(count(test, (task) => task.family)), Array(10).fill(4));
  assert.deepEqual(new Set(train.map((task) => task.topology)), new Set(TOPOLOGIES));
});

Deno.test("generateSplit() is deterministic, sorted by case id, and moved as a whole by the base seed", () => {
  const again = generateSplit({ split: "dev", size: 12, baseSeed: 20260808 });
  assert.deepEqual(again, SMOKE.dev);
  const ids = again.map((task) => task.case_id);
  assert.deepEqual(ids, [...ids].sort());
  const other = generateSplit({ split: "dev", size: 12, baseSeed: 20260809 });
  const facts = (tasks: readonly WorkflowTask[]) =>
    tasks.map(({ initial_state: { priority, region, channel }, latency_trace }) =>
      [priority, region, channel, ...Object.values(latency_trace)].join()
    );
  assert.notDeepEqual(facts(other), facts(again));
});

Deno.test("generateSplit() draws of one task do not depend on the size of the split", () => {
  const [small, large] = [1, 10].map((size) =>
    generateSplit({ split: "train", size: size * 10, baseSeed: 3 })
  );
  const first = small!.find((task) => task.case_id === "train-travel_booking-0000")!;
  const same = large!.find((task) => task.case_id === "train-travel_booking-0000")!;
  const { priority, region, channel } = first.initial_state;
  assert.deepEqual([priority, region, channel], [
    same.initial_state.priority,
    same.initial_state.region,
    same.initial_state.channel,
  ]);
});

Deno.test("generateBenchmark() takes odd sizes, with families that differ by at most one task", () => {
  const odd = generateBenchmark({ sizes: { train: 7, dev: 13, test: 32 }, baseSeed: 11 });
  assert.deepEqual(SPLITS.map((split) => odd[split].length), [7, 13, 32]);
  for (const split of SPLITS) {
    const families = count(odd[split], (task) => task.family);
    const counts = FAMILIES.map(({ key }) => families[key] ?? 0);
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1);
  }
});

Deno.test("generateSplit() and generateBenchmark() refuse sizes below 1 and seeds that are none", () => {
  for (const size of [0, -1, 1.5, NaN]) {
    assert.throws(
      () => generateSplit({ split: "test", size, baseSeed: 1 }),
      (error) => hasCode(error, "bad_size"),
    );
    assert.throws(
      () => generateBenchmark({ sizes: { train: 1, dev: 1, test: size }, baseSeed: 1 }),
      (error) => hasCode(error, "bad_size"),
    );
  }
  for (const baseSeed of [-1, 0.5, 2 ** 32, NaN]) {
    assert.throws(
      () => generateSplit({ split: "test", size: 1, baseSeed }),
      (error) => hasCode(error, "bad_seed"),
    );
  }
});
