import type { Outputs } from "../store/action_record.ts";
import type { Store } from "../store/store.ts";
import { runOnStore, stagesByName } from "./_run_on_store.ts";
import type { Stage } from "./define_stage.ts";
import type { Executor, StageRequest } from "./executor.ts";
import type { Progress } from "./run_stage.ts";

/** Runs stages one at a time in the calling thread. */
export class InlineExecutor implements Executor {
  readonly capacity = 1;
  readonly #stages: ReadonlyMap<string, Stage>;
  readonly #store: Store;

  /** @throws TracewrightError "bad_stage" where two stages have one name */
  constructor({ stages, store }: { stages: readonly Stage[]; store: Store }) {
    this.#stages = stagesByName(stages);
    this.#store = store;
  }

  async run(request: StageRequest, onProgress: (progress: Progress) => void): Promise<Outputs> {
    return await runOnStore({ stages: this.#stages, store: this.#store.blobs, request, onProgress });
  }

  [Symbol.dispose](): void {}
}
