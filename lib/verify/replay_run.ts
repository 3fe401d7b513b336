import { type Digest, DigestWriter } from "../core/digest.ts";
import { greedyActor } from "../episode/actor.ts";
import { exactPotential } from "../episode/potential.ts";
import { admit, type AdmittedGraph } from "../policy/admission.ts";
import { encoderFor } from "../policy/encoder.ts";
import { ONNX_LIMITS } from "../policy/onnx_reader.ts";
import { openSession } from "../policy/open_runtime.ts";
import type { RuntimeName } from "../policy/runtime.ts";
import type { Run } from "../store/read_run.ts";
import type { WorkflowTask } from "../world/contracts.ts";
import { replayEnvironment } from "./replay_environment.ts";
import { replayPolicy } from "./replay_policy.ts";
import { bytesOf, digestOfOutput, linesOf } from "./run_blobs.ts";
import { inPlace, verifyError } from "./verify_code.ts";
import type { EvaluationSubject, OutputName, VerifySubject } from "./verify_subject.ts";

const encoder = new TextEncoder();

/** What a replay works with. */
export interface ReplayOptions {
  /** The test split, as it was generated again. */
  readonly tasks: readonly WorkflowTask[];
  readonly runtime: RuntimeName;
  readonly progress: (fraction: number) => void;
}

/**
 * Steps the environment along every trace of one evaluation.
 *
 * @returns how many steps were replayed
 */
export function environmentOf(
  run: Run,
  evaluation: EvaluationSubject,
  { tasks, progress }: ReplayOptions,
): number {
  const { node, traces } = evaluation;
  const whole = new DigestWriter();
  let steps = 0;
  let cases = 0;
  for (const line of placedLines(run, traces)) {
    const task = tasks[cases++];
    if (task === undefined) tooMany(node, tasks.length);
    steps += replayEnvironment(line, task, evaluation).step_count;
    whole.write(encoder.encode(line + "\n"));
    progress(cases / tasks.length);
  }
  if (cases < tasks.length) {
    throw verifyError("trace_case_mismatch", {
      verify_step: "environment",
      node,
      case: tasks[cases]!.case_id,
      message: "a case of the test split has no trace",
      expected: `${tasks.length} traces`,
      actual: `${cases} traces`,
    });
  }
  wholeLines(run, traces, whole.finish());
  return steps;
}

/** The lines of traces; what is wrong with a line as text is said with the node it belongs to. */
function* placedLines(run: Run, traces: OutputName): Generator<string> {
  const lines = linesOf(run, traces)[Symbol.iterator]();
  for (;;) {
    const next = inPlace({ verify_step: "environment", ...traces }, () => lines.next());
    if (next.done) return;
    yield next.value;
  }
}

/** Lines are read without their line feeds, so a last one that has none would be a second spelling of the same traces. */
function wholeLines(run: Run, traces: OutputName, expected: Digest): void {
  const actual = digestOfOutput(run, traces);
  if (actual === expected) return;
  throw verifyError("trace_not_canonical", {
    verify_step: "environment",
    message: "every line ends with a line feed, the last one too",
    ...traces,
    expected,
    actual,
  });
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
  const bytes = bytesOf(run, name, ONNX_LIMITS.bytes);
  const graph = inPlace({ verify_step: "policy", ...name }, () => admit(bytes));
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
 * Admits every graph before the first one is opened: a runtime sees nothing of a run that holds a bad one.
 *
 * @throws TracewrightError "policy_kind_mismatch", and the codes of admission
 */
export function admitAll(run: Run, { evaluations }: VerifySubject): void {
  for (const evaluation of evaluations) graphsOf(run, evaluation);
}

/**
 * Makes every decision of one evaluation again and compares the traces byte for byte.
 *
 * @returns how many decisions were made
 */
export async function policyOf(
  run: Run,
  evaluation: EvaluationSubject,
  { tasks, runtime, progress }: ReplayOptions,
): Promise<number> {
  const { node, widths, reward, selection, credit } = evaluation;
  const { policy, potential } = graphsOf(run, evaluation);
  using session = await openSession({ graph: policy, runtime });
  using estimator = potential === undefined ? undefined : await openSession({ graph: potential, runtime });
  return await replayPolicy(linesOf(run, evaluation.traces), tasks, {
    node,
    actor: greedyActor(session),
    credit,
    settings: {
      encoder: encoderFor(widths),
      reward,
      selection,
      ...(estimator === undefined ? {} : { potential: exactPotential(estimator) }),
    },
    progress,
  });
}

function graphsOf(
  run: Run,
  { policy, estimator, widths }: EvaluationSubject,
): { readonly policy: AdmittedGraph; readonly potential?: AdmittedGraph } {
  const admitted = admitOutput(run, policy, { kind: "actor_critic", ...widths });
  if (estimator === undefined) return { policy: admitted };
  const { stateWidth } = widths;
  return {
    policy: admitted,
    potential: admitOutput(run, estimator, { kind: "estimator", stateWidth, actionWidth: 0 }),
  };
}
