import { canonicalBytes, type Json } from "../core/canonical_json.ts";
import { digestOf, hexOf } from "../core/digest.ts";
import { jsonDifference } from "../core/json_difference.ts";
import { writeExactNetwork } from "../policy/exact_graph.ts";
import { type ExactNetwork, layersOf } from "../policy/exact_network.ts";
import { parseTrainingRecord } from "../report/run_records.ts";
import type { Run } from "../store/read_run.ts";
import {
  networkOfCheckpoint,
  readRecordedCheckpoint,
  type RecordedCheckpoint,
} from "./recorded_checkpoint.ts";
import { admitOutput } from "./replay_run.ts";
import { asJson, digestOfOutput, recordOf } from "./run_blobs.ts";
import { type TrainedNode, trainedNodes } from "./trained_node.ts";
import { inPlace, verifyError } from "./verify_code.ts";
import type { OutputName, VerifySubject } from "./verify_subject.ts";

/**
 * Checks what a training left against itself and against the config, without training again: the checkpoint is of the
 * network that the config asks for, the exact graph is its export weight by weight, and the record names both, what came
 * before, and the distance between. Whether training led there, only the rebuild level can say.
 *
 * @returns how many checkpoints were looked at
 * @throws TracewrightError "training_mismatch", "policy_kind_mismatch", "bad_record", "not_canonical", the codes of
 * admission, and "weight_out_of_range" or "bias_out_of_range"
 */
export function checkTrainings(run: Run, subject: VerifySubject): number {
  const read = new Map<string, RecordedCheckpoint>();
  for (const trained of trainedNodes(subject)) {
    const checkpoint = readRecordedCheckpoint(run, trained);
    read.set(trained.node, checkpoint);
    checkExport(run, trained, checkpoint);
    if (trained.record === undefined) continue;
    const before = trained.initial === undefined ? undefined : read.get(trained.initial.node);
    checkRecord(run, trained.record, trained, { checkpoint, before });
  }
  return read.size;
}

function refuse(
  place: OutputName,
  hint: string,
  difference: { readonly path: string; readonly expected: unknown; readonly actual: unknown },
): never {
  const { path, expected, actual } = difference;
  throw verifyError("training_mismatch", {
    verify_step: "policy",
    ...place,
    field: path,
    expected,
    actual,
    hint,
  });
}

function checkExport(run: Run, trained: TrainedNode, checkpoint: RecordedCheckpoint): void {
  const place = { verify_step: "policy", ...trained.checkpoint } as const;
  const network = inPlace(place, () => networkOfCheckpoint(trained, checkpoint));
  const expected = digestOf(writeExactNetwork(network));
  if (expected === digestOfOutput(run, trained.graph)) return;
  const graph = admitOutput(run, trained.graph, {
    kind: trained.kind,
    stateWidth: trained.encoder.stateWidth,
    actionWidth: trained.kind === "estimator" ? 0 : trained.encoder.actionWidth,
  });
  refuse(
    trained.graph,
    "the graph is not the export of the checkpoint beside it",
    firstParameter(network, graph.network) ?? { path: "", expected, actual: graph.digest },
  );
}

/** The first parameter in which two networks differ, as integers on their grids. */
function firstParameter(expected: ExactNetwork, actual: ExactNetwork) {
  if (expected.hidden !== actual.hidden) {
    return { path: "hidden", expected: expected.hidden, actual: actual.hidden };
  }
  const others = layersOf(actual);
  for (const [l, layer] of layersOf(expected).entries()) {
    for (const part of ["weights", "bias"] as const) {
      const other = others[l]![part];
      const at = layer[part].findIndex((value, i) => value !== other[i]);
      if (at < 0) continue;
      return { path: `${layer.name}.${part}.${at}`, expected: layer[part][at], actual: other[at] };
    }
  }
  return undefined;
}

function checkRecord(
  run: Run,
  name: OutputName,
  { stage, seed, graph }: TrainedNode,
  { checkpoint, before }: {
    readonly checkpoint: RecordedCheckpoint;
    readonly before: RecordedCheckpoint | undefined;
  },
): void {
  const stored = recordOf(run, name);
  const place = { verify_step: "policy", ...name } as const;
  const form = inPlace(place, () => parseTrainingRecord(canonicalBytes(stored)));
  const expected: Json = asJson({
    ...form,
    stage,
    seed,
    policy: digestOfOutput(run, graph),
    parameter_after_sha256: hexOf(checkpoint.digest),
    ...(before === undefined ? {} : {
      parameter_before_sha256: hexOf(before.digest),
      parameter_l2_delta: distance(before.parameters, checkpoint.parameters),
    }),
  });
  const difference = jsonDifference(expected, stored);
  if (difference !== null) refuse(name, "the record is not about the checkpoint beside it", difference);
}

/** Euclidean distance in double precision, summed from the first entry on. */
function distance(from: Float32Array, to: Float32Array): number {
  let sum = 0;
  for (const [i, value] of to.entries()) sum += (value - from[i]!) * (value - from[i]!);
  return Math.sqrt(sum);
}
