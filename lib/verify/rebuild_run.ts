import { type Digest, digestOf } from "../core/digest.ts";
import { checkPlan } from "../stage/plan.ts";
import type { Run } from "../store/read_run.ts";
import { verifyError } from "./verify_code.ts";
import type { Rebuild, VerifySubject } from "./verify_subject.ts";

/**
 * Computes every output again, trainings included, each stage from inputs that were themselves computed here.
 *
 * @returns how many outputs were compared
 * @throws TracewrightError "rebuild_mismatch"
 */
export async function rebuildRun(
  run: Run,
  { plan }: VerifySubject,
  { rebuild, progress }: { readonly rebuild: Rebuild; readonly progress: (fraction: number) => void },
): Promise<number> {
  const { nodes } = checkPlan(plan);
  const made = new Map<Digest, Uint8Array>();
  let outputs = 0;
  for (const [i, node] of nodes.entries()) {
    const recorded = run.dag.nodes.find(({ id }) => id === node.id)!;
    const inputs = Object.fromEntries(
      Object.entries(recorded.inputs).map(([name, { digest }]) => [
        name,
        made.get(digest) ?? run.open(digest).bytes(),
      ]),
    );
    for (const [output, bytes] of Object.entries(await rebuild(node, inputs))) {
      const [expected, actual] = [digestOf(bytes), recorded.outputs[output]?.digest];
      if (expected !== actual) {
        throw verifyError("rebuild_mismatch", {
          verify_step: "training",
          node: node.id,
          output,
          expected,
          actual,
          hint: "the stage, run again, gives other bytes",
        });
      }
      made.set(expected, bytes);
      outputs++;
    }
    progress((i + 1) / nodes.length);
  }
  return outputs;
}
