import { ChunkedSession } from "./_chunked_session.ts";
import { policyError } from "./_error.ts";
import { openOrt, type OrtPackage } from "./_ort_session.ts";
import type { AdmittedGraph } from "./admission.ts";
import type { PolicySession } from "./runtime.ts";

const TELEMETRY_SWITCH = "ORT_DISABLE_TELEMETRY";

/** 1.27.0 has no telemetry; versions from 1.29 on read this once, when the library loads. */
function disableTelemetry(): void {
  const permission = Deno.permissions.querySync({ name: "env", variable: TELEMETRY_SWITCH });
  if (permission.state === "granted") Deno.env.set(TELEMETRY_SWITCH, "1");
}

let loading: Promise<OrtPackage> | undefined;

/**
 * Loaded on first use, so that a process without `--allow-ffi` may import this file. A failure is final: the module
 * system does not load a module twice.
 */
async function load(): Promise<OrtPackage> {
  disableTelemetry();
  try {
    return await import("onnxruntime-node");
  } catch (cause) {
    throw policyError("runtime_unavailable", {
      message: "onnxruntime-node could not be loaded",
      runtime: "native",
      hint: "run with --allow-ffi, or choose --runtime wasm",
      cause,
    });
  }
}

/**
 * ONNX Runtime as a native library: the fastest, and outside of Deno's sandbox. Needs `--allow-ffi` and read access
 * to `node_modules`.
 *
 * @throws TracewrightError "runtime_unavailable" where the library does not load
 */
export async function openNative(graph: AdmittedGraph): Promise<PolicySession> {
  const ort = await (loading ??= load());
  return new ChunkedSession(
    "native",
    graph,
    await openOrt(ort, { graph, runtime: "native", executionProvider: "cpu" }),
  );
}
