import assert from "node:assert/strict";
import { RandomStream } from "../core/random_stream.ts";
import { caseDraws } from "./_case_draws.ts";

/** The draws as one list, from the stream itself. */
function plain(root: number, { count, samples }: { count: number; samples: number }): number[] {
  const stream = new RandomStream(root, "draws");
  return Array.from({ length: count * samples }, () => stream.integer(count));
}

function drawn(root: number, { count, samples }: { count: number; samples: number }): number[] {
  const replicates = Array.from(caseDraws({ root, stream: "draws", count, samples }), (one) => [...one]);
  assert.deepEqual(replicates.map(({ length }) => length), Array(samples).fill(count));
  return replicates.flat();
}

Deno.test("caseDraws() gives the stream's numbers in order, asked for once, again, and after others", () => {
  const sizes = [{ count: 7, samples: 5 }, { count: 5, samples: 7 }, { count: 1, samples: 3 }];
  for (const size of [...sizes, ...sizes.slice(0, 1), ...sizes.slice(0, 1)]) {
    for (const root of [1, 1, 2]) assert.deepEqual(drawn(root, size), plain(root, size));
  }
});

Deno.test("caseDraws() gives the same numbers where there are too many to keep", () => {
  const size = { count: 1001, samples: 1000 };
  assert.deepEqual(drawn(3, size), plain(3, size));
});

Deno.test("caseDraws() can be asked by two at once", () => {
  const size = { root: 5, stream: "draws", count: 4, samples: 3 };
  const [one, other] = [caseDraws(size), caseDraws({ ...size, root: 6 })];
  const expected = { one: plain(5, size), other: plain(6, size) };
  const seen = { one: [] as number[], other: [] as number[] };
  for (let replicate = 0; replicate < 3; replicate++) {
    seen.one.push(...one.next().value!);
    seen.other.push(...other.next().value!);
  }
  assert.deepEqual(seen, expected);
});
