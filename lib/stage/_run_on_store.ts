import type { Outputs } from "../store/action_record.ts";
import type { BlobStore } from "../store/blob_store.ts";
import type { Stage } from "./define_stage.ts";
import type { StageRequest } from "./executor.ts";
import { type Progress, runStage } from "./run_stage.ts";
import { stageError } from "./stage_error.ts";

/** Stages by name. @throws TracewrightError "bad_stage" where two have one name */
export function stagesByName(stages: readonly Stage[]): ReadonlyMap<string, Stage> {
  const byName = new Map<string, Stage>();
  for (const stage of stages) {
    if (byName.has(stage.name)) {
      throw stageError("bad_stage", { message: "two stages have one name", stage: stage.name });
    }
    byName.set(stage.name, stage);
  }
  return byName;
}

/** Runs one request with inputs from a store and outputs into it. */
export function runOnStore(
  { stages, store, request, onProgress }: {
    stages: ReadonlyMap<string, Stage>;
    store: BlobStore;
    request: StageRequest;
    onProgress: (progress: Progress) => void;
  },
): Promise<Outputs> {
  const stage = stages.get(request.stage);
  if (stage === undefined) {
    throw stageError("unknown_stage", {
      node: request.node,
      expected: [...stages.keys()],
      actual: request.stage,
    });
  }
  const { inputs } = request;
  return runStage(stage, {
    params: request.params,
    inputNames: Object.keys(inputs),
    openInput: (name) => store.open(inputs[name]!),
    openOutput: () => store.writer(),
    onProgress,
  });
}
