import { Store } from "../store/store.ts";
import { runOnStore, stagesByName } from "./_run_on_store.ts";
import { type FromWorker, toWire, type ToWorker } from "./wire_error.ts";
import type { Stage } from "./define_stage.ts";

interface WorkerScope {
  onmessage: ((event: { readonly data: ToWorker }) => void) | null;
  postMessage(message: FromWorker): void;
}

/** The smallest step of progress that is worth a message to another thread. */
const STEP = 1 / 256;

/**
 * Makes the calling module the entry of a stage worker: it takes requests of a {@link WorkerPoolExecutor} and runs
 * them with these stages. Blobs go straight between the worker and the store.
 *
 * @throws TracewrightError "bad_stage" where two stages have one name
 */
export function serveStages(stages: readonly Stage[]): void {
  const byName = stagesByName(stages);
  const scope = globalThis as unknown as WorkerScope;
  scope.onmessage = async ({ data: { store: path, request } }) => {
    let last = -1;
    try {
      using store = Store.open(path);
      const outputs = await runOnStore({
        stages: byName,
        store: store.blobs,
        request,
        onProgress: (progress) => {
          if (progress.fraction - last < STEP && progress.fraction < 1) return;
          last = progress.fraction;
          scope.postMessage({ type: "progress", ...progress });
        },
      });
      scope.postMessage({ type: "done", outputs });
    } catch (error) {
      scope.postMessage({ type: "failed", error: toWire(error) });
    }
  };
}
