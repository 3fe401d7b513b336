import { TracewrightError } from "../lib/core/error.ts";
import type { Digest } from "../lib/core/digest.ts";
import type { VariantDefinition } from "../lib/pipeline/config_variants.ts";
import { admit, type AdmittedGraph } from "../lib/policy/admission.ts";
import { ONNX_LIMITS } from "../lib/policy/onnx_reader.ts";
import type { RecordedAction } from "../lib/store/action_cache.ts";
import { diskLayer } from "../lib/store/file_layer.ts";
import type { Store } from "../lib/store/store.ts";
import { usageError } from "./_usage_error.ts";

/** The graph that a user named, and what it has to be. */
export interface GraphRequest {
  /** The option it was given with, for messages. */
  readonly option: "--checkpoint" | "--estimator";
  /** A file, or at least four digits of a digest in the store. */
  readonly reference: string;
  readonly kind: AdmittedGraph["kind"];
  readonly stateWidth: number;
  /** 0 for an estimator. */
  readonly actionWidth: number;
  readonly hidden: number;
}

/** What a graph must have been trained for, where the store knows how it was made. */
export interface GraphMaker {
  readonly variant: VariantDefinition;
  /** Without it, any seed will do. */
  readonly seed?: number;
}

const PREFIX = /^(?:sha256:)?([0-9a-f]{4,64})$/;

/** At most as many bytes as the strict reader may see, and one more, so that it refuses what is too large. */
function readFile(path: string): Uint8Array | undefined {
  using file = diskLayer.open(path);
  if (file === undefined) return undefined;
  const buffer = new Uint8Array(ONNX_LIMITS.bytes + 1);
  let filled = 0;
  for (let n = -1; n !== 0 && filled < buffer.length; filled += n) n = file.read(buffer.subarray(filled));
  return buffer.subarray(0, filled);
}

function bytesOf({ option, reference }: GraphRequest, store: Store): Uint8Array {
  if (diskLayer.facts(reference) !== undefined) {
    const bytes = readFile(reference);
    if (bytes !== undefined) return bytes;
  }
  const hex = PREFIX.exec(reference)?.[1];
  const found = hex === undefined ? [] : store.blobs.list().filter((one) => one.startsWith(`sha256:${hex}`));
  const [digest, ...others] = found;
  if (digest !== undefined && others.length === 0) return store.blobs.read(digest);
  throw usageError(digest === undefined ? "no_such_checkpoint" : "ambiguous_checkpoint", {
    message: digest === undefined ? "there is no such graph" : "more than one blob begins like this",
    option,
    expected: `a file, or 4 to 64 hexadecimal digits of a digest in ${store.path}`,
    actual: digest === undefined ? reference : found,
    hint: digest === undefined
      ? "`explain ppo/E/17` prints the digest of a policy.onnx; --store names another store"
      : "give more digits",
  });
}

/** Admits a graph; what is wrong with it is said with the option that named it. */
function admitNamed({ option, reference }: GraphRequest, bytes: Uint8Array): AdmittedGraph {
  try {
    return admit(bytes);
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    const hint = "--checkpoint takes a policy.onnx, --estimator an estimator.onnx";
    throw new TracewrightError(error.code, { option, reference, hint, ...error.details, cause: error });
  }
}

/**
 * Reads the graph that a user named and lets it through the gate that stands before every runtime.
 *
 * @throws TracewrightError "no_such_checkpoint", "ambiguous_checkpoint"; "wrong_checkpoint" for another kind or other
 * widths than the config asks for; the codes of `admit` for a file that is no graph of ours
 */
export function loadGraph(request: GraphRequest, store: Store): AdmittedGraph {
  const graph = admitNamed(request, bytesOf(request, store));
  const { kind, stateWidth, actionWidth, network: { hidden } } = graph;
  const actual = { kind, stateWidth, actionWidth, hidden };
  for (const field of ["kind", "stateWidth", "actionWidth", "hidden"] as const) {
    if (actual[field] === request[field]) continue;
    throw usageError("wrong_checkpoint", {
      message: "the graph is not of the form that the config asks for",
      option: request.option,
      field,
      expected: request[field],
      actual: actual[field],
      hint: field === "kind"
        ? "--checkpoint takes a policy.onnx, --estimator an estimator.onnx"
        : "name the config that the graph was trained with: -c FILE",
    });
  }
  return graph;
}

function fits({ action }: RecordedAction, { variant, seed }: GraphMaker): boolean {
  const { params, stage } = action;
  if (seed !== undefined && params["seed"] !== seed) return false;
  if (stage.name === "progress") return true;
  if (stage.name === "bc") return variant.algorithm === "bc";
  return (["algorithm", "action_mask", "progress_reward"] as const).every((field) =>
    params[field] === variant[field]
  );
}

/**
 * Refuses a graph that is known to have been trained for something else. An exact graph does not say what it was
 * trained for; the store that made it does.
 *
 * @param actions all that the store has recorded
 * @throws TracewrightError "wrong_variant"
 */
export function requireMaker(digest: Digest, wanted: GraphMaker, actions: readonly RecordedAction[]): void {
  const makers = actions.filter(({ outputs }) =>
    Object.entries(outputs).some(([name, output]) => name.endsWith(".onnx") && output.digest === digest)
  );
  if (makers.length === 0 || makers.some((maker) => fits(maker, wanted))) return;
  const { variant, seed } = wanted;
  throw usageError("wrong_variant", {
    message: "the checkpoint was trained for something else",
    checkpoint: digest,
    expected: seed === undefined ? variant.name : `${variant.name}, seed ${seed}`,
    actual: makers.map(({ action: { stage, params } }) => ({
      stage: stage.name,
      ...Object.fromEntries(
        ["seed", "algorithm", "action_mask", "progress_reward"].filter((name) => Object.hasOwn(params, name))
          .map((name) => [name, params[name]]),
      ),
    })),
    hint: "name the variant and seed that it was trained for, or another checkpoint",
  });
}
