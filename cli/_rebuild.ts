import { runStageForDigests } from "../lib/stage/run_stage.ts";
import type { Rebuild } from "../lib/verify/verify_subject.ts";

/** Runs a stage again without keeping what it gives; a verifier has no store. */
export const rebuild: Rebuild = (node, inputs) =>
  runStageForDigests(node.stage, { params: node.params, inputs });
