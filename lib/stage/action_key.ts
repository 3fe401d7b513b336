import type { Digest } from "../core/digest.ts";
import { ACTION_SCHEMA, type ActionRecord, type Params } from "../store/action_record.ts";
import type { Stage } from "./define_stage.ts";

/**
 * The action of running a stage: everything that may decide its outputs. Its key is `keyOf` of the store.
 *
 * @param given the stage, the digest of its code, the ids of the exact arithmetic, parameters as `parseParams` gave
 * them, and the content of each input
 */
export function buildAction(given: {
  readonly stage: Stage;
  readonly code: Digest;
  readonly numerics: readonly string[];
  readonly params: Params;
  readonly inputs: { readonly [name: string]: Digest };
}): ActionRecord {
  const { stage, code, numerics, params, inputs } = given;
  return {
    schema: ACTION_SCHEMA,
    stage: { name: stage.name, version: stage.version, code },
    numerics: [...new Set(numerics)].sort(),
    params,
    inputs,
  };
}
