import { runStageInMemory } from "../lib/stage/run_stage.ts";
import type { Rebuild } from "../lib/verify/verify_subject.ts";

/** Runs a stage again in memory; a verifier has no store. */
export const rebuild: Rebuild = (node, inputs) =>
  runStageInMemory(node.stage, { params: node.params, inputs });
