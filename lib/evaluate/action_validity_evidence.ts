import { actionValidityRows } from "../benchmark/action_validity.ts";
import { type ActionValidityManifest, ActionValidityTally } from "../benchmark/action_validity_manifest.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import type { BootstrapSettings } from "./case_cluster_bootstrap.ts";
import { MaskEvaluation, type MaskMetrics } from "./mask_metrics.ts";

/** What becomes of a test split: how its labelled calls are described, and how well the mask judges them. */
export interface ActionValidityEvidence {
  readonly manifest: ActionValidityManifest;
  readonly metrics: MaskMetrics;
}

/**
 * Generates the labelled calls of a test split and measures the action mask on them in one pass, so that neither tasks nor
 * rows are ever all in memory. A stage writes the bytes; a verifier only needs the digest in the manifest.
 *
 * @param tasks ascending by case id
 * @param seed the benchmark seed
 * @param onLine receives each line's bytes, newline included
 * @throws whatever `actionValidityRows` and `MaskEvaluation` throw
 */
export function actionValidityEvidence(
  tasks: Iterable<WorkflowTask>,
  { seed, bootstrap, onLine }: {
    readonly seed: number;
    readonly bootstrap: BootstrapSettings;
    readonly onLine?: (bytes: Uint8Array) => void;
  },
): ActionValidityEvidence {
  const tally = new ActionValidityTally();
  const evaluation = new MaskEvaluation();
  let owner: WorkflowTask | undefined;
  let count = 0;
  function* counted(): Generator<WorkflowTask> {
    for (owner of tasks) {
      count++;
      yield owner;
    }
  }
  for (const row of actionValidityRows(counted(), { seed })) {
    evaluation.add(row, owner);
    const bytes = tally.add(row);
    onLine?.(bytes);
  }
  return { manifest: tally.finish({ seed }), metrics: evaluation.finish({ tasks: count, bootstrap }) };
}
