import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { raggedBatch } from "./_ragged_batch.ts";
import { ActorCritic } from "./actor_critic.ts";
import { KernelArena } from "./arena.ts";
import { ProgressEstimator } from "./estimator.ts";

const SHAPE = { stateWidth: 6, actionWidth: 6, hidden: 16 };

Deno.test("KernelArena has one holder at a time", () => {
  using first = new KernelArena();
  assert.throws(() => new KernelArena(), (e) => hasCode(e, "arena_busy"));
  first[Symbol.dispose]();
  using second = new KernelArena();
  first[Symbol.dispose](); // a second disposal must not free the memory of the next holder
  assert.throws(() => new KernelArena(), (e) => hasCode(e, "arena_busy"));
  assert.ok(second.allocate(1) >= 0);
});

Deno.test("KernelArena.allocate() refuses more than the memory holds, and everything after disposal", () => {
  using arena = new KernelArena();
  assert.throws(() => arena.allocate(arena.floats.length + 1), (e) => hasCode(e, "arena_exhausted"));
  const net = new ActorCritic(arena, SHAPE);
  arena[Symbol.dispose]();
  const batch = raggedBatch({ sizes: [2], ...SHAPE, stream: new RandomStream(1) });
  assert.throws(() => net.forward(batch), (e) => hasCode(e, "arena_closed"));
});

Deno.test("KernelArena.scoped() takes back what was allocated, also when the work fails", () => {
  using arena = new KernelArena();
  const inside = arena.scoped(() => arena.allocate(100));
  assert.throws(() =>
    arena.scoped(() => {
      arena.allocate(100);
      throw new Error("stop");
    })
  );
  assert.equal(arena.allocate(1), inside);
});

Deno.test("networks in one arena do not disturb each other", () => {
  using arena = new KernelArena();
  const stream = new RandomStream(2);
  const net = new ActorCritic(arena, SHAPE);
  const estimator = new ProgressEstimator(arena, 6);
  net.initialise(stream);
  const before = net.parameters.get();
  estimator.initialise(stream);
  estimator.computeGradient(new Float32Array(60).fill(0.5), new Uint8Array(10).fill(1));
  assert.deepEqual(net.parameters.get(), before);
});
