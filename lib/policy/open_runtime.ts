import { policyError } from "./_error.ts";
import { AdmittedGraph } from "./admission.ts";
import { openNative } from "./native_runtime.ts";
import { openReference } from "./reference_runtime.ts";
import { type PolicySession, RUNTIME_NAMES, type RuntimeName } from "./runtime.ts";
import { openWasm } from "./wasm_runtime.ts";

/** What a user may ask for; `auto` picks by permission. */
export const RUNTIME_CHOICES = [...RUNTIME_NAMES, "auto"] as const;
export type RuntimeChoice = (typeof RUNTIME_CHOICES)[number];

/**
 * The runtime that a choice stands for. `auto` is native where FFI is allowed without limits, wasm where reading is
 * allowed, and the reference otherwise. A path-scoped `--allow-ffi=...` cannot be seen from inside and counts as not
 * allowed. The choice changes speed, never a result, so it belongs in no key.
 *
 * @throws TracewrightError "bad_runtime" for any other word
 */
export function resolveRuntime(choice: string): RuntimeName {
  const known = RUNTIME_CHOICES.find((name) => name === choice);
  if (known === undefined) throw policyError("bad_runtime", { expected: RUNTIME_CHOICES, actual: choice });
  if (known !== "auto") return known;
  if (Deno.permissions.querySync({ name: "ffi" }).state === "granted") return "native";
  const modules = new URL(".", import.meta.resolve("onnxruntime-web/ort-wasm-simd-threaded.wasm"));
  return Deno.permissions.querySync({ name: "read", path: modules }).state === "granted"
    ? "wasm"
    : "reference";
}

/**
 * Loads an admitted graph into a runtime. All three give the same bytes for the same batch.
 *
 * @throws TracewrightError "not_admitted" for anything that did not come from `admit`, "runtime_unavailable",
 * "runtime_failed"
 */
export async function openSession(
  { graph, runtime }: { readonly graph: AdmittedGraph; readonly runtime: RuntimeName },
): Promise<PolicySession> {
  if (!AdmittedGraph.isAdmitted(graph)) {
    throw policyError("not_admitted", { hint: "pass the file's bytes through admit() first" });
  }
  switch (runtime) {
    case "native":
      return await openNative(graph);
    case "wasm":
      return await openWasm(graph);
    case "reference":
      return openReference(graph);
  }
}
