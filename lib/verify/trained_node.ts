import { z } from "zod";
import { ESTIMATOR_HIDDEN } from "../policy/exact_network.ts";
import { checkPlan, type ExperimentPlan, type PlanNode } from "../stage/plan.ts";
import type { EvaluationSubject, OutputName, VerifySubject } from "./verify_subject.ts";

/** A stage that leaves a checkpoint, and what the config says its content must be about. */
export interface TrainedNode {
  readonly node: string;
  readonly stage: string;
  readonly seed: number;
  readonly kind: "actor_critic" | "estimator";
  /** The encoder in front of it. An estimator reads the state part alone. */
  readonly encoder: EvaluationSubject["widths"];
  /** As the config asks; an estimator's is fixed by its format. */
  readonly hidden: number;
  readonly checkpoint: OutputName;
  readonly graph: OutputName;
  /** The training record; an estimator has a calibration record instead, which is computed again elsewhere. */
  readonly record?: OutputName;
  /** The checkpoint that training started from, where it was not a random one. */
  readonly initial?: OutputName;
}

const CHECKPOINT = "checkpoint.bin";
const ESTIMATOR = "estimator.onnx";
const RECORD = "training.json";

const seeded = z.looseObject({ seed: z.int() });
const sized = z.looseObject({ policy: z.looseObject({ hidden_width: z.int() }) });

function trainedNode({ id, stage, params, inputs }: PlanNode, encoder: TrainedNode["encoder"]): TrainedNode {
  const estimator = Object.hasOwn(stage.outputs, ESTIMATOR);
  const initial = Object.values(inputs).find((from) => "node" in from && from.output === CHECKPOINT);
  return {
    node: id,
    stage: stage.name,
    seed: seeded.parse(params).seed,
    kind: estimator ? "estimator" : "actor_critic",
    encoder,
    hidden: estimator ? ESTIMATOR_HIDDEN : sized.parse(params).policy.hidden_width,
    checkpoint: { node: id, output: CHECKPOINT },
    graph: { node: id, output: estimator ? ESTIMATOR : "policy.onnx" },
    ...(Object.hasOwn(stage.outputs, RECORD) ? { record: { node: id, output: RECORD } } : {}),
    ...(initial !== undefined && "node" in initial ? { initial } : {}),
  };
}

/** The nodes of a plan that leave a checkpoint, in order. All of them stand behind the encoder of the evaluations. */
export function trainedNodes({ plan, evaluations }: VerifySubject): TrainedNode[] {
  return checkPlan(plan).nodes
    .filter(({ stage }) => Object.hasOwn(stage.outputs, CHECKPOINT))
    .map((node) => trainedNode(node, evaluations[0]!.widths));
}

/** The seed that the plan gives a node. */
export function seedOf(plan: ExperimentPlan, node: string): number {
  return seeded.parse(plan.nodes.find(({ id }) => id === node)?.params).seed;
}
