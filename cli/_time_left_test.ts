import assert from "node:assert/strict";
import { TimeLeft, timeLeftText } from "./_time_left.ts";

const jobs = (...ids: string[]) => ids.map((id) => ({ id, kind: id.split("/")[0]! }));

Deno.test("TimeLeft.left() says nothing before anything got anywhere", () => {
  const time = new TimeLeft();
  time.plan(jobs("a/1", "b/1"));
  assert.equal(time.left(0), undefined);
  time.start("a/1", 0);
  assert.equal(time.left(5_000), undefined);
});

Deno.test("TimeLeft.left() of a running job follows from how far it is", () => {
  const time = new TimeLeft();
  time.plan(jobs("a/1"));
  time.start("a/1", 1_000);
  time.reach("a/1", 0.25);
  assert.deepEqual(time.left(3_000), { seconds: 6, atLeast: false });
});

Deno.test("TimeLeft.left() takes jobs that wait to last as long as others of their kind did", () => {
  const time = new TimeLeft();
  time.plan(jobs("a/1", "a/2", "a/3", "b/1"));
  time.start("a/1", 0);
  time.end("a/1", 4_000);
  time.start("a/2", 4_000);
  // a/2 has just begun: 4 s as a/1; a/3 the same; of b nothing is known
  assert.deepEqual(time.left(4_000), { seconds: 8, atLeast: true });
  time.reach("a/2", 0.02); // too early to believe: 100 s by itself
  assert.deepEqual(time.left(6_000), { seconds: 6, atLeast: true });
  time.reach("a/2", 0.5);
  assert.deepEqual(time.left(7_000), { seconds: 7, atLeast: true });
  time.end("a/2", 8_000);
  time.start("b/1", 8_000);
  time.reach("b/1", 0.5);
  assert.deepEqual(time.left(9_000), { seconds: 5, atLeast: false });
});

Deno.test("TimeLeft.left() divides by how many run at a time, but is never less than the longest one takes", () => {
  const time = new TimeLeft();
  time.plan(jobs("a/1", "a/2", "a/3", "a/4"));
  time.start("a/1", 0);
  time.start("a/2", 0);
  time.end("a/1", 10_000);
  time.reach("a/2", 0.5);
  assert.deepEqual(time.left(10_000), { seconds: 15, atLeast: false }); // 10 + 10 + 10, two at a time
  time.start("a/3", 10_000);
  time.end("a/2", 10_000);
  time.start("a/4", 10_000);
  time.reach("a/3", 0.5);
  time.reach("a/4", 0.1);
  assert.deepEqual(time.left(11_000), { seconds: 9, atLeast: false });
});

Deno.test("TimeLeft.left() learns nothing from jobs that did not run", () => {
  const time = new TimeLeft();
  time.plan(jobs("a/1", "a/2"));
  time.end("a/1", 0);
  assert.equal(time.left(0), undefined);
  time.start("a/2", 0);
  time.reach("a/2", 0.5);
  assert.deepEqual(time.left(1_000), { seconds: 1, atLeast: false });
  time.end("a/2", 2_000);
  assert.equal(time.left(2_000), undefined);
});

Deno.test("timeLeftText() is no finer than an estimate is", () => {
  const text = (seconds: number) => timeLeftText({ seconds, atLeast: false });
  assert.deepEqual([0.2, 99, 100, 3_600, 6_000].map(text), [
    "1 s left",
    "99 s left",
    "2 min left",
    "60 min left",
    "1 h 40 min left",
  ]);
  assert.equal(timeLeftText({ seconds: 30, atLeast: true }), "over 30 s left");
});
