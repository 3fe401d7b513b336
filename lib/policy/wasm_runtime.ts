import "./_worker_location.ts";
import { ChunkedSession } from "./_chunked_session.ts";
import { policyError } from "./_error.ts";
import { openOrt, type OrtPackage } from "./_ort_session.ts";
import type { AdmittedGraph } from "./admission.ts";
import type { PolicySession } from "./runtime.ts";

let loading: Promise<OrtPackage> | undefined;

/** Loaded on first use. The module's bytes are handed over, so the package fetches nothing. */
async function load(): Promise<OrtPackage> {
  try {
    const ort = await import("onnxruntime-web/wasm");
    const { wasm } = ort.env;
    wasm.numThreads = 1;
    wasm.proxy = false;
    const bytes = await Deno.readFile(
      new URL(import.meta.resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm")),
    );
    wasm.wasmBinary = bytes.buffer;
    return ort;
  } catch (cause) {
    loading = undefined;
    throw policyError("runtime_unavailable", {
      message: "onnxruntime-web could not be loaded",
      runtime: "wasm",
      hint: "run with --allow-read",
      cause,
    });
  }
}

/**
 * ONNX Runtime as WebAssembly: inside Deno's sandbox, read access to `node_modules` is all it needs. One thread, on the
 * main thread or in a worker.
 *
 * @throws TracewrightError "runtime_unavailable" where the package does not load
 */
export async function openWasm(graph: AdmittedGraph): Promise<PolicySession> {
  const ort = await (loading ??= load());
  return new ChunkedSession(
    "wasm",
    graph,
    await openOrt(ort, { graph, runtime: "wasm", executionProvider: "wasm" }),
  );
}
