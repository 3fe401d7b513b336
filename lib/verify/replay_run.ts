import { greedyActor } from "../episode/actor.ts";
import { exactPotential } from "../episode/potential.ts";
import { admit, type AdmittedGraph } from "../policy/admission.ts";
import { FeatureEncoder } from "../policy/encoder.ts";
import { openSession } from "../policy/open_runtime.ts";
import type { RuntimeName } from "../policy/runtime.ts";
import type { Run } from "../store/read_run.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { replayEnvironment } from "./replay_environment.ts";
import { replayPolicy } from "./replay_policy.ts";
import { bytesOf, linesOf } from "./run_blobs.ts";
import { verifyError } from "./verify_code.ts";
import type { OutputName, VerifySubject } from "./verify_subject.ts";

/**
 * Replays the environment of every trace.
 *
 * @returns how many steps were replayed
 */
export function replayAllEnvironments(
  run: Run,
  { evaluations }: VerifySubject,
  { tasks, progress }: {
    readonly tasks: readonly WorkflowTask[];
    readonly progress: (fraction: number) => void;
  },
): number {
  let steps = 0;
  evaluations.forEach((evaluation, e) => {
    let cases = 0;
    for (const line of linesOf(run, evaluation.traces)) {
      const task = tasks[cases++];
      if (task === undefined) tooMany(evaluation.node, tasks.length);
      steps += replayEnvironment(line, task, evaluation).step_count;
      progress((e + cases / tasks.length) / evaluations.length);
    }
    if (cases < tasks.length) {
      throw verifyError("trace_case_mismatch", {
        verify_step: "environment",
        node: evaluation.node,
        message: "a case of the test split has no trace",
        expected: tasks[cases]!.case_id,
        actual: `${cases} of ${tasks.length} traces`,
      });
    }
  });
  return steps;
}

function tooMany(node: string, expected: number): never {
  throw verifyError("trace_case_mismatch", {
    verify_step: "environment",
    node,
    expected: `${expected} traces`,
    actual: "more traces than cases",
  });
}

/**
 * Admits a graph of the run and checks that it is of the kind and widths the config asks for.
 *
 * @throws TracewrightError "policy_kind_mismatch", and the codes of admission
 */
export function admitOutput(
  run: Run,
  name: OutputName,
  expected: {
    readonly kind: AdmittedGraph["kind"];
    readonly stateWidth: number;
    readonly actionWidth: number;
  },
): AdmittedGraph {
  const graph = admit(bytesOf(run, name));
  for (const field of ["kind", "stateWidth", "actionWidth"] as const) {
    if (graph[field] === expected[field]) continue;
    throw verifyError("policy_kind_mismatch", {
      verify_step: "policy",
      ...name,
      field,
      expected: expected[field],
      actual: graph[field],
    });
  }
  return graph;
}

/**
 * Makes every decision of every evaluation again and compares the traces byte for byte.
 *
 * @returns how many decisions were made
 */
export async function replayAllPolicies(
  run: Run,
  { evaluations }: VerifySubject,
  { tasks, runtime, progress }: {
    readonly tasks: readonly WorkflowTask[];
    readonly runtime: RuntimeName;
    readonly progress: (fraction: number) => void;
  },
): Promise<number> {
  let decisions = 0;
  for (const [e, evaluation] of evaluations.entries()) {
    const { node, widths, reward, selection, credit } = evaluation;
    const graph = admitOutput(run, evaluation.policy, { kind: "actor_critic", ...widths });
    using session = await openSession({ graph, runtime });
    using estimator = evaluation.estimator === undefined ? undefined : await openSession({
      graph: admitOutput(run, evaluation.estimator, {
        kind: "estimator",
        stateWidth: widths.stateWidth,
        actionWidth: 0,
      }),
      runtime,
    });
    decisions += await replayPolicy(linesOf(run, evaluation.traces), tasks, {
      node,
      actor: greedyActor(session),
      credit,
      settings: {
        encoder: new FeatureEncoder(widths),
        reward,
        selection,
        ...(estimator === undefined ? {} : { potential: exactPotential(estimator) }),
      },
      progress: (fraction) => progress((e + fraction) / evaluations.length),
    });
  }
  return decisions;
}
