import assert from "node:assert/strict";
import { RandomStream } from "../core/random_stream.ts";
import { CASE_CLUSTER_METHOD, caseDraws } from "./case_draws.ts";

/** The draws as one list, from the stream itself. */
function plain(seed: number, { count, samples }: { count: number; samples: number }): number[] {
  const stream = new RandomStream(seed, CASE_CLUSTER_METHOD);
  return Array.from({ length: count * samples }, () => stream.integer(count));
}

function drawn(seed: number, { count, samples }: { count: number; samples: number }): number[] {
  const replicates = Array.from(caseDraws({ seed, count, samples }), (one) => [...one]);
  assert.deepEqual(replicates.map(({ length }) => length), Array(samples).fill(count));
  return replicates.flat();
}

Deno.test("caseDraws() gives the stream's numbers in order, asked for once, again, and after others", () => {
  const sizes = [{ count: 7, samples: 5 }, { count: 5, samples: 7 }, { count: 1, samples: 3 }];
  for (const size of [...sizes, ...sizes.slice(0, 1), ...sizes.slice(0, 1)]) {
    for (const seed of [1, 1, 2]) assert.deepEqual(drawn(seed, size), plain(seed, size));
  }
});

Deno.test("caseDraws() gives the same numbers where there are too many to keep", () => {
  const size = { count: 1001, samples: 1000 };
  assert.deepEqual(drawn(3, size), plain(3, size));
});

Deno.test("caseDraws() can be asked by two at once", () => {
  const size = { seed: 5, count: 4, samples: 3 };
  const [one, other] = [caseDraws(size), caseDraws({ ...size, seed: 6 })];
  const expected = { one: plain(5, size), other: plain(6, size) };
  const seen = { one: [] as number[], other: [] as number[] };
  for (let replicate = 0; replicate < 3; replicate++) {
    seen.one.push(...one.next().value!);
    seen.other.push(...other.next().value!);
  }
  assert.deepEqual(seen, expected);
});
