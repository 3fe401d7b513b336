/**
 * What `onnxruntime-node` and `onnxruntime-web` have in common. Only types are imported here; each runtime loads its
 * own package, and only when a session is opened.
 */
import type { InferenceSession, Tensor } from "onnxruntime-node";
import type { Chunk, GraphEvaluator } from "./_chunked_session.ts";
import { policyError } from "./_error.ts";
import type { AdmittedGraph } from "./admission.ts";
import { ACTION_INPUT, LOGITS_OUTPUT, SEGMENT_INPUT, STATE_INPUT, VALUES_OUTPUT } from "./exact_graph.ts";
import type { PolicyOutput, RuntimeName } from "./runtime.ts";

/** The part of either package that is used. */
export interface OrtPackage {
  readonly InferenceSession: {
    create(bytes: Uint8Array, options: InferenceSession.SessionOptions): Promise<InferenceSession>;
  };
  readonly Tensor: {
    new (type: "float64", data: Float64Array, dims: readonly number[]): Tensor;
    new (type: "int32", data: Int32Array, dims: readonly number[]): Tensor;
  };
}

const OPTIONS: InferenceSession.SessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: "sequential",
  graphOptimizationLevel: "all",
  // errors only: its warnings go straight to the terminal
  logSeverityLevel: 3,
};

function doubles(
  runtime: RuntimeName,
  name: string,
  tensor: Tensor | undefined,
  length: number,
): Float64Array {
  const data = tensor?.data;
  if (data instanceof Float64Array && data.length === length) return data;
  throw policyError("runtime_failed", {
    runtime,
    output: name,
    expected: `${length} doubles`,
    actual: data === undefined ? undefined : `${data.length} of ${tensor?.type}`,
  });
}

/**
 * Opens a graph in ONNX Runtime: one thread, bytes only, never a path.
 *
 * @throws TracewrightError "runtime_failed" where ONNX Runtime refuses or fails
 */
export async function openOrt(
  ort: OrtPackage,
  { graph, runtime, executionProvider }: {
    graph: AdmittedGraph;
    runtime: RuntimeName;
    executionProvider: "cpu" | "wasm";
  },
): Promise<GraphEvaluator> {
  const session = await ort.InferenceSession.create(graph.bytes(), {
    ...OPTIONS,
    executionProviders: [executionProvider],
  }).catch((cause: unknown) => {
    throw policyError("runtime_failed", { message: "the graph could not be loaded", runtime, cause });
  });

  async function evaluate({ state, action, segment, decisions, candidates }: Chunk): Promise<PolicyOutput> {
    const feeds: Record<string, Tensor> = {
      [STATE_INPUT]: new ort.Tensor("float64", state, [decisions, graph.stateWidth]),
    };
    const actor = graph.kind === "actor_critic";
    if (actor) {
      feeds[ACTION_INPUT] = new ort.Tensor("float64", action, [candidates, graph.actionWidth]);
      feeds[SEGMENT_INPUT] = new ort.Tensor("int32", segment, [candidates]);
    }
    const result = await session.run(feeds).catch((cause: unknown) => {
      throw policyError("runtime_failed", { message: "the graph could not be run", runtime, cause });
    });
    const rows = actor ? candidates : decisions;
    return {
      logits: doubles(runtime, LOGITS_OUTPUT, result[LOGITS_OUTPUT], rows),
      values: actor ? doubles(runtime, VALUES_OUTPUT, result[VALUES_OUTPUT], decisions) : new Float64Array(0),
    };
  }

  return { evaluate, release: () => void session.release() };
}
