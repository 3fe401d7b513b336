import type { InputBlob } from "../stage/define_stage.ts";
import { checkPlan, type PlanNode } from "../stage/plan.ts";
import type { Run } from "../store/read_run.ts";
import { type VerifyCode, verifyError, type VerifyStep } from "./verify_code.ts";
import type { Rebuild, VerifySubject } from "./verify_subject.ts";

/** What a difference is called and where it was found. */
interface Verdict {
  readonly code: VerifyCode;
  readonly step: VerifyStep;
}

/**
 * Runs a node again and compares the digest of every output. An input is opened when the stage asks for it and read piece by
 * piece, every piece hashed on the way, so that no more of them is in memory than the stage holds.
 *
 * @returns how many outputs were compared
 */
async function runAgain(
  run: Run,
  node: PlanNode,
  { rebuild, code, step }: Verdict & { readonly rebuild: Rebuild },
): Promise<number> {
  const recorded = run.dag.nodes.find(({ id }) => id === node.id)!;
  const inputs: { readonly [name: string]: InputBlob } = Object.defineProperties(
    {},
    Object.fromEntries(
      Object.entries(recorded.inputs).map((
        [name, { digest }],
      ) => [name, { enumerable: true, get: () => run.open(digest) }]),
    ),
  );
  const made = Object.entries(await rebuild(node, inputs));
  for (const [output, { digest }] of made) {
    const expected = recorded.outputs[output]?.digest;
    if (expected === digest) continue;
    throw verifyError(code, {
      verify_step: step,
      node: node.id,
      output,
      expected: digest,
      actual: expected,
      hint: "the stage, run again, gives other bytes",
    });
  }
  return made.length;
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
  await runAgain(run, node, { code: "derived_mismatch", step: "metrics", rebuild });
}

/**
 * Computes every output again, trainings included. Nodes come in the order of the plan, and a node is reached only when all
 * before it gave the recorded digests: what it reads from the run is then what was computed here.
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
  let outputs = 0;
  for (const [i, node] of nodes.entries()) {
    outputs += await runAgain(run, node, { code: "rebuild_mismatch", step: "training", rebuild });
    progress((i + 1) / nodes.length);
  }
  return outputs;
}
