import { type Digest, digestOf } from "../core/digest.ts";
import { checkPlan, type PlanNode } from "../stage/plan.ts";
import type { Run } from "../store/read_run.ts";
import { type VerifyCode, verifyError, type VerifyStep } from "./verify_code.ts";
import type { Rebuild, VerifySubject } from "./verify_subject.ts";

/** What a difference is called and where it was found. */
interface Verdict {
  readonly code: VerifyCode;
  readonly step: VerifyStep;
}

/** Runs a node again and compares the digest of every output. */
async function runAgain(
  run: Run,
  node: PlanNode,
  { rebuild, read, code, step }: Verdict & {
    readonly rebuild: Rebuild;
    readonly read: (digest: Digest) => Uint8Array;
  },
): Promise<ReadonlyMap<Digest, Uint8Array>> {
  const recorded = run.dag.nodes.find(({ id }) => id === node.id)!;
  const inputs = Object.fromEntries(
    Object.entries(recorded.inputs).map(([name, { digest }]) => [name, read(digest)]),
  );
  const made = new Map<Digest, Uint8Array>();
  for (const [output, bytes] of Object.entries(await rebuild(node, inputs))) {
    const [expected, actual] = [digestOf(bytes), recorded.outputs[output]?.digest];
    if (expected !== actual) {
      throw verifyError(code, {
        verify_step: step,
        node: node.id,
        output,
        expected,
        actual,
        hint: "the stage, run again, gives other bytes",
      });
    }
    made.set(expected, bytes);
  }
  return made;
}

/**
 * Computes one node again that follows from benchmark, traces and metrics, all of which earlier checks make sure of.
 *
 * @throws TracewrightError "derived_mismatch"
 */
export async function checkDerived(
  run: Run,
  { plan, derived }: VerifySubject,
  { index, rebuild }: { readonly index: number; readonly rebuild: Rebuild },
): Promise<void> {
  const node = checkPlan(plan).nodes.find(({ id }) => id === derived[index])!;
  const read = (digest: Digest) => run.open(digest).bytes();
  await runAgain(run, node, { code: "derived_mismatch", step: "metrics", rebuild, read });
}

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
    const again = await runAgain(run, node, {
      code: "rebuild_mismatch",
      step: "training",
      rebuild,
      read: (digest) => made.get(digest) ?? run.open(digest).bytes(),
    });
    for (const [digest, bytes] of again) made.set(digest, bytes);
    outputs += again.size;
    progress((i + 1) / nodes.length);
  }
  return outputs;
}
