import { type Json, parseCanonical } from "../core/canonical_json.ts";
import { type Digest, digestOf } from "../core/digest.ts";
import { jsonDifference } from "../core/json_difference.ts";
import { encoderFor } from "../policy/encoder.ts";
import {
  ACTOR_CRITIC_LAYERS,
  actorCriticShapes,
  ESTIMATOR_LAYERS,
  estimatorShapes,
  type ExactNetwork,
  type LayerShape,
} from "../policy/exact_network.ts";
import { type FloatLayer, quantiseActorCritic, quantiseEstimator } from "../policy/float_to_exact.ts";
import type { Run } from "../store/read_run.ts";
import { asJson, bytesOf } from "./run_blobs.ts";
import type { TrainedNode } from "./trained_node.ts";
import { inPlace, verifyError } from "./verify_code.ts";

/** Where each part of a checkpoint lies. The format, stated again: this room shares no code with what wrote the file. */
const PARTS = {
  actor_critic: [
    "state_encoder.weight",
    "state_encoder.bias",
    "action_encoder.weight",
    "action_encoder.bias",
    "actor_hidden.weight",
    "actor_hidden.bias",
    "actor_logit.weight",
    "value_hidden.weight",
    "value_hidden.bias",
    "value_output.weight",
    "actor_logit.bias",
    "value_output.bias",
  ],
  estimator: [
    "hidden_1.weight",
    "hidden_1.bias",
    "hidden_2.weight",
    "hidden_2.bias",
    "logit.weight",
    "logit.bias",
  ],
} as const;
const NEWLINE = 0x0a;
/** Far above any header. */
const MAX_HEADER = 16_384;

/** The float32 parameters of a checkpoint in a run, known to be of the network that the config asks for. */
export interface RecordedCheckpoint {
  readonly parameters: Float32Array;
  /** Digest of the parameters as little-endian float32. */
  readonly digest: Digest;
}

interface Part {
  readonly name: string;
  readonly rows: number;
  readonly cols: number;
  readonly offset: number;
}

function layoutOf({ kind, encoder, hidden }: TrainedNode): Part[] {
  const shapes: Readonly<Record<string, LayerShape>> = kind === "actor_critic"
    ? actorCriticShapes({ ...encoder, hidden })
    : estimatorShapes(encoder.stateWidth);
  let offset = 0;
  return PARTS[kind].map((name) => {
    const [layer, what] = name.split(".");
    const [inputs, cols] = shapes[layer!]!;
    const part = { name, rows: what === "bias" ? 1 : inputs, cols, offset };
    offset += part.rows * part.cols;
    return part;
  });
}

function headerOf({ kind, encoder, hidden }: TrainedNode, layout: readonly Part[]): Json {
  return asJson({
    schema: "tracewright.checkpoint.v1",
    kind,
    numerics: "f32-wasm-v1",
    state_width: encoder.stateWidth,
    action_width: kind === "estimator" ? 0 : encoder.actionWidth,
    hidden,
    encoder_fingerprint: encoderFor(encoder).fingerprint,
    layout,
  });
}

/**
 * Reads the checkpoint of a node: a header that the config determines, then as many float32 as it says.
 *
 * @throws TracewrightError "training_mismatch", "not_canonical", "blob_too_large"
 */
export function readRecordedCheckpoint(run: Run, trained: TrainedNode): RecordedCheckpoint {
  const place = { verify_step: "policy", ...trained.checkpoint } as const;
  const refuse = (field: string, expected: unknown, actual: unknown): never => {
    throw verifyError("training_mismatch", {
      ...place,
      field,
      expected,
      actual,
      hint: "the checkpoint is not of the network that the config asks for",
    });
  };
  const bytes = bytesOf(run, trained.checkpoint);
  const end = bytes.subarray(0, MAX_HEADER).indexOf(NEWLINE);
  if (end < 0) refuse("header", `a line of at most ${MAX_HEADER} bytes`, "no line feed");
  const layout = layoutOf(trained);
  const header = inPlace(place, () => parseCanonical(bytes.subarray(0, end)));
  const difference = jsonDifference(headerOf(trained, layout), header);
  if (difference !== null) refuse(difference.path, difference.expected, difference.actual);
  const body = bytes.subarray(end + 1);
  const count = layout.reduce((sum, { rows, cols }) => sum + rows * cols, 0);
  if (body.length !== count * 4) refuse("parameters", `${count * 4} bytes`, `${body.length} bytes`);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const parameters = Float32Array.from({ length: count }, (_, i) => view.getFloat32(i * 4, true));
  return { parameters, digest: digestOf(body) };
}

/**
 * The exact network that a checkpoint stands for: every parameter rounded onto its grid.
 *
 * @throws TracewrightError "weight_out_of_range" or "bias_out_of_range", NaN included
 */
export function networkOfCheckpoint(trained: TrainedNode, { parameters }: RecordedCheckpoint): ExactNetwork {
  const parts = new Map(layoutOf(trained).map((part) => [part.name, part]));
  const part = (name: string) => {
    const { offset, rows, cols } = parts.get(name)!;
    return parameters.subarray(offset, offset + rows * cols);
  };
  const layersOf = <Name extends string>(names: readonly Name[]) =>
    Object.fromEntries(
      names.map((name) => [name, { weights: part(`${name}.weight`), bias: part(`${name}.bias`) }]),
    ) as Record<Name, FloatLayer>;
  const { kind, encoder, hidden } = trained;
  return kind === "actor_critic"
    ? quantiseActorCritic({ ...encoder, hidden, layers: layersOf(ACTOR_CRITIC_LAYERS) })
    : quantiseEstimator({ stateWidth: encoder.stateWidth, layers: layersOf(ESTIMATOR_LAYERS) });
}
