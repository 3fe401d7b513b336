import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { randomEstimator } from "./_random_network.ts";
import { admit } from "./admission.ts";
import { writeExactNetwork } from "./exact_graph.ts";
import { openReference } from "./reference_runtime.ts";
import { openWasm } from "./wasm_runtime.ts";

const GRAPH = admit(writeExactNetwork(randomEstimator(16, new RandomStream(1))));
const BATCH = {
  state: new Float64Array(16).fill(100),
  action: new Float64Array(0),
  segment: new Int32Array(0),
};

Deno.test({
  name: "openWasm() says what is missing without --allow-read",
  permissions: "none",
  fn: () => assert.rejects(openWasm(GRAPH), (error) => hasCode(error, "runtime_unavailable")),
});

Deno.test({
  name: "openWasm() needs read permission on the project only, and fetches nothing",
  permissions: { read: [new URL("../../", import.meta.url)] },
  fn: async () => {
    const fetched: unknown[] = [];
    const { fetch } = globalThis;
    globalThis.fetch = (input) => {
      fetched.push(input);
      return Promise.reject(new Error("the test allows no fetch"));
    };
    try {
      using session = await openWasm(GRAPH);
      using reference = openReference(GRAPH);
      assert.deepEqual(await session.logits(BATCH), await reference.logits(BATCH));
    } finally {
      globalThis.fetch = fetch;
    }
    assert.deepEqual(fetched, []);
  },
});
