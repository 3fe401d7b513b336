import { exactPotential } from "../episode/potential.ts";
import type { LabelledSplit } from "../episode/progress_labels.ts";
import { type ProgressGate, progressGate } from "../learn/calibration.ts";
import type { PolicySession } from "../policy/runtime.ts";

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
