import assert from "node:assert/strict";
import { hasCode } from "../core/error.ts";
import { RandomStream } from "../core/random_stream.ts";
import { randomEstimator } from "./_random_network.ts";
import { admit } from "./admission.ts";
import { writeExactNetwork } from "./exact_graph.ts";
import { openNative } from "./native_runtime.ts";

const GRAPH = admit(writeExactNetwork(randomEstimator(16, new RandomStream(1))));

Deno.test({
  name: "openNative() says what is missing without --allow-ffi",
  permissions: { read: true },
  fn: () =>
    assert.rejects(openNative(GRAPH), (error) => {
      assert.ok(hasCode(error, "runtime_unavailable"), String(error));
      assert.match(error.message, /--allow-ffi/);
      return true;
    }),
});
