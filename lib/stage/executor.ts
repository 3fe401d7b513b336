import type { Digest } from "../core/digest.ts";
import type { Outputs, Params } from "../store/action_record.ts";
import type { Progress } from "./run_stage.ts";

/** One execution of one stage. Everything in it can cross to another thread. */
export interface StageRequest {
  /** Id of the node, for messages. */
  readonly node: string;
  readonly stage: string;
  readonly params: Params;
  readonly inputs: { readonly [name: string]: Digest };
}

/** Something that can run stages. Outputs are written to the store; the caller publishes the action. */
export interface Executor extends Disposable {
  /** How many requests may be under way at once. */
  readonly capacity: number;
  run(request: StageRequest, onProgress: (progress: Progress) => void): Promise<Outputs>;
}
