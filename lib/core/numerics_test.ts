import assert from "node:assert/strict";
import { DigestWriter } from "./digest.ts";
import { argmax, exp, ln, logSoftmax, sigmoid } from "./numerics.ts";
import { RandomStream } from "./random_stream.ts";

/** Place of a positive double among the doubles: neighbours differ by 1. */
function place(x: number): bigint {
  return new BigUint64Array(Float64Array.of(x).buffer)[0]!;
}

/** How many doubles lie between two of the same sign. */
function ulps(a: number, b: number): bigint {
  const distance = place(Math.abs(a)) - place(Math.abs(b));
  return distance < 0n ? -distance : distance;
}

Deno.test("exp() is within a unit in the last place of the platform's", () => {
  const stream = new RandomStream(1);
  for (let i = 0; i < 50_000; i++) {
    const x = (stream.uniform() - 0.5) * (i % 2 === 0 ? 1416 : 4);
    assert.ok(ulps(exp(x), Math.exp(x)) <= 1n, String(x));
  }
});

Deno.test("ln() is within a unit in the last place of the platform's", () => {
  const stream = new RandomStream(2);
  for (let i = 0; i < 50_000; i++) {
    const x = i % 2 === 0 ? Math.exp((stream.uniform() - 0.5) * 1400) : 0.5 + stream.uniform();
    const [ours, theirs] = [ln(x), Math.log(x)];
    assert.ok(Math.sign(ours) === Math.sign(theirs) && ulps(ours, theirs) <= 1n, String(x));
  }
});

Deno.test("exp() and ln() have the limits of the real functions", () => {
  assert.deepEqual([exp(0), exp(-0), exp(-Infinity), exp(Infinity), exp(710), exp(-746)], [
    1,
    1,
    0,
    Infinity,
    Infinity,
    0,
  ]);
  assert.deepEqual([ln(1), ln(0), ln(Infinity)], [0, -Infinity, Infinity]);
  for (const x of [exp(NaN), ln(NaN), ln(-1)]) assert.ok(Number.isNaN(x));
  assert.equal(exp(1), Math.E);
  assert.equal(ln(2), Math.LN2);
  assert.equal(exp(-745.1), 5e-324);
});

Deno.test("exp() and ln() give the bits that they give on every machine", () => {
  const stream = new RandomStream(3);
  const writer = new DigestWriter();
  const values = new Float64Array(20_000);
  for (let i = 0; i < values.length; i += 2) {
    values[i] = exp((stream.uniform() - 0.5) * 1500);
    values[i + 1] = ln(stream.uniform() * (i % 4 === 0 ? 1e300 : 1));
  }
  const view = new DataView(new ArrayBuffer(values.length * 8));
  values.forEach((value, i) => view.setFloat64(i * 8, value, true));
  writer.write(new Uint8Array(view.buffer));
  assert.equal(
    writer.finish(),
    "sha256:b3194f62d79bc4104511a70d5f7138724e41def1828ed61d163e3238e926bde3",
  );
});

Deno.test("sigmoid() is symmetric, monotone and does not overflow", () => {
  assert.equal(sigmoid(0), 0.5);
  assert.deepEqual([sigmoid(1000), sigmoid(-1000), sigmoid(-Infinity), sigmoid(Infinity)], [1, 0, 0, 1]);
  const stream = new RandomStream(4);
  for (let i = 0; i < 2000; i++) {
    const x = stream.normal() * 10;
    assert.ok(Math.abs(sigmoid(x) + sigmoid(-x) - 1) < 1e-15);
    assert.ok(sigmoid(x) <= sigmoid(x + 0.001));
  }
  assert.ok(Math.abs(sigmoid(1) - 0.7310585786300049) < 1e-15);
});

Deno.test("logSoftmax() normalises over the selectable slots, however large the logits", () => {
  const half = logSoftmax([1000, 1000, 1e9], [true, true, false]);
  assert.ok(Math.abs(half[0]! + Math.LN2) < 1e-12 && half[0] === half[1]);
  assert.equal(half[2], -Infinity);
  assert.deepEqual(logSoftmax([5, 7], [true, false]), Float64Array.of(0, -Infinity));
  const stream = new RandomStream(5);
  for (let i = 0; i < 200; i++) {
    const logits = Array.from({ length: 9 }, () => stream.normal() * 20);
    const sum = logSoftmax(logits, logits.map(() => true)).reduce((total, x) => total + exp(x), 0);
    assert.ok(Math.abs(sum - 1) < 1e-12);
  }
});

Deno.test("argmax() takes the lowest index on a tie, and -1 where nothing is selectable", () => {
  assert.equal(argmax([1, 3, 3], [true, true, true]), 1);
  assert.equal(argmax([9, 3, 3], [false, true, true]), 1);
  assert.equal(argmax([-Infinity, -5], [true, true]), 1);
  assert.equal(argmax([1, 2], [false, false]), -1);
  assert.equal(argmax([], []), -1);
});
