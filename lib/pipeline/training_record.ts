import { hexOf } from "../core/digest.ts";
import type { ActorCritic } from "../learn/actor_critic.ts";
import type { DecisionBatch } from "../learn/decision_batch.ts";
import { actorCriticAgreement } from "../learn/export_policy.ts";
import { l2Delta, parameterDigest } from "../learn/parameter_block.ts";
import type { AdmittedGraph } from "../policy/admission.ts";
import type { TrainingRecord } from "../report/run_records.ts";

/** Decisions on which a float network and its exact graph are compared, at most. */
export const AGREEMENT_DECISIONS = 256;

type Numbers = Readonly<Record<string, number | boolean | null>>;

/** What a training stage leaves beside its checkpoint: how far it went, and how well the published graph stands for it. */
export async function trainingRecord(
  { network, graph, before, sample, ...facts }: {
    readonly stage: "bc" | "ppo";
    readonly seed: number;
    readonly network: ActorCritic;
    readonly graph: AdmittedGraph;
    /** Parameters before training. */
    readonly before: Float32Array;
    /** Decisions to compare on. */
    readonly sample: DecisionBatch;
    readonly updates: number;
    readonly rollout_steps: number;
    readonly metrics: Numbers;
    readonly curve: readonly Numbers[];
  },
): Promise<TrainingRecord> {
  const after = network.parameters.get();
  return {
    schema: "tracewright.training.v1",
    stage: facts.stage,
    seed: facts.seed,
    updates: facts.updates,
    rollout_steps: facts.rollout_steps,
    parameter_before_sha256: hexOf(parameterDigest(before)),
    parameter_after_sha256: hexOf(parameterDigest(after)),
    parameter_l2_delta: l2Delta({ from: before, to: after }),
    metrics: { ...facts.metrics },
    curve: facts.curve.map((row) => ({ ...row })),
    policy: graph.digest,
    agreement: await actorCriticAgreement({ network, graph, batch: sample }),
  };
}
