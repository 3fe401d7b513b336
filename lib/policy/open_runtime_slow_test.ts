import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { bigActorCritic, bigEstimator } from "./_big_integer_network.ts";
import { type Magnitude, randomActorCritic, randomBatch, randomEstimator } from "./_random_network.ts";
import type { RuntimeReply, RuntimeRequest } from "./_runtime_worker.ts";
import { admit, AdmittedGraph } from "./admission.ts";
import { writeExactNetwork } from "./exact_graph.ts";
import type { ExactActorCritic } from "./exact_network.ts";
import { openSession, resolveRuntime } from "./open_runtime.ts";
import { type PolicyBatch, type PolicyOutput, RUNTIME_NAMES, type RuntimeName } from "./runtime.ts";

const NONE = { action: new Float64Array(0), segment: new Int32Array(0) };

function assertSameBits(actual: PolicyOutput, expected: PolicyOutput, what: string): void {
  for (const name of ["logits", "values"] as const) {
    const [a, b] = [actual[name], expected[name]];
    assert.equal(a.length, b.length, what);
    for (let i = 0; i < a.length; i++) {
      if (!Object.is(a[i], b[i])) assert.fail(`${what}: ${name} ${i}: ${a[i]} is not ${b[i]}`);
    }
  }
}

/** The batch split into calls of `size` decisions each. */
async function inCallsOf(
  size: number,
  { graph, runtime }: { graph: AdmittedGraph; runtime: RuntimeName },
  { state, action, segment }: PolicyBatch,
): Promise<PolicyOutput> {
  using session = await openSession({ graph, runtime });
  const { stateWidth, actionWidth } = graph;
  const logits: number[] = [];
  const values: number[] = [];
  let row = 0;
  for (let first = 0; first < state.length / stateWidth; first += size) {
    let end = row;
    while (end < segment.length && segment[end]! < first + size) end++;
    const output = await session.logits({
      state: state.slice(first * stateWidth, (first + size) * stateWidth),
      action: action.slice(row * actionWidth, end * actionWidth),
      segment: segment.slice(row, end).map((decision) => decision - first),
    });
    for (const logit of output.logits) logits.push(logit);
    for (const value of output.values) values.push(value);
    row = end;
  }
  return { logits: Float64Array.from(logits), values: Float64Array.from(values) };
}

async function everyRuntime(graph: AdmittedGraph, batch: PolicyBatch, what: string): Promise<PolicyOutput> {
  const outputs: PolicyOutput[] = [];
  for (const runtime of RUNTIME_NAMES) {
    using session = await openSession({ graph, runtime });
    outputs.push(await session.logits(batch));
    assertSameBits(outputs.at(-1)!, outputs[0]!, `${what}, ${runtime}`);
  }
  return outputs[0]!;
}

function assertBigIntegers(
  network: ExactActorCritic,
  batch: PolicyBatch,
  output: PolicyOutput,
  sample: number,
): void {
  const { stateWidth, actionWidth } = network;
  const rowOf = (data: Float64Array, row: number, width: number) =>
    Array.from(data.subarray(row * width, (row + 1) * width), BigInt);
  let row = 0;
  for (let decision = 0; decision < sample; decision++) {
    const first = row;
    while (batch.segment[row] === decision) row++;
    const expected = bigActorCritic(network, {
      state: rowOf(batch.state, decision, stateWidth),
      actions: Array.from({ length: row - first }, (_, i) => rowOf(batch.action, first + i, actionWidth)),
    });
    assert.deepEqual(Array.from(output.logits.subarray(first, row), BigInt), expected.logits);
    assert.equal(BigInt(output.values[decision]!), expected.value);
  }
}

Deno.test("openSession() gives the same bytes in all runtimes on 10,000 decisions, however they are batched", async () => {
  const sizes = { stateWidth: 64, actionWidth: 64, hidden: 48 };
  const stream = new RandomStream(1, "ten-thousand");
  const network = randomActorCritic(sizes, stream);
  const graph = admit(writeExactNetwork(network));
  const batch = randomBatch({ ...sizes, decisions: 10_000, most: 7 }, stream);
  const whole = await everyRuntime(graph, batch, "10,000 decisions");
  assert.ok(new Set(whole.logits).size > 30_000, "the logits are not all alike");
  for (const runtime of ["native", "wasm"] as const) {
    for (const size of [3, 100, 1000]) {
      assertSameBits(
        await inCallsOf(size, { graph, runtime }, batch),
        whole,
        `${runtime} in calls of ${size}`,
      );
    }
  }
  const few = { state: batch.state.slice(0, 64 * 200), ...firstDecisions(batch, 200, 64) };
  const start = {
    logits: whole.logits.subarray(0, few.segment.length),
    values: whole.values.subarray(0, 200),
  };
  for (const runtime of RUNTIME_NAMES) {
    assertSameBits(await inCallsOf(1, { graph, runtime }, few), start, `${runtime}, one at a time`);
  }
  assertBigIntegers(network, batch, whole, 20);
});

function firstDecisions({ action, segment }: PolicyBatch, decisions: number, width: number) {
  const rows = segment.findIndex((decision) => decision >= decisions);
  return { action: action.slice(0, rows * width), segment: segment.slice(0, rows) };
}

Deno.test("openSession() gives the same bytes as BigInt for every size, with extreme weights and features too", async () => {
  for (
    const [stateWidth, actionWidth, hidden] of [[64, 64, 96], [64, 64, 48], [16, 29, 5], [1, 1, 1], [
      100,
      17,
      33,
    ]] as const
  ) {
    for (const magnitude of ["ordinary", "extreme"] satisfies Magnitude[]) {
      const sizes = { stateWidth, actionWidth, hidden };
      const stream = new RandomStream(2, magnitude, hidden, stateWidth);
      const network = randomActorCritic(sizes, stream, magnitude);
      const batch = randomBatch({ ...sizes, decisions: 70, most: 24 }, stream, magnitude);
      const graph = admit(writeExactNetwork(network));
      const output = await everyRuntime(graph, batch, `${magnitude}, hidden ${hidden}`);
      assertBigIntegers(network, batch, output, 3);
    }
  }
});

Deno.test("openSession() reaches the clip at both ends without losing a bit", async () => {
  // every weight and feature at its positive bound: all activations saturate, and the logit is
  // 48 * (2^16 - 1) * (2^19 - 1) + 2^32 - 1
  const sizes = { stateWidth: 64, actionWidth: 64, hidden: 48 };
  const network = randomActorCritic(sizes, new RandomStream(3), "extreme");
  for (const layer of Object.values(network.layers)) {
    layer.weights.fill(2 ** 19 - 1);
    layer.bias.fill(2 ** 32 - 1);
  }
  const batch = {
    state: new Float64Array(64).fill(2 ** 13 - 1),
    action: new Float64Array(64).fill(2 ** 13 - 1),
    segment: Int32Array.of(0),
  };
  const top = 48 * (2 ** 16 - 1) * (2 ** 19 - 1) + 2 ** 32 - 1;
  const high = await everyRuntime(admit(writeExactNetwork(network)), batch, "saturated");
  assert.deepEqual(high, { logits: Float64Array.of(top), values: Float64Array.of(top) });
  // hidden sums all negative: every activation is 0 and only the last bias remains
  network.layers.actor_hidden.weights.fill(-(2 ** 19 - 1));
  network.layers.value_hidden.weights.fill(-(2 ** 19 - 1));
  const low = await everyRuntime(admit(writeExactNetwork(network)), batch, "all negative");
  assert.deepEqual(low, { logits: Float64Array.of(2 ** 32 - 1), values: Float64Array.of(2 ** 32 - 1) });
});

Deno.test("openSession() runs an estimator through the same interface", async () => {
  for (const magnitude of ["ordinary", "extreme"] satisfies Magnitude[]) {
    const stream = new RandomStream(4, magnitude);
    const network = randomEstimator(64, stream, magnitude);
    const batch = randomBatch(
      { decisions: 300, most: 0, stateWidth: 64, actionWidth: 64 },
      stream,
      magnitude,
    );
    const output = await everyRuntime(admit(writeExactNetwork(network)), batch, magnitude);
    assert.equal(output.logits.length, 300);
    assert.equal(output.values.length, 0);
    for (let i = 0; i < 5; i++) {
      const state = Array.from(batch.state.subarray(i * 64, (i + 1) * 64), BigInt);
      assert.equal(BigInt(output.logits[i]!), bigEstimator(network, state));
    }
  }
});

Deno.test("openSession() answers empty batches and decisions without candidates", async () => {
  const sizes = { stateWidth: 16, actionWidth: 16, hidden: 8 };
  const stream = new RandomStream(5);
  const network = randomActorCritic(sizes, stream);
  const graph = admit(writeExactNetwork(network));
  const empty = await everyRuntime(graph, { state: new Float64Array(0), ...NONE }, "empty");
  assert.deepEqual(empty, { logits: new Float64Array(0), values: new Float64Array(0) });
  const states = randomBatch({ ...sizes, decisions: 40, most: 0 }, stream);
  const valuesOnly = await everyRuntime(graph, states, "no candidates");
  assert.equal(valuesOnly.logits.length, 0);
  const full = { ...states, action: new Float64Array(16), segment: Int32Array.of(20) };
  assert.deepEqual((await everyRuntime(graph, full, "one candidate in all")).values, valuesOnly.values);
  const estimator = admit(writeExactNetwork(randomEstimator(16, stream)));
  assert.equal(
    (await everyRuntime(estimator, { state: new Float64Array(0), ...NONE }, "none")).logits.length,
    0,
  );
});

Deno.test("openSession() cuts a decision with very many candidates off from the rest, without a difference", async () => {
  const sizes = { stateWidth: 16, actionWidth: 16, hidden: 4 };
  const stream = new RandomStream(6);
  const network = randomActorCritic(sizes, stream);
  const { action } = randomBatch({ ...sizes, decisions: 1400, most: 1 }, stream);
  const { state } = randomBatch({ ...sizes, decisions: 3, most: 0 }, stream);
  const segment = Int32Array.from({ length: 1400 }, (_, i) => i < 200 ? 0 : i < 1300 ? 1 : 2);
  const output = await everyRuntime(
    admit(writeExactNetwork(network)),
    { state, action, segment },
    "long decision",
  );
  assertBigIntegers(network, { state, action, segment }, output, 3);
});

Deno.test("openSession() answers inside a worker in every runtime", async () => {
  const sizes = { stateWidth: 64, actionWidth: 64, hidden: 48 };
  const stream = new RandomStream(7);
  const onnx = writeExactNetwork(randomActorCritic(sizes, stream));
  const batch = randomBatch({ ...sizes, decisions: 20, most: 5 }, stream);
  using session = await openSession({ graph: admit(onnx), runtime: "reference" });
  const expected = await session.logits(batch);
  const worker = new Worker(import.meta.resolve("./_runtime_worker.ts"), { type: "module" });
  for (const runtime of RUNTIME_NAMES) {
    const reply = await new Promise<RuntimeReply>((resolve, reject) => {
      worker.onmessage = (event: MessageEvent<RuntimeReply>) => resolve(event.data);
      worker.onerror = (event) => reject(new Error(event.message));
      worker.postMessage({ onnx, runtime, batch } satisfies RuntimeRequest);
    });
    if ("error" in reply) assert.fail(`${runtime}: ${reply.error}`);
    assertSameBits(reply.output, expected, `${runtime} in a worker`);
  }
  worker.terminate();
});

Deno.test("openSession() refuses everything that admit() did not return", async () => {
  const stream = new RandomStream(8);
  const graph = admit(writeExactNetwork(randomEstimator(16, stream)));
  const lookalike = Object.create(
    AdmittedGraph.prototype,
    Object.getOwnPropertyDescriptors(graph),
  ) as AdmittedGraph;
  for (
    const forged of [lookalike, { ...graph } as AdmittedGraph, graph.bytes() as unknown as AdmittedGraph]
  ) {
    await assert.rejects(
      openSession({ graph: forged, runtime: "reference" }),
      (error) => hasCode(error, "not_admitted"),
    );
  }
});

Deno.test("resolveRuntime() keeps a name, picks native under full permission, refuses other words", () => {
  for (const name of RUNTIME_NAMES) assert.equal(resolveRuntime(name), name);
  assert.equal(resolveRuntime("auto"), "native");
  assert.throws(() => resolveRuntime("gpu"), (error) => hasCode(error, "bad_runtime"));
});

Deno.test({
  name: "resolveRuntime() picks wasm where only reading is allowed",
  permissions: { read: true },
  fn: () => assert.equal(resolveRuntime("auto"), "wasm"),
});

Deno.test({
  name: "resolveRuntime() picks the reference where nothing is allowed",
  permissions: "none",
  fn: () => assert.equal(resolveRuntime("auto"), "reference"),
});
