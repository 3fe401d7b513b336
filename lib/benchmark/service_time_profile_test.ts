import assert from "node:assert/strict";
import fc from "fast-check";
import { hasCode } from "../core/error.ts";
import { SERVICE_TIME_SOURCE } from "../world/service_time.ts";
import {
  frozenDifferences,
  PROFILE_FILTER,
  PROFILE_QUANTILES,
  serviceTimeProfile,
  WeightedDurations,
} from "./service_time_profile.ts";

function counted(pairs: readonly (readonly [number, number])[]): WeightedDurations {
  const durations = new WeightedDurations();
  for (const [duration, weight] of pairs) durations.add({ duration, weight });
  return durations;
}

function fails(action: () => unknown, code: string): void {
  assert.throws(action, (error) => hasCode(error, code), code);
}

Deno.test("WeightedDurations.quantiles() on the protocol's example", () => {
  // Sums 1, 4, 5 of 5: half is 2.5, four fifths is 4 exactly.
  const durations = counted([[0.9, 1], [0.1, 1], [0.2, 3]]);
  assert.deepEqual(durations.quantiles([500, 800, 1000]), [0.2, 0.2, 0.9]);
  assert.deepEqual(durations.quantiles([1, 200, 201, 801]), [0.1, 0.1, 0.2, 0.9]);
  assert.deepEqual([durations.rows, durations.total], [3, 5]);
});

Deno.test("WeightedDurations.quantiles() is exact where a product of floats would not be", () => {
  // 0.55 of 100 invocations are 55, and the first duration has just these; as floats the product is above 55.
  assert.ok(0.55 * 100 > 55);
  assert.deepEqual(counted([[1, 55], [2, 45]]).quantiles([550, 551]), [1, 2]);
});

Deno.test("WeightedDurations: a repeated duration counts like one row with the sum, in any order", () => {
  const pair = fc.tuple(fc.nat({ max: 5 }), fc.integer({ min: 1, max: 9 }));
  fc.assert(
    fc.property(fc.array(pair, { minLength: 1 }), (pairs) => {
      const sums = new Map<number, number>();
      for (const [duration, weight] of pairs) sums.set(duration, (sums.get(duration) ?? 0) + weight);
      assert.deepEqual(
        counted([...pairs].reverse()).quantiles(PROFILE_QUANTILES),
        counted([...sums]).quantiles(PROFILE_QUANTILES),
      );
      // The plain definition: the item at the rank, counted from one, when each invocation is written out.
      const all = pairs.flatMap(([duration, weight]) => Array<number>(weight).fill(duration)).sort((a, b) =>
        a - b
      );
      const rank = (q: number) => Math.max(1, Math.ceil(q * all.length / 1000));
      assert.deepEqual(
        counted(pairs).quantiles([1, 250, 500, 999, 1000]),
        [1, 250, 500, 999, 1000].map((q) => all[rank(q) - 1]),
      );
    }),
  );
});

Deno.test("WeightedDurations refuses what it cannot count and quantiles that there are none of", () => {
  fails(() => new WeightedDurations().quantiles([500]), "no_durations");
  for (const q of [0, -1, 1001, 0.5, NaN]) fails(() => counted([[1, 1]]).quantiles([q]), "bad_quantile");
  for (const duration of [-1, NaN, Infinity]) fails(() => counted([[duration, 1]]), "bad_duration");
  for (const weight of [0, -1, 1.5, NaN, 2 ** 53]) fails(() => counted([[1, weight]]), "bad_duration");
  fails(() => counted([[1, 2 ** 43], [1, 2 ** 43]]), "too_many_invocations");
});

Deno.test("serviceTimeProfile() states seconds by quantile", () => {
  const profile = serviceTimeProfile(counted([[140, 3], [-0, 1]]), { archive: null, rowsLeftOut: 2 });
  assert.deepEqual(profile, {
    schema: "tracewright.service-time-profile.v1",
    archive_sha256: null,
    filter: PROFILE_FILTER,
    weight: "Count",
    unit: "s",
    rows: 2,
    rows_left_out: 2,
    invocations: 4,
    quantiles: {
      "0.5": 0.14,
      "0.75": 0.14,
      "0.8": 0.14,
      "0.85": 0.14,
      "0.875": 0.14,
      "0.9": 0.14,
      "0.925": 0.14,
      "0.95": 0.14,
      "0.975": 0.14,
    },
  });
  fails(() => serviceTimeProfile(counted([]), { archive: null, rowsLeftOut: 0 }), "no_durations");
});

Deno.test("frozenDifferences() finds nothing in the frozen profile, whatever its last quantile, and names a change", () => {
  const frozen = {
    ...serviceTimeProfile(counted([[1, 1]]), { archive: null, rowsLeftOut: 0 }),
    rows: SERVICE_TIME_SOURCE.rows,
    invocations: SERVICE_TIME_SOURCE.invocations,
    quantiles: {
      "0.5": 0.14,
      "0.75": 0.334,
      "0.8": 0.902,
      "0.85": 1.592,
      "0.875": 1.633,
      "0.9": 1.658,
      "0.925": 1.686,
      "0.95": 1.734,
      "0.975": 3,
    },
  };
  assert.deepEqual(frozenDifferences(frozen), []);
  const other = { ...frozen, quantiles: { ...frozen.quantiles, "0.9": 1.659 } };
  assert.deepEqual(frozenDifferences(other), [{ path: "quantiles.0.9", expected: 1.658, actual: 1.659 }]);
  assert.deepEqual(frozenDifferences({ ...frozen, rows: 1 }).map(({ path }) => path), ["rows"]);
});
