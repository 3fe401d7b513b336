import { auditLabels, type LabelAudit, type ProgressRow, progressRows } from "../episode/continuation.ts";
import { exactPotential } from "../episode/potential.ts";
import { type ProgressGate, progressGate } from "../learn/calibration.ts";
import type { FeatureEncoder } from "../policy/encoder.ts";
import type { PolicySession } from "../policy/runtime.ts";

/** Labelled states of a split, with the audit of their labels. */
export interface LabelledSplit {
  readonly rows: readonly ProgressRow[];
  readonly audit: LabelAudit;
}

/** Labels the states of tasks by the fixed continuation policy, and checks the balance. */
export function labelSplit(
  tasks: Parameters<typeof progressRows>[0],
  { encoder, seed }: { readonly encoder: FeatureEncoder; readonly seed: number },
): LabelledSplit {
  const rows = [...progressRows(tasks, encoder, seed)];
  return { rows, audit: auditLabels(rows) };
}

/**
 * Measures an exact estimator on labelled states. Only non-terminal prefix rows count.
 *
 * @param session the estimator's exact graph
 */
export async function calibrate({ rows }: LabelledSplit, session: PolicySession): Promise<ProgressGate> {
  const scored = rows.filter((row) => !row.terminal);
  return progressGate({
    probabilities: Float64Array.from(await exactPotential(session)(scored.map((row) => row.state))),
    labels: scored.map((row) => row.label),
    terminal: scored.map(() => false),
  });
}
