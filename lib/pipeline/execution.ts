import type { MetricsJudge } from "../evaluate/metrics_judge.ts";
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

/** Who looks at metrics a second time before they are stored; nobody where the host does not offer it. */
let metricsJudge: MetricsJudge | undefined;

/** Sets the second judge of metrics in this realm. It only compares, so the bytes are the same with it and without. */
export function setStageMetricsJudge(judge: MetricsJudge | undefined): void {
  metricsJudge = judge;
}

/** The second judge of metrics in this realm. */
export function stageMetricsJudge(): MetricsJudge | undefined {
  return metricsJudge;
}
