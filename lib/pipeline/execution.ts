import type { RuntimeName } from "../policy/runtime.ts";

/** How stages are carried out. Changes speed, never a result; no part of any key. */
let runtime: RuntimeName = "reference";

/** Sets the runtime that stages of this realm evaluate exact graphs with. A worker is told by its address. */
export function setStageRuntime(name: RuntimeName): void {
  runtime = name;
}

/** The runtime that stages of this realm evaluate exact graphs with. */
export function stageRuntime(): RuntimeName {
  return runtime;
}
