/**
 * Entry of a stage worker. The runtime comes with the address, `?runtime=native&judge=sql`, and so does the second
 * judge of metrics, for they may be no part of a request: requests hold only what results depend on.
 */
import { serveStages } from "../stage/worker_entry.ts";
import { RUNTIME_NAMES } from "../policy/runtime.ts";
import { sqlMetricsJudge } from "../evaluate/sql_judge.ts";
import { setStageMetricsJudge, setStageRuntime } from "./execution.ts";
import { STAGES } from "./experiment.ts";

const asked = new URL(import.meta.url).searchParams;
setStageRuntime(RUNTIME_NAMES.find((name) => name === asked.get("runtime")) ?? "reference");
if (asked.get("judge") === "sql") setStageMetricsJudge(sqlMetricsJudge);
serveStages(STAGES);
