import fc from "fast-check";
import assert from "node:assert/strict";
import { hasCode } from "./error.ts";
import { RandomStream } from "./random_stream.ts";

const first = (stream: RandomStream) => Array.from({ length: 8 }, () => stream.integer(2 ** 30));

Deno.test("RandomStream is named by its root and its path, and by nothing else", () => {
  const start = first(new RandomStream(17, "rollout", 3));
  assert.deepEqual(first(new RandomStream(17, "rollout", 3)), start);
  for (
    const other of [
      new RandomStream(18, "rollout", 3),
      new RandomStream(17, "rollout", 4),
      new RandomStream(17, "rollout", "3"),
      new RandomStream(17, "rollout"),
      new RandomStream(17, "rollout", 3, ""),
      new RandomStream(17, 3, "rollout"),
    ]
  ) {
    assert.notDeepEqual(first(other), start);
  }
});

Deno.test("RandomStream gives the numbers that it gives on every machine", () => {
  const stream = new RandomStream(2006549735, "pinned");
  assert.deepEqual(
    [stream.integer(1000), stream.integer(1000), stream.integer(6), stream.uniform(), stream.normal()],
    [450, 852, 1, 0.9417931709899106, -0.6318710581800178],
  );
});

Deno.test("RandomStream.uniform() is a multiple of 2^-53 in [0, 1)", () => {
  const stream = new RandomStream(1);
  let sum = 0;
  for (let i = 0; i < 10_000; i++) {
    const u = stream.uniform();
    assert.ok(u >= 0 && u < 1 && Number.isInteger(u * 2 ** 53));
    sum += u;
  }
  assert.ok(Math.abs(sum / 10_000 - 0.5) < 0.015); // five standard errors of 1 / sqrt(12 n)
});

Deno.test("RandomStream.integer() reaches every value, each about as often", () => {
  const stream = new RandomStream(2);
  const counts = new Array<number>(6).fill(0);
  for (let i = 0; i < 12_000; i++) counts[stream.integer(6)]!++;
  for (const count of counts) assert.ok(Math.abs(count - 2000) < 205); // five standard errors
  assert.equal(stream.integer(1), 0);
  for (let i = 0; i < 100; i++) assert.ok(Number.isSafeInteger(stream.integer(Number.MAX_SAFE_INTEGER)));
});

Deno.test("RandomStream.shuffle() and permutation() keep every element once, and agree", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 40 }), fc.integer(), (n, root) => {
    const order = new RandomStream(root).permutation(n);
    assert.deepEqual([...order].toSorted((a, b) => a - b), Array.from({ length: n }, (_, i) => i));
    const items = Array.from({ length: n }, (_, i) => i);
    assert.equal(new RandomStream(root).shuffle(items), items);
    assert.deepEqual(items, [...order]);
  }));
});

Deno.test("RandomStream.permutation() gives each order of three about as often", () => {
  const stream = new RandomStream(3);
  const counts = new Map<string, number>();
  for (let i = 0; i < 6000; i++) {
    const order = stream.permutation(3).join();
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  assert.equal(counts.size, 6);
  for (const count of counts.values()) assert.ok(Math.abs(count - 1000) < 145); // five standard errors
});

Deno.test("RandomStream.normal() has mean 0, variance 1 and kurtosis 3", () => {
  const stream = new RandomStream(4);
  const n = 20_000;
  const moments = [0, 0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const x = stream.normal();
    moments.forEach((_, k) => moments[k]! += x ** k / n);
  }
  assert.ok(
    Math.abs(moments[1]!) < 0.036 && Math.abs(moments[2]! - 1) < 0.05 && Math.abs(moments[4]! - 3) < 0.35,
  );
});

Deno.test("RandomStream.pick() gives an element", () => {
  const stream = new RandomStream(5);
  assert.deepEqual(
    new Set(Array.from({ length: 60 }, () => stream.pick(["a", "b", "c"]))),
    new Set(["a", "b", "c"]),
  );
  assert.throws(() => stream.pick([]), (e) => hasCode(e, "bad_range"));
});

Deno.test("RandomStream refuses roots and ranges that are no integers", () => {
  for (const root of [0.5, NaN, 2 ** 53]) {
    assert.throws(() => new RandomStream(root), (e) => hasCode(e, "bad_seed"));
  }
  const stream = new RandomStream(6);
  for (const below of [0, -1, 1.5, NaN, Infinity]) {
    assert.throws(() => stream.integer(below), (e) => hasCode(e, "bad_range"));
  }
});
