import { z } from "zod";
import { canonicalBytes, canonicalJson, parseCanonical } from "../core/canonical_json.ts";
import { ESTIMATOR_HIDDEN } from "../policy/exact_network.ts";
import { learnError } from "./_error.ts";
import { actorCriticLayout } from "./actor_critic.ts";
import { estimatorLayout } from "./estimator.ts";
import { parameterBytes, parameterCount, type ParameterLayout } from "./parameter_block.ts";

/** Identifies the arithmetic that trained the parameters. */
export const TRAINING_NUMERICS = "f32-wasm-v1";

const SCHEMA = "tracewright.checkpoint.v1";
const NEWLINE = 0x0a;
/** Far above any header that the writer makes. */
const MAX_HEADER = 16_384;

/** A network's float32 parameters and what is needed to use them. */
export interface Checkpoint {
  readonly kind: "actor_critic" | "estimator";
  readonly stateWidth: number;
  /** 0 for an estimator. */
  readonly actionWidth: number;
  readonly hidden: number;
  /** Fingerprint of the feature encoder that the network was trained behind. */
  readonly encoderFingerprint: string;
  /** In layout order, finite. */
  readonly parameters: Float32Array;
}

const width = z.int().min(1).max(4096);
const headerSchema = z.strictObject({
  schema: z.literal(SCHEMA),
  kind: z.enum(["actor_critic", "estimator"]),
  numerics: z.literal(TRAINING_NUMERICS),
  state_width: width,
  action_width: z.int().min(0).max(4096),
  hidden: width,
  encoder_fingerprint: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  layout: z.array(z.strictObject({ name: z.string(), rows: width, cols: width, offset: z.int().min(0) })),
});

function layoutOf(
  { kind, stateWidth, actionWidth, hidden }: Omit<Checkpoint, "parameters">,
): ParameterLayout {
  return kind === "actor_critic"
    ? actorCriticLayout({ stateWidth, actionWidth, hidden })
    : estimatorLayout(stateWidth);
}

function headerOf(checkpoint: Omit<Checkpoint, "parameters">): z.infer<typeof headerSchema> {
  return {
    schema: SCHEMA,
    kind: checkpoint.kind,
    numerics: TRAINING_NUMERICS,
    state_width: checkpoint.stateWidth,
    action_width: checkpoint.actionWidth,
    hidden: checkpoint.hidden,
    encoder_fingerprint: checkpoint.encoderFingerprint,
    layout: layoutOf(checkpoint).map((entry) => ({ ...entry })),
  };
}

function bad(message: string, details: Record<string, unknown> = {}): never {
  throw learnError("bad_checkpoint", { message, ...details });
}

function checkParameters(checkpoint: Checkpoint): void {
  const { kind, hidden, actionWidth, parameters } = checkpoint;
  const estimator = kind === "estimator";
  if (estimator ? hidden !== ESTIMATOR_HIDDEN || actionWidth !== 0 : actionWidth === 0) {
    bad("the widths do not fit the kind of network", { actual: { kind, hidden, action_width: actionWidth } });
  }
  const size = parameterCount(layoutOf(checkpoint));
  if (parameters.length !== size) {
    bad("another number of parameters", { expected: size, actual: parameters.length });
  }
  const at = parameters.findIndex((value) => !Number.isFinite(value));
  if (at >= 0) bad("a parameter is not finite", { parameter: at, actual: parameters[at] });
}

/**
 * A checkpoint as bytes: a header of canonical JSON on one line, then the parameters as little-endian float32. Equal
 * parameters give equal bytes on every machine. Protocol: policy-and-training.md section 13.
 *
 * @throws TracewrightError "bad_checkpoint"
 */
export function writeCheckpoint(checkpoint: Checkpoint): Uint8Array<ArrayBuffer> {
  checkParameters(checkpoint);
  const header = canonicalBytes(headerSchema.parse(headerOf(checkpoint)));
  const body = parameterBytes(checkpoint.parameters);
  const bytes = new Uint8Array(header.length + 1 + body.length);
  bytes.set(header);
  bytes[header.length] = NEWLINE;
  bytes.set(body, header.length + 1);
  return bytes;
}

/**
 * Reads a checkpoint strictly: only the bytes that {@link writeCheckpoint} would write are accepted.
 *
 * @param expected what the checkpoint must agree with; what is left out is not compared
 * @throws TracewrightError "bad_checkpoint" for bytes that are no checkpoint, "checkpoint_mismatch" for one of something
 * else
 */
export function readCheckpoint(
  bytes: Uint8Array,
  expected: Partial<Omit<Checkpoint, "parameters">> = {},
): Checkpoint {
  const end = bytes.subarray(0, MAX_HEADER).indexOf(NEWLINE);
  if (end < 0) bad("no header line", { expected: `a newline in the first ${MAX_HEADER} bytes` });
  const header = parseHeader(bytes.subarray(0, end));
  const body = bytes.subarray(end + 1);
  if (body.length % 4 !== 0) bad("a float32 is cut off", { actual: `${body.length} bytes of parameters` });
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const parameters = Float32Array.from({ length: body.length / 4 }, (_, i) => view.getFloat32(i * 4, true));
  const checkpoint: Checkpoint = {
    kind: header.kind,
    stateWidth: header.state_width,
    actionWidth: header.action_width,
    hidden: header.hidden,
    encoderFingerprint: header.encoder_fingerprint,
    parameters,
  };
  checkParameters(checkpoint);
  if (canonicalJson(header) !== canonicalJson(headerOf(checkpoint))) {
    bad("the layout is not that of the network", { expected: layoutOf(checkpoint), actual: header.layout });
  }
  for (const field of ["kind", "stateWidth", "actionWidth", "hidden", "encoderFingerprint"] as const) {
    if (expected[field] !== undefined && expected[field] !== checkpoint[field]) {
      throw learnError("checkpoint_mismatch", {
        message: "the checkpoint is of something else",
        field,
        expected: expected[field],
        actual: checkpoint[field],
      });
    }
  }
  return checkpoint;
}

function parseHeader(line: Uint8Array): z.infer<typeof headerSchema> {
  try {
    return headerSchema.parse(parseCanonical(line));
  } catch (cause) {
    return bad("the header is not one of ours", {
      actual: cause instanceof z.ZodError ? cause.issues[0] : undefined,
      cause,
    });
  }
}
