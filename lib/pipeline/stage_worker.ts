/**
 * Entry of a stage worker. The runtime comes with the address, `?runtime=native`, for it may be no part of a request:
 * requests hold only what results depend on.
 */
import { serveStages } from "../stage/worker_entry.ts";
import { RUNTIME_NAMES } from "../policy/runtime.ts";
import { setStageRuntime } from "./execution.ts";
import { STAGES } from "./experiment.ts";

const asked = new URL(import.meta.url).searchParams.get("runtime");
setStageRuntime(RUNTIME_NAMES.find((name) => name === asked) ?? "reference");
serveStages(STAGES);
