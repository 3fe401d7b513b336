import assert from "node:assert/strict";
import { Rate, rateText } from "./_rate.ts";

Deno.test("Rate.perSecond() says nothing before two counts, some time apart", () => {
  const rate = new Rate();
  assert.equal(rate.perSecond(9_000), undefined);
  rate.add(5, 1_000);
  assert.equal(rate.perSecond(9_000), undefined);
  rate.add(10, 1_100);
  assert.equal(rate.perSecond(1_100), undefined);
  assert.equal(rate.perSecond(2_000), 5);
});

Deno.test("Rate.perSecond() is of the last ten seconds, and falls while nothing comes", () => {
  const rate = new Rate();
  for (let second = 0; second <= 20; second++) rate.add(second * 100, second * 1_000); // 100/s
  for (let second = 21; second <= 40; second++) rate.add(2_000 + (second - 20) * 10, second * 1_000); // 10/s
  assert.equal(rate.perSecond(40_000), 10);
  assert.equal(rate.perSecond(50_000), 5);
});

Deno.test("Rate.perSecond() of one count every minute is a count a minute", () => {
  const rate = new Rate();
  for (let minute = 0; minute <= 3; minute++) rate.add(minute, minute * 60_000);
  assert.equal(rate.perSecond(180_000), 1 / 60);
});

Deno.test("Rate begins anew where the count falls", () => {
  const rate = new Rate();
  rate.add(900, 0);
  rate.add(1_000, 1_000);
  rate.add(0, 2_000);
  assert.equal(rate.perSecond(3_000), undefined);
  rate.add(10, 4_000);
  assert.equal(rate.perSecond(4_000), 5);
});

Deno.test("rateText() shows three digits or so", () => {
  assert.deepEqual([1240.4, 38.12, 0.417].map(rateText), ["1240", "38.1", "0.42"]);
});
